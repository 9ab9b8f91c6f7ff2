// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package stackbench measures allocators of package alloc, with the workloads that bstack's own benchmark has.
//
// A [Workload] names a mix of operations and a distribution of sizes. Everything that is left to chance is drawn before
// the clock starts: each goroutine has a [Plan], the same in every run.
package stackbench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// mix is how many of a hundred operations are what.
type mix struct{ alloc, realloc, free int }

var mixes = map[string]mix{
	"mixed":         {45, 20, 35},
	"alloc-only":    {100, 0, 0},
	"alloc-heavy":   {70, 10, 20},
	"realloc-heavy": {25, 55, 20},
	"churn":         {40, 20, 40},
}

// Mixes and Sizes are the names of all there are.
var (
	Mixes = slices.Sorted(maps.Keys(mixes))
	Sizes = slices.Sorted(maps.Keys(sizes))
)

// Workload says what to do.
type Workload struct {
	Mix     string
	Sizes   string
	Max     int64 // of sizes, in bytes; the gamma distribution has larger ones
	Threads int   // goroutines
	Live    int   // regions allocated before the clock starts, of all goroutines together
	Free    int   // free blocks before the clock starts
	Ops     int   // operations of all goroutines together
}

// Validate reports what cannot be run.
func (w Workload) Validate() error {
	switch {
	case !slices.Contains(Mixes, w.Mix):
		return fmt.Errorf("the mix should be one of %s", strings.Join(Mixes, ", "))
	case !slices.Contains(Sizes, w.Sizes):
		return fmt.Errorf("the sizes should be one of %s", strings.Join(Sizes, ", "))
	case w.Max <= 0 || w.Max > 1<<30:
		return fmt.Errorf("the greatest size (%d) must be between 1 and %d", w.Max, 1<<30)
	case w.Threads <= 0 || w.Threads > 1024:
		return fmt.Errorf("the number of threads (%d) must be between 1 and 1024", w.Threads)
	case w.Live < 0 || w.Free < 0:
		return fmt.Errorf("the numbers of live (%d) and free blocks (%d) must not be negative", w.Live, w.Free)
	case w.Ops <= 0:
		return fmt.Errorf("the number of operations (%d) must be positive", w.Ops)
	}
	return nil
}

// share is the part of n that the i-th goroutine has.
func (w Workload) share(n, i int) int {
	part := n / w.Threads
	if i < n%w.Threads {
		part++
	}
	return part
}
