// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/internal/invariant"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// No operation takes more than two syncs until it is acknowledged, nor more than four altogether, however much it does.
func TestSyncs(t *testing.T) {
	forEach(t, func(t *testing.T, k *kind) {
		most := 0
		for v := range verbs {
			for seed := range uint64(times(10, 100)) {
				most = max(most, syncsOf(t, k, seed, v))
			}
		}
		if most < 1 || most > 4 {
			t.Errorf("up to %d syncs", most)
		}
	})
}

// syncsOf is how many syncs an operation takes.
func syncsOf(t *testing.T, k *kind, seed uint64, v verb) int {
	t.Helper()
	base, live := prepared(t, k, seed)
	fs, gate := file.NewGate(base)
	w := newWorld(k, fs)
	w.live = live
	check(t, w.open())
	check(t, write(w.a, w.live[0].r, w.live[0].data[:1], 0)) // a handle that has synced nothing may need one more
	rest(t, w.a.Stack())
	was := base.Counts().DataSyncs
	o := everything.opOf(newDice(seed), v)
	gate.Shut(2)
	done := make(chan error)
	go func() { done <- w.do(t, o) }()
	select {
	case err := <-done:
		check(t, err)
	case <-time.After(time.Minute):
		t.Errorf("seed %d: %v waits for a third sync", seed, o)
		gate.Open()
		check(t, <-done)
	}
	gate.Open()
	check(t, w.close())
	return base.Counts().DataSyncs - was
}

// In the long run nothing takes heap memory.
func TestAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("self-checks and the race detector take memory")
	}
	forEach(t, func(t *testing.T, k *kind) {
		s, err := stack.Open(filepath.Join(t.TempDir(), name), &stack.Options{NoSync: true})
		check(t, err)
		a, err := k.open(s)
		check(t, err)
		var rs [40]alloc.Region
		for i := range rs {
			rs[i], err = a.Alloc(100)
			check(t, err)
		}
		for i := 1; i < 30; i += 2 { // some free blocks to look through
			check(t, a.Free(rs[i]))
		}
		r, p := rs[39], make([]byte, 100)
		view := a.View(r)
		for _, c := range []struct {
			name string
			run  func()
		}{
			{"ReadAt", func() { _, err = view.ReadAt(p, 0) }},
			{"WriteAt", func() { _, err = view.WriteAt(p, 0) }},
			{"Alloc and Free", func() {
				var got alloc.Region
				if got, err = a.Alloc(90); err == nil {
					err = a.Free(got)
				}
			}},
			{"Alloc and Free at the end", func() {
				var got alloc.Region
				if got, err = a.Alloc(1000); err == nil {
					err = a.Free(got)
				}
			}},
			{"Realloc in place", func() {
				if r, err = a.Realloc(r, 100-r.Len%2); err == nil {
					r, err = a.Realloc(r, 100)
				}
			}},
			{"nothing", func() {
				_, err = a.Alloc(0)
			}},
		} {
			if n := testing.AllocsPerRun(200, c.run); n > 0 {
				t.Errorf("%s: %v allocations", c.name, n)
			}
			check(t, err)
		}
		check(t, s.Close())
	})
}

// Blocks that were freed are used again, whatever the order, and free neighbours become one.
func TestReuse(t *testing.T) {
	forEach(t, func(t *testing.T, k *kind) {
		if !k.reuses {
			t.Skip("it does not")
		}
		for seed := range uint64(times(5, 50)) {
			d := newDice(seed)
			w := newWorld(k, newDisk())
			check(t, w.open())
			for range 50 {
				check(t, w.do(t, op{verb: doAlloc, n: 50}))
			}
			length := w.a.Stack().Len()
			for len(w.live) > 1 { // the last stays, so that nothing can be cut off
				check(t, w.do(t, op{verb: doFree, pick: d.draw("which", len(w.live)-1)}))
			}
			w.verify(t)
			stats, err := w.a.Stats()
			check(t, err)
			if k.merges && stats.FreeBlocks != 1 {
				t.Errorf("seed %d: %d free blocks", seed, stats.FreeBlocks)
			}
			for range 49 {
				check(t, w.do(t, op{verb: doAlloc, n: 50}))
			}
			if n := w.a.Stack().Len(); n != length {
				t.Errorf("seed %d: %d bytes, %d before", seed, n, length)
			}
			w.verify(t)
			check(t, w.close())
		}
	})
}

// Regions are resized where they are if there is room.
func TestResizeInPlace(t *testing.T) {
	forEach(t, func(t *testing.T, k *kind) {
		for _, c := range []struct {
			name  string
			can   bool
			pick  int
			after int64
		}{
			{"shrinking one between others", k.shrinks, 1, -70},
			{"shrinking the last", true, 5, -70},
			{"growing over free bytes", k.extends, 2, 64},
			{"growing the last", true, 5, 200},
			{"growing over a live one", false, 0, 200},
		} {
			h := newHouse(t, k)
			old := h.live[c.pick].r
			r, err := h.a.Resize(old, 0, c.after)
			switch {
			case c.can && err != nil:
				t.Errorf("%s: %v", c.name, err)
			case !c.can && c.after > 0:
				refused(t, fmt.Sprint(c.name, r), err, alloc.ErrUnsupported)
			}
			check(t, h.close())
		}
	})
}

func TestOpen(t *testing.T) {
	forEach(t, func(t *testing.T, k *kind) {
		disk := newDisk()
		w := newWorld(k, disk)
		check(t, w.open())
		if got := alloc.Name(w.a); got != k.name {
			t.Errorf("its name is %q", got)
		}
		check(t, w.do(t, op{verb: doAlloc, n: 1000}))
		check(t, w.close())
		s, err := openStack(disk)
		check(t, err)
		a, err := alloc.Open(s)
		if k.name == "linear" {
			refused(t, "Open", err, alloc.ErrFormat)
		} else {
			check(t, err)
			w.a, w.live = a, anybodys(w.live)
			w.verify(t)
			if got := alloc.Name(a); got != k.name {
				t.Errorf("its name is %q", got)
			}
		}
		check(t, s.Close())
	})
}

// What has no allocator's header is not opened.
func TestOpenOfOthers(t *testing.T) {
	for what, payload := range map[string][]byte{
		"empty": nil, "short": []byte("ALGT"), "text": text(1000, 1), "zeros": make([]byte, 500),
		"of another version": append(make([]byte, 32), "ALGT\x00\x02\x00\x00"...),
	} {
		s, err := openStack(newDisk())
		check(t, err)
		_, err = s.Push(payload)
		check(t, err)
		_, err = alloc.Open(s)
		refused(t, what, err, alloc.ErrFormat)
		check(t, s.Close())
	}
}
