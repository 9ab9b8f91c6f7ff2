// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/holtdb/holt/bench/internal/report"
	"github.com/holtdb/holt/bench/internal/rounds"
)

// series are the outcomes of one engine in one measure.
type series struct {
	time, processor report.Series // nanoseconds
	last            outcome
	memory          int64 // the most
}

func seriesOf(outcomes []outcome) (s series) {
	for _, o := range outcomes {
		s.time = append(s.time, float64(o.NS))
		s.processor = append(s.processor, float64(o.processor))
		s.last, s.memory = o, max(s.memory, o.memory)
	}
	return s
}

const about = `Medians of %d rounds, made by ` + "`go run ./content -rounds %d -folders %d -results %s`" + `. The store has
%d nodes and %d properties. Ratios are of time, to the first engine of a measure; p is that of a Mann-Whitney U test.
Processor time is that of all threads of the process.

%s

| measure | engine | time | ratio | p | processor time | |
|---|---|---|---|---|---|---|
`

func (b *bench) write(all rounds.Outcomes[outcome]) error {
	var out strings.Builder
	fmt.Fprintf(&out, about, b.Rounds, b.Rounds, b.folders, b.Results, b.contents.Nodes, b.contents.Properties, report.Machine())
	for _, m := range measures {
		for _, engine := range m.engines {
			if mine := all.Of(m.name, engine); len(mine) > 0 {
				fmt.Fprintln(&out, row(m, engine, seriesOf(mine), seriesOf(all.Of(m.name, m.engines[0]))))
			}
		}
	}
	return report.Write(b.Results, "Results: content stores", out.String())
}

func row(m measure, engine string, mine, first series) string {
	ratio, p := "", ""
	if engine != m.engines[0] {
		ratio = fmt.Sprintf("%.3f", mine.time.Median()/first.time.Median())
		p = fmt.Sprintf("%.3f", first.time.P(mine.time))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |", m.name, engine, report.Duration(mine.time.Median()), ratio, p,
		report.Duration(mine.processor.Median()), strings.Join(mine.notes(m), ", "))
}

// notes are what there is beside times.
func (s series) notes(m measure) (list []string) {
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
