// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"context"
	"time"
)

const (
	// autoShrinkEvery is how often a database looks whether it is worth to become smaller.
	autoShrinkEvery = 5 * time.Second

	// autoShrinkPart is the part of the file that has to be free for that: one of so many pages.
	autoShrinkPart = 4

	// autoShrinkLeast is the number of bytes that have to be free.
	autoShrinkLeast = 1 << 20
)

// startShrinking begins to shrink in the background, if the options say so. Close waits for the goroutine.
func (db *DB) startShrinking(o *Options) {
	if o.AutoShrink == nil || db.readOnly {
		return
	}
	with := *o.AutoShrink
	if with.BytesPerSecond == 0 {
		with.BytesPerSecond = DefaultShrinkRate
	}
	every := o.autoEvery
	if every == 0 {
		every = autoShrinkEvery
	}
	ctx, stop := context.WithCancel(context.Background())
	db.background.Go(func() {
		<-db.quit
		stop()
	})
	db.background.Go(func() { db.shrinkAtTimes(ctx, with, every) })
}

// shrinkAtTimes shrinks whenever a good part of the file is free, and more of it than the last time has left.
func (db *DB) shrinkAtTimes(ctx context.Context, o ShrinkOptions, every time.Duration) {
	for left := uint64(0); sleep(ctx, every) == nil; {
		now := db.space()
		if now.free < left {
			left = now.free
		}
		gain := now.free - left
		if gain*autoShrinkPart < now.hwm || int64(gain)*int64(db.pageSize) < autoShrinkLeast {
			continue
		}
		if _, err := db.Shrink(ctx, o); err != nil && ctx.Err() == nil {
			db.logger.Warningf("shrinking %s: %v", db.Path(), err)
		}
		left = db.space().free
	}
}
