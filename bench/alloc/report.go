// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/holtdb/holt/bench/internal/report"
	"github.com/holtdb/holt/bench/internal/rounds"
)

// times are nanoseconds per operation, by round.
func times(outcomes []outcome) (s report.Series) {
	for _, o := range outcomes {
		s = append(s, o.perOp())
	}
	return s
}

func (b *bench) write(all rounds.Outcomes[outcome]) error {
	var out strings.Builder
	fmt.Fprintf(&out, "Medians of %d rounds, made by `go run ./alloc -rounds %d -results %s`. Ratios are of ",
		b.Rounds, b.Rounds, b.Results)
	fmt.Fprintf(&out, "time, to %s, and to %s for DurableAlloc; p is that of a Mann-Whitney U test.\n\n", reference, referenceGo)
	fmt.Fprintf(&out, "%s\n\n", report.Machine())
	out.WriteString("| scenario | engine | time per operation | ratio | p | payload, bytes |\n|---|---|---|---|---|---|\n")
	for _, s := range scenarios {
		for _, engine := range s.engines {
			if mine := all.Of(s.Name, engine); len(mine) > 0 {
				fmt.Fprintln(&out, row(s, engine, mine, all))
			}
		}
	}
	return report.Write(b.Results, "Results: allocators", out.String())
}

func row(s scenario, engine string, mine []outcome, all rounds.Outcomes[outcome]) string {
	ratio, p := "", ""
	to := reference
	if s.Kind == durableAlloc {
		to = referenceGo
	}
	took := times(mine)
	if theirs := times(all.Of(s.Name, to)); len(theirs) > 0 && engine != to {
		ratio = fmt.Sprintf("%.3f", took.Median()/theirs.Median())
		p = fmt.Sprintf("%.3f", theirs.P(took))
	}
	size := ""
	last := mine[len(mine)-1]
	if last.Length > 0 {
		size = fmt.Sprint(last.Length)
	}
	if last.Live > 0 {
		size += fmt.Sprintf(", %.3f × live", float64(last.Length)/float64(last.Live))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", s.Name, engine, report.Duration(took.Median()), ratio, p, size)
}
