// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stackbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// Result is what a run took.
type Result struct {
	Ops      int
	Duration time.Duration // of the slowest goroutine
	Counts   file.Counts   // of the calls to the file system, up to the last one of the operations' making
	Before   alloc.Stats
	After    alloc.Stats
}

// Do opens the file and carries out the workload. durable tells whether each operation is to be, without syncs and journal otherwise; progress is
// called with numbers of operations done, from several goroutines. The file is checked afterwards.
func (r *Run) Do(ctx context.Context, durable bool, progress func(n int64)) (res Result, err error) {
	counter := file.NewCounter(r.fs)
	s, err := stack.Open(r.path, &stack.Options{FS: counter, NoSync: !durable, NoJournal: !durable})
	if err != nil {
		return res, err
	}
	a, err := r.open(s)
	if err == nil {
		res.Before, err = a.Stats()
	}
	if err == nil {
		before := counter.Counts()
		res.Duration, err = r.all(ctx, a, progress)
		err = errors.Join(err, s.Close()) // the last change of all is not complete before that
		res.Ops, res.Counts = r.w.Ops, counter.Counts().Minus(before)
	} else {
		err = errors.Join(err, s.Close())
	}
	if err != nil {
		return res, err
	}
	res.After, err = r.check()
	return res, err
}

// all starts the goroutines together, and returns the time of the slowest.
func (r *Run) all(ctx context.Context, a Regions, progress func(n int64)) (time.Duration, error) {
	var (
		wg    sync.WaitGroup
		begin = make(chan time.Time)
		took  = make([]time.Duration, r.w.Threads)
		errs  = make([]error, r.w.Threads)
	)
	for i := range r.w.Threads {
		wg.Go(func() {
			start := <-begin
			errs[i] = r.one(ctx, a, i, progress)
			took[i] = time.Since(start)
		})
	}
	start := time.Now()
	for range r.w.Threads {
		begin <- start
	}
	wg.Wait()
	return slices.Max(took), errors.Join(errs...)
}

// one is what one goroutine does.
func (r *Run) one(ctx context.Context, a Regions, i int, progress func(n int64)) (err error) {
	const step = 64 // operations between two looks up
	live := slices.Grow(slices.Clone(r.live[i]), len(r.plans[i].ops))
	for n, o := range r.plans[i].ops {
		if n%step == step-1 {
			if err := ctx.Err(); err != nil {
				return err
			}
			progress(step)
		}
		if live, err = o.do(a, live); err != nil {
			return fmt.Errorf("operation %d of goroutine %d: %w", n, i, err)
		}
	}
	r.live[i] = live
	return nil
}

// do carries out an operation and returns the regions that are live then.
func (o op) do(a Regions, live []alloc.Region) (_ []alloc.Region, err error) {
	switch o.kind {
	case opAlloc:
		var region alloc.Region
		region, err = a.Alloc(o.size)
		live = append(live, region)
	case opRealloc:
		live[o.region], err = a.Realloc(live[o.region], o.size)
	case opFree:
		err = a.Free(live[o.region])
		last := len(live) - 1
		live[o.region] = live[last]
		live = live[:last]
	}
	return live, err
}

// check opens the file again and returns the first thing that is wrong with it.
func (r *Run) check() (stats alloc.Stats, err error) {
	s, err := stack.Open(r.path, &stack.Options{FS: r.fs, ReadOnly: true})
	if err != nil {
		return stats, err
	}
	a, err := r.open(s)
	if err == nil {
		for finding := range a.Check() {
			err = finding
			break
		}
	}
	if err == nil {
		stats, err = a.Stats()
	}
	return stats, errors.Join(err, s.Close())
}
