// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/holtdb/holt/bench/internal/report"
)

// write puts the tables into the file of results.
func (b *bench) write() error {
	var out strings.Builder
	how := fmt.Sprintf("-rounds %d -rivals %d", b.Rounds, b.others)
	if b.short {
		how = "-short"
	}
	fmt.Fprintf(&out, "Medians of %d rounds, made by `go run ./kv %s -results %s`. %s%s\n\n", b.Rounds, how, b.Results, legend, missing(b))
	fmt.Fprintf(&out, "%s. %s. Load averages were %s before, and %s after.\n\n",
		report.Machine(), strings.Join(b.versions, ", "), b.since, loadAverage())
	b.againstBbolt(&out)
	b.amongRivals(&out)
	return report.Write(b.Results, "Results: kv on "+report.Processor(), out.String()) // one does not tell of another
}

const legend = "CPU is the processor time of the whole process for an operation, garbage collector and kernel included; " +
	"durable operations have real syncs, on a disk, and are held to the time on the clock. Ratios are to bbolt; p is that " +
	"of a Mann-Whitney U test of both. What is required and aimed at is a bound on the ratio, but for those with " +
	"“≤”, which are bounds on Holt's figure."

func missing(b *bench) string {
	if b.programs.lmdb {
		return ""
	}
	return " LMDB is not built in."
}

// againstBbolt is the table of Holt and bbolt.
func (b *bench) againstBbolt(out *strings.Builder) {
	out.WriteString("## Against bbolt\n\n| workload | measure | bbolt | Holt | ratio | p | required | aim | reached |\n" +
		"|---|---|---:|---:|---:|---:|---:|---:|---|\n")
	var short []string
	for _, w := range workloads {
		for _, engine := range w.engines[1:] {
			for _, bound := range w.bounds {
				theirs, mine := b.of(w, bbolt)[bound.unit], b.of(w, engine)[bound.unit]
				if len(theirs) == 0 || len(mine) == 0 {
					continue
				}
				fmt.Fprintln(out, row(title(w, engine), bound, theirs, mine))
				if bound.given && bound.reached(theirs, mine) == isShort {
					short = append(short, title(w, engine))
				}
			}
		}
	}
	explain(out, short)
}

// explain says of rows that fall short what is known of them.
func explain(out *strings.Builder, short []string) {
	if len(short) == 0 {
		return
	}
	out.WriteString("\n## What falls short, and why\n\n")
	for _, title := range slices.Compact(short) {
		fmt.Fprintf(out, "- %s: %s\n", title, cmp.Or(whyShort[title], "not explained yet."))
	}
}

func (b *bench) of(w workload, engine string) values { return b.all[series{w.suite, w.name, engine}] }

func title(w workload, engine string) string {
	if engine == single {
		return w.name + ", one sync"
	}
	return w.name
}

func row(title string, b bound, theirs, mine report.Series) string {
	ratio, p := "", fmt.Sprintf("%.3f", theirs.P(mine))
	if theirs.Median() > 0 {
		ratio = fmt.Sprintf("%.2f", mine.Median()/theirs.Median())
	}
	required, aim, reached := "", "", ""
	if b.given {
		sign := ""
		if b.absolute {
			sign = "≤ "
		}
		required, aim = fmt.Sprintf("%s%.4g", sign, b.required), fmt.Sprintf("%s%.4g", sign, b.aim)
		reached = b.reached(theirs, mine)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s | %s |", title, measures[b.unit],
		figure(b.unit, theirs), figure(b.unit, mine), ratio, p, required, aim, reached)
}

// isShort is what a table says of a bound that is not kept.
const isShort = "**short**"

// reached says how far a bound is kept.
func (b bound) reached(theirs, mine report.Series) string {
	have := mine.Median()
	if !b.absolute {
		have /= theirs.Median()
	}
	switch {
	case have <= b.aim:
		return "the aim"
	case have <= b.required:
		return "what is required"
	}
	return isShort
}

// measures are the names of units.
var measures = map[string]string{
	cpu: "CPU", wall: "time", allocs: "allocations", space: "file to live bytes", file: "file", peak: "memory, most",
}

func figure(unit string, s report.Series) string {
	switch m := s.Median(); unit {
	case cpu, wall:
		return report.Duration(m * 1e9)
	case file, peak:
		return fmt.Sprintf("%.0f MB", m/1e6)
	case space:
		return fmt.Sprintf("%.2f", m)
	default:
		return fmt.Sprintf("%.4g", m)
	}
}

// amongRivals is the table of all engines.
func (b *bench) amongRivals(out *strings.Builder) {
	engines := []string{bbolt, holt, lmdb, pebble, badger, sqlite}
	fmt.Fprintf(out, "\n## Among others\n\nMedians of %d rounds, all through one interface, in brackets their ratios to bbolt. "+
		"LMDB is called through cgo.\n\n| workload | measure |", min(b.others, b.Rounds))
	for _, e := range engines {
		fmt.Fprintf(out, " %s |", e)
	}
	out.WriteString("\n|---|---|" + strings.Repeat("---:|", len(engines)) + "\n")
	for _, w := range comparisons {
		for _, bound := range w.bounds {
			if theirs := b.of(w, bbolt)[bound.unit]; len(theirs) > 0 {
				fmt.Fprintf(out, "| %s | %s |", w.name, measures[bound.unit])
				for _, e := range engines {
					fmt.Fprintf(out, " %s |", compared(bound.unit, theirs, b.of(w, e)[bound.unit]))
				}
				out.WriteString("\n")
			}
		}
	}
}

func compared(unit string, theirs, mine report.Series) string {
	if len(mine) == 0 {
		return "–"
	}
	return fmt.Sprintf("%s (%.2f)", figure(unit, mine), mine.Median()/theirs.Median())
}

// loadAverage is how much the machine has to do, if the system tells.
func loadAverage() string {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	f := strings.Fields(string(load))
	return strings.Join(f[:min(3, len(f))], " ")
}
