// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stackbench

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/holtdb/holt/stack/alloc"
)

// Regions is what of an allocator is measured: other programs' allocators can be made to look like it.
type Regions interface {
	Alloc(n int64) (alloc.Region, error)
	Realloc(r alloc.Region, n int64) (alloc.Region, error)
	Free(r alloc.Region) error
}

// Measure carries out a workload on an empty allocator: it makes the live regions and the free blocks, one at a time, calls
// ready, and returns how long the slowest goroutine took from then on, and how many bytes live regions have in the end.
func Measure(
	ctx context.Context, w Workload, a Regions, ready func() error,
) (took time.Duration, live int64, err error) {
	if err := w.Validate(); err != nil {
		return 0, 0, err
	}
	r := &Run{w: w, plans: w.Plans()}
	for _, p := range r.plans {
		live := make([]alloc.Region, len(p.live)) // of the goroutine
		for i, n := range p.live {
			var err error
			if live[i], err = a.Alloc(n); err != nil {
				return 0, 0, err
			}
		}
		r.live = append(r.live, live)
	}
	if err := w.punch(a); err != nil {
		return 0, 0, err
	}
	if err := ready(); err != nil {
		return 0, 0, err
	}
	took, err = r.all(ctx, a, func(int64) {})
	live = int64(w.Free) * keeper
	for _, regions := range r.live {
		for _, region := range regions {
			live += region.Len
		}
	}
	return took, live, err
}

// punch makes free blocks as fillFree does.
func (w Workload) punch(a Regions) error {
	rng := rand.New(rand.NewPCG(Seed, 1<<32))
	free := make([]alloc.Region, w.Free)
	for i := range free {
		var err error
		if free[i], err = a.Alloc(1 + rng.Int64N(w.Max)); err != nil {
			return err
		}
		if _, err := a.Alloc(keeper); err != nil {
			return err
		}
	}
	rng.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	for _, r := range free {
		if err := a.Free(r); err != nil {
			return err
		}
	}
	return nil
}
