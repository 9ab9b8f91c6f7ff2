// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stackbench

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// batch is how many regions are prepared at once.
const batch = 4096

// keeper is the length of the regions between free blocks, which keep those from being merged.
const keeper = 16

// Run is a workload and a file that is ready for it.
type Run struct {
	w     Workload
	open  Open
	fs    file.FS
	path  string
	plans []Plan
	live  [][]alloc.Region // of each goroutine
}

// Open opens the allocator of a stack, or creates one in an empty stack.
type Open func(s *stack.Stack) (alloc.Allocator, error)

// Prepare makes a file with the free blocks and the live regions of a workload. It syncs nothing.
func Prepare(ctx context.Context, fs file.FS, path string, w Workload, open Open) (*Run, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	r := &Run{w: w, open: open, fs: fs, path: path, plans: w.Plans()}
	s, err := stack.Open(path, &stack.Options{FS: fs, NoSync: true, NoJournal: true})
	if err != nil {
		return nil, err
	}
	return r, errors.Join(r.fill(ctx, s), s.Close())
}

func (r *Run) fill(ctx context.Context, s *stack.Stack) error {
	a, err := r.open(s)
	if err != nil {
		return err
	}
	for _, p := range r.plans { // before there are free blocks, which are to stay
		rs, err := a.AllocBulk(p.live)
		if err != nil {
			return err
		}
		for i := range rs { // the allocator that they will be given to is another one
			rs[i] = alloc.RegionFrom(rs[i].Bytes())
		}
		r.live = append(r.live, rs)
	}
	return r.fillFree(ctx, a)
}

// fillFree makes free blocks of all sizes up to the greatest, each between two small regions that stay.
func (r *Run) fillFree(ctx context.Context, a alloc.Allocator) error {
	rng := rand.New(rand.NewPCG(Seed, 1<<32))
	var free []alloc.Region
	for left := r.w.Free; left > 0; {
		n := min(left, batch)
		lens := make([]int64, 0, 2*n)
		for range n {
			lens = append(lens, 1+rng.Int64N(r.w.Max), keeper)
		}
		rs, err := a.AllocBulk(lens)
		if err != nil {
			return err
		}
		for i := range n {
			free = append(free, rs[2*i])
		}
		left -= n
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	// In no order, as a program would.
	rng.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	for len(free) > 0 {
		n := min(len(free), batch)
		if err := a.FreeBulk(free[:n]); err != nil {
			return err
		}
		free = free[n:]
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
