// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"context"
	"errors"
	"time"
)

const (
	// autoShrinkEvery is how often a database looks whether it is worth to become smaller.
	autoShrinkEvery = 5 * time.Second

	// autoSampleEvery is in how many of these looks the leaves are looked at too.
	autoSampleEvery = 12

	// autoShrinkPart is the part of the file that has to be gained by that: one of so many pages.
	autoShrinkPart = 4

	// autoShrinkLeast is the number of bytes that have to be gained.
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
		<-db.leaving
		stop()
	})
	db.background.Go(func() { db.shrinkAtTimes(ctx, with, every) })
}

// shrinkAtTimes shrinks whenever a good part of the file is to be gained, and more of it than the last time has left.
func (db *DB) shrinkAtTimes(ctx context.Context, o ShrinkOptions, every time.Duration) {
	sparse, left := uint64(0), uint64(0)
	for look := 0; sleep(ctx, every, nil) == nil; look++ {
		if look%autoSampleEvery == 0 {
			sparse = db.sparse()
		}
		now := db.space()
		gain := now.free + sparse
		if gain < left {
			left = gain
		}
		gain -= left
		if gain*autoShrinkPart < now.hwm || int64(gain)*int64(db.pageSize) < autoShrinkLeast {
			continue
		}
		if _, err := db.Shrink(ctx, o); err != nil && ctx.Err() == nil && !errors.Is(err, ErrDatabaseNotOpen) {
			db.logger.Warningf("shrinking %s: %v", db.Path(), err)
		}
		sparse = db.sparse()
		left = db.space().free + sparse
	}
}

// sparse is [Tx.sparse] of the newest state, 0 if that cannot be read.
func (db *DB) sparse() (pages uint64) {
	_ = db.View(func(tx *Tx) error { // refused by Close
		pages = tx.sparse()
		return nil
	})
	return pages
}
