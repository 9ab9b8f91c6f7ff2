// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"math"
	"sync"
	"testing"
)

func TestHeldPages(t *testing.T) {
	const pages = heldChunkLen + 2
	h := newHeldPages(pages)
	type link struct {
		branch uint64
		i      int
		child  uint64
	}
	links := []link{
		{2, 0, 3},
		{2, 1, heldChunkLen - 1},
		{3, 0xFFFE, heldChunkLen},
		{heldChunkLen, 7, pages - 1},
		{1<<48 - 1, 7, 4},
	}
	for n, added := range links {
		if h.has(added.branch, added.i, added.child) {
			t.Errorf("%v is there before it was added", added)
		}
		h.add(added.branch, added.i, added.child)
		for m, l := range links {
			if has := h.has(l.branch, l.i, l.child); has != (m <= n) {
				t.Errorf("%v: %t, with %v", l, has, links[:n+1])
			}
		}
	}
	for _, other := range []link{{2, 1, 3}, {3, 0, 3}, {2, 0, 4}, {2, 0, 5}, {2, 0, 1 << 20}, {2, 0, math.MaxUint64}} {
		if h.has(other.branch, other.i, other.child) {
			t.Errorf("%v was not added", other)
		}
	}
	if heldPages(nil).has(2, 0, 3) {
		t.Error("without room for any, one is there")
	}
}

// TestHeldPagesTogether has several goroutines be the first.
func TestHeldPagesTogether(t *testing.T) {
	h := newHeldPages(100)
	var all sync.WaitGroup
	for n := range uint64(4) {
		all.Go(func() {
			for child := 2 + n; child < 100; child += 4 {
				h.add(1, int(child), child)
			}
		})
	}
	all.Wait()
	for child := range uint64(98) {
		if !h.has(1, int(child)+2, child+2) {
			t.Errorf("page %d is forgotten", child+2)
		}
	}
}
