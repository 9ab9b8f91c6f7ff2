// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package pageset_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/kv/internal/pageset"
)

// TestSharedComplement adds what a shared set does not have to a set that has something already.
func TestSharedComplement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Uint64Range(1, 300).Draw(t, "limit")
		ids := rapid.SliceOf(rapid.Uint64Range(0, limit-1)).Draw(t, "ids")
		shared, has := pageset.NewShared(limit), make(map[uint64]bool)
		for _, id := range ids {
			if added := shared.Add(id); added == has[id] {
				t.Fatalf("adding %d, which is there: %t, returns %t", id, has[id], added)
			}
			has[id] = true
		}
		var set pageset.Set
		set.Grow(400)
		before := rapid.Uint64Range(0, 399).Draw(t, "before")
		set.Add(before)
		first, end := rapid.Uint64Range(0, 400).Draw(t, "first"), rapid.Uint64Range(0, 400).Draw(t, "end")
		set.AddComplement(shared, first, end)
		n := 0
		for id := range uint64(400) {
			if shared.Has(id) != has[id] {
				t.Fatalf("%d is there: %t", id, !has[id])
			}
			want := id == before || first <= id && id < end && !has[id]
			if set.Has(id) != want {
				t.Fatalf("with %v, the complement in [%d, %d) has %d: %t", ids, first, end, id, !want)
			}
			if want {
				n++
			}
		}
		if set.Len() != n {
			t.Fatalf("%d members, want %d", set.Len(), n)
		}
	})
}

// TestSharedTogether has several goroutines add the same ids: each is new to one of them.
func TestSharedTogether(t *testing.T) {
	const limit = 5000
	s := pageset.NewShared(limit)
	var all sync.WaitGroup
	var added atomic.Int64
	for range 4 {
		all.Go(func() {
			for id := range uint64(limit) {
				if s.Add(id) {
					added.Add(1)
				}
			}
		})
	}
	all.Wait()
	if added.Load() != limit {
		t.Errorf("%d ids were new, want %d", added.Load(), limit)
	}
}
