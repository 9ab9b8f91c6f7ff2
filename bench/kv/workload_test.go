// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/bench/internal/report"
)

// TestWorkloadsAreBenchmarks looks for each of them in the source of its suite.
func TestWorkloadsAreBenchmarks(t *testing.T) {
	folders := map[string]string{ours: "..", rivals: "../rivals"}
	for _, w := range slices.Concat(workloads, comparisons) {
		name, _, _ := strings.Cut(w.name, "/")
		if !contains(t, folders[w.suite], "func Benchmark"+name+`\(`) {
			t.Errorf("%s is no benchmark of %s", w.name, w.suite)
		}
	}
}

func contains(t *testing.T, dir, pattern string) bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || paths == nil {
		t.Fatal(dir, err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile(pattern).Match(source) {
			return true
		}
	}
	return false
}

func TestPattern(t *testing.T) {
	const want = "^BenchmarkPutBigFreelist$/^list=array$/^engine=holt$"
	if have := (workload{name: "PutBigFreelist/list=array"}).pattern(holt); have != want {
		t.Errorf("%s instead of %s", have, want)
	}
}

func TestReached(t *testing.T) {
	theirs := report.Series{10, 10, 10}
	for _, c := range []struct {
		bound bound
		mine  float64
		want  string
	}{
		{atMost(cpu, 0.5, 0.2), 2, "the aim"},
		{atMost(cpu, 0.5, 0.2), 5, "what is required"},
		{atMost(cpu, 0.5, 0.2), 5.1, "**short**"},
		{atMostAbsolute(allocs, 1, 0), 0, "the aim"},
		{atMostAbsolute(allocs, 1, 0), 1, "what is required"},
		{atMostAbsolute(allocs, 1, 0), 2, "**short**"},
	} {
		if have := c.bound.reached(theirs, report.Series{c.mine}); have != c.want {
			t.Errorf("%v of 10 against %+v is %q instead of %q", c.mine, c.bound, have, c.want)
		}
	}
}

func TestExplains(t *testing.T) {
	var titles []string
	for _, w := range workloads {
		for _, engine := range w.engines[1:] {
			titles = append(titles, title(w, engine))
		}
	}
	for title := range whyShort {
		if !slices.Contains(titles, title) {
			t.Errorf("%s is explained, and no row", title)
		}
	}
	var out strings.Builder
	explain(&out, nil)
	if out.Len() > 0 {
		t.Errorf("explained though nothing is short: %s", &out)
	}
	explain(&out, []string{"PutDurable", "PutDurable", "Get"})
	if have := out.String(); strings.Count(have, "\n- ") != 2 || !strings.Contains(have, "- PutDurable: "+whyShort["PutDurable"]) {
		t.Errorf("explained: %s", have)
	}
}
