// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/holtdb/holt/bench/internal/report"
)

// series are the outcomes of one engine in one measure.
type series struct {
	time, processor report.Series // nanoseconds
	last            outcome
	memory          int64 // the most
}

func (s *series) add(o outcome) {
	s.time = append(s.time, float64(o.NS))
	s.processor = append(s.processor, float64(o.processor))
	s.last, s.memory = o, max(s.memory, o.memory)
}

const about = `Medians of %d rounds, made by ` + "`go run ./content -rounds %d -folders %d -results %s`" + `. The store has
%d nodes and %d properties. Ratios are of time, to the first engine of a measure; p is that of a Mann-Whitney U test.
Processor time is that of all threads of the process.

%s

| measure | engine | time | ratio | p | processor time | |
|---|---|---|---|---|---|---|
`

func (b *bench) write() error {
	var out strings.Builder
	fmt.Fprintf(&out, about, b.rounds, b.rounds, b.folders, b.results, b.contents.Nodes, b.contents.Properties, report.Machine())
	for _, m := range measures {
		for _, engine := range m.engines {
			if mine := b.all[m.name+"/engine="+engine]; mine != nil {
				fmt.Fprintln(&out, row(m, engine, mine, b.all[m.name+"/engine="+m.engines[0]]))
			}
		}
	}
	return report.Write(b.results, "Results: content stores", out.String())
}

func row(m measure, engine string, mine, first *series) string {
	ratio, p := "", ""
	if mine != first {
		ratio = fmt.Sprintf("%.3f", mine.time.Median()/first.time.Median())
		p = fmt.Sprintf("%.3f", first.time.P(mine.time))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |", m.name, engine, report.Duration(mine.time.Median()), ratio, p,
		report.Duration(mine.processor.Median()), strings.Join(mine.notes(m), ", "))
}

// notes are what there is beside times.
func (s *series) notes(m measure) (list []string) {
	if s.last.Properties > 0 {
		list = append(list, fmt.Sprintf("%.2f million nodes and properties a second", s.last.rate(s.time.Median())/1e6))
	}
	if m.name == "TraverseOnce" {
		list = append(list, fmt.Sprintf("%d bytes allocated, %.1f MB of memory beside files", s.last.Alloc, float64(s.memory)/1e6))
	}
	if s.last.size > 0 {
		list = append(list, fmt.Sprintf("%d bytes written", s.last.size))
	}
	return list
}
