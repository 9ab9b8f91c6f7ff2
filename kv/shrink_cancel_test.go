// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// looks is a context that ends when it is looked at for the last of so many times.
type looks struct {
	context.Context
	left atomic.Int64
	end  context.CancelFunc
}

func newLooks(n int) *looks {
	l := &looks{}
	l.Context, l.end = context.WithCancel(context.Background())
	l.left.Store(int64(n))
	return l
}

func (l *looks) look() context.Context {
	if l.left.Add(-1) == 0 {
		l.end()
	}
	return l.Context
}

func (l *looks) Err() error            { return l.look().Err() }
func (l *looks) Done() <-chan struct{} { return l.look().Done() }

// TestShrinkCancelled ends Shrink wherever it looks whether it is to end, under a reader too: it returns what ended it, and
// a report of what there is.
func TestShrinkCancelled(t *testing.T) {
	for _, reading := range []bool{false, true} {
		for n := 1; shrinkCancelled(t, n, reading); n++ {
		}
	}
}

// shrinkCancelled returns false if there were not that many looks.
func shrinkCancelled(t *testing.T, n int, reading bool) bool {
	disk := file.NewMemory()
	w := &world{disk: disk, options: kv.Options{PageSize: 1024, SyncFreelist: true}}
	must(t, w.open())
	for _, s := range []step{puts(0, 600, 1, 60), puts(600, 700, 1, 900), deletes(0, 600, 2), deletes(600, 700, 3)} {
		must(t, s(w))
	}
	if reading {
		must(t, openReader(w))
	}
	text, ctx := content(t, w.db), newLooks(n)
	defer ctx.end()
	r, err := w.db.Shrink(ctx, kv.ShrinkOptions{StepBytes: 30 << 10, ReaderWait: 20 * time.Millisecond, PunchHoles: true})
	switch ended := ctx.Context.Err(); {
	case err == nil && r.Punched == 0 && ended != nil:
		t.Errorf("no error at look %d", n)
	case err != nil:
		wantErr(t, err, ended)
	}
	if info, err := disk.Stat(simPath); err != nil || r.After != info.Size() || r.Used == 0 || r.Used > r.After {
		t.Errorf("look %d: the report is %+v, the file has %d bytes", n, r, info.Size())
	}
	checkClean(t, w.db)
	if content(t, w.db) != text {
		t.Errorf("look %d: something else is in it now", n)
	}
	must(t, w.close())
	return ctx.left.Load() <= 0
}
