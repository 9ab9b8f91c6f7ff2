// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package cputime measures the processor time that a benchmark takes.
package cputime

import "testing"

// Measure is to be called right before a loop, and what it returns right after: it reports the processor time of the
// whole program per operation, that of the garbage collector included.
func Measure(b *testing.B) (stop func()) {
	b.ReportAllocs()
	b.ResetTimer() // as Loop does, which RunParallel does not
	start, ok := used()
	return func() {
		if end, _ := used(); ok {
			b.ReportMetric(float64((end-start).Nanoseconds())/float64(b.N), "cpu-ns/op")
		}
	}
}
