// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package report sums up measurements, and writes them into a file that has those of several programs.
package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

// A Series is what was measured, round by round.
type Series []float64

// Median is zero of nothing.
func (s Series) Median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// P is that of a Mann-Whitney U test of two series.
func (s Series) P(other Series) float64 {
	return benchmath.AssumeNothing.Compare(s.sample(), other.sample()).P
}

func (s Series) sample() *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(s), &benchmath.DefaultThresholds)
}

// Duration is nanoseconds to be read.
func Duration(ns float64) string {
	switch {
	case ns >= 1e9:
		return fmt.Sprintf("%.2f s", ns/1e9)
	case ns >= 1e6:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	case ns >= 1e3:
		return fmt.Sprintf("%.2f µs", ns/1e3)
	}
	return fmt.Sprintf("%.0f ns", ns)
}

// Machine is what the program runs on.
func Machine() string {
	return fmt.Sprintf("%s/%s, %d processors, %s; %s",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), Processor())
}

// Processor is the model of the processor, if the system tells.
func Processor() string {
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

// Write puts a chapter into a file in Markdown, in the place of the one of that title if there is one.
func Write(path, title, text string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, []byte(replace(string(old), title, text)), 0o644)
}

func replace(file, title, text string) string {
	const mark = "# "
	chapter := mark + title + "\n\n" + strings.TrimSpace(text) + "\n"
	var chapters []string
	found := false
	for c := range strings.SplitSeq("\n"+file, "\n"+mark) {
		switch head, _, _ := strings.Cut(c, "\n"); {
		case strings.TrimSpace(c) == "":
		case head == title:
			chapters, found = append(chapters, chapter), true
		default:
			chapters = append(chapters, mark+strings.TrimSpace(c)+"\n")
		}
	}
	if !found {
		chapters = append(chapters, chapter)
	}
	return strings.Join(chapters, "\n")
}
