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
	a := &autoShrinker{db: db, o: with}
	db.background.Go(func() { a.run(ctx, every) })
}

// autoShrinker makes a database smaller in the background.
type autoShrinker struct {
	db     *DB
	o      ShrinkOptions
	sparse uint64 // pages to be gained from sparse leaves
	left   uint64 // pages to be gained that the last time has left
	reader uint64 // the oldest state that a reader kept then, 0 if none did
	uncut  bool   // whether there were bytes to be cut off that readers kept
}

// run looks again and again until ctx ends.
func (a *autoShrinker) run(ctx context.Context, every time.Duration) {
	for look := 0; sleep(ctx, every, nil) == nil; look++ {
		if look%autoSampleEvery == 0 {
			a.sparse = a.db.sparse()
		}
		if err := a.look(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, ErrDatabaseNotOpen) {
			a.db.logger.Warningf("shrinking %s: %v", a.db.Path(), err)
		}
	}
}

// look shrinks if a good part of the file is to be gained, and more of it than the last time has left; what that left
// because of readers counts when they have ended.
func (a *autoShrinker) look(ctx context.Context) error {
	db := a.db
	gain := a.gain()
	if a.reader != 0 && db.oldest() > a.reader {
		a.reader, a.left = 0, 0
	}
	a.left = min(a.left, gain)
	gain -= a.left
	switch {
	case gain*autoShrinkPart >= db.space().hwm && int64(gain)*int64(db.pageSize) >= autoShrinkLeast:
		report, err := db.Shrink(ctx, a.o)
		a.uncut = report.After > int64(db.space().hwm)*int64(db.pageSize)
		a.sparse = db.sparse()
		a.left = a.gain()
		if a.reader = 0; report.Held > 0 || a.uncut {
			a.reader = db.oldest()
		}
		return err
	case a.uncut && db.oldest() >= db.lowered.Load():
		a.uncut = false
		_, err := db.cut(ctx, 1)
		return err
	}
	return nil
}

// gain is the number of pages by which the file could become shorter now: not by those that open readers keep.
func (a *autoShrinker) gain() uint64 {
	now := a.db.space()
	kept, _ := a.db.kept()
	return now.free - min(uint64(kept), now.free) + a.sparse
}

// sparse is [Tx.sparse] of the newest state, 0 if that cannot be read.
func (db *DB) sparse() (pages uint64) {
	_ = db.View(func(tx *Tx) error { // refused by Close
		pages = tx.sparse()
		return nil
	})
	return pages
}
