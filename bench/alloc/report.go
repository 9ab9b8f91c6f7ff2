// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

// series are the outcomes of one engine in one scenario.
type series struct {
	perOp  []float64 // nanoseconds
	length int64     // of the last
	live   int64
}

func (s *series) add(o outcome) {
	s.perOp = append(s.perOp, float64(o.NS)/float64(max(o.Ops, 1)))
	s.length, s.live = o.Length, o.Live
}

func (s *series) sample() *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(s.perOp), &benchmath.DefaultThresholds)
}

func (s *series) median() float64 {
	sorted := slices.Sorted(slices.Values(s.perOp))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func writeResults(path string, b *bench, all map[string]*series) error {
	var out strings.Builder
	fmt.Fprintf(&out, "# Results: allocators\n\nMedians of %d rounds, made by `go run ./alloc -rounds %d -results %s`. Ratios are of ",
		b.rounds, b.rounds, path)
	fmt.Fprintf(&out, "time, to %s, and to %s for DurableAlloc; p is that of a Mann-Whitney U test.\n\n", reference, referenceGo)
	fmt.Fprintf(&out, "%s/%s, %d processors, %s; %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), machine())
	out.WriteString("| scenario | engine | time per operation | ratio | p | payload, bytes |\n|---|---|---|---|---|---|\n")
	for _, s := range scenarios {
		for _, engine := range s.engines {
			if mine := all[s.Name+"/engine="+engine]; mine != nil {
				fmt.Fprintln(&out, row(s, engine, mine, all))
			}
		}
	}
	return os.WriteFile(path, []byte(out.String()), 0o644)
}

func row(s scenario, engine string, mine *series, all map[string]*series) string {
	ratio, p := "", ""
	to := reference
	if s.Kind == durableAlloc {
		to = referenceGo
	}
	if theirs := all[s.Name+"/engine="+to]; theirs != nil && engine != to {
		ratio = fmt.Sprintf("%.3f", mine.median()/theirs.median())
		p = fmt.Sprintf("%.3f", benchmath.AssumeNothing.Compare(theirs.sample(), mine.sample()).P)
	}
	size := ""
	if mine.length > 0 {
		size = fmt.Sprint(mine.length)
	}
	if mine.live > 0 {
		size += fmt.Sprintf(", %.3f × live", float64(mine.length)/float64(mine.live))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", s.Name, engine, duration(mine.median()), ratio, p, size)
}

func duration(ns float64) string {
	switch {
	case ns >= 1e6:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	case ns >= 1e3:
		return fmt.Sprintf("%.2f µs", ns/1e3)
	}
	return fmt.Sprintf("%.0f ns", ns)
}

// machine is the model of the processor, if the system tells.
func machine() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
