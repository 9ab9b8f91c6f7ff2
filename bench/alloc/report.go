// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/holtdb/holt/bench/internal/report"
)

// series are the outcomes of one engine in one scenario.
type series struct {
	perOp  report.Series // nanoseconds
	length int64         // of the last
	live   int64
}

func (s *series) add(o outcome) {
	s.perOp = append(s.perOp, float64(o.NS)/float64(max(o.Ops, 1)))
	s.length, s.live = o.Length, o.Live
}

func writeResults(path string, b *bench, all map[string]*series) error {
	var out strings.Builder
	fmt.Fprintf(&out, "Medians of %d rounds, made by `go run ./alloc -rounds %d -results %s`. Ratios are of ",
		b.rounds, b.rounds, path)
	fmt.Fprintf(&out, "time, to %s, and to %s for DurableAlloc; p is that of a Mann-Whitney U test.\n\n", reference, referenceGo)
	fmt.Fprintf(&out, "%s\n\n", report.Machine())
	out.WriteString("| scenario | engine | time per operation | ratio | p | payload, bytes |\n|---|---|---|---|---|---|\n")
	for _, s := range scenarios {
		for _, engine := range s.engines {
			if mine := all[s.Name+"/engine="+engine]; mine != nil {
				fmt.Fprintln(&out, row(s, engine, mine, all))
			}
		}
	}
	return report.Write(path, "Results: allocators", out.String())
}

func row(s scenario, engine string, mine *series, all map[string]*series) string {
	ratio, p := "", ""
	to := reference
	if s.Kind == durableAlloc {
		to = referenceGo
	}
	if theirs := all[s.Name+"/engine="+to]; theirs != nil && engine != to {
		ratio = fmt.Sprintf("%.3f", mine.perOp.Median()/theirs.perOp.Median())
		p = fmt.Sprintf("%.3f", theirs.perOp.P(mine.perOp))
	}
	size := ""
	if mine.length > 0 {
		size = fmt.Sprint(mine.length)
	}
	if mine.live > 0 {
		size += fmt.Sprintf(", %.3f × live", float64(mine.length)/float64(mine.live))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", s.Name, engine, report.Duration(mine.perOp.Median()), ratio, p, size)
}
