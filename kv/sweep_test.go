// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"slices"
	"sync"
	"testing"
)

// sweepTree sweeps over pages of which each leads to the next two of a permutation, and returns them as they were visited.
func sweepTree(workers int, order []uint64, limit uint64) (visited []uint64) {
	at := make(map[uint64]int, len(order))
	for i, id := range order {
		at[id] = i
	}
	var s sweep
	s.begin(workers, order[0], limit)
	var mu sync.Mutex
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			var found []uint64
			for ids := s.next(nil, nil); len(ids) > 0; ids = s.next(found, ids) {
				found = found[:0]
				mu.Lock()
				visited = append(visited, ids...)
				mu.Unlock()
				for _, id := range ids {
					child := 2*at[id] + 1
					found = append(found, order[min(child, len(order)):min(child+2, len(order))]...)
				}
			}
		})
	}
	all.Wait()
	return visited
}

// TestSweepInOrder demands of one goroutine that it goes on behind what it visited last, and turns back at the end.
func TestSweepInOrder(t *testing.T) {
	got := sweepTree(1, []uint64{50, 10, 60, 70, 20, 5, 80}, 100)
	if want := []uint64{50, 60, 10, 20, 70, 80, 5}; !slices.Equal(got, want) {
		t.Errorf("visited %d, want %d", got, want)
	}
}

// TestSweepTogether has several goroutines visit each page once and then end.
func TestSweepTogether(t *testing.T) {
	const pages = 20_000
	order := make([]uint64, pages)
	for i := range order {
		order[i] = uint64(i * 7919 % pages)
	}
	for _, workers := range []int{1, 2, 5} {
		got := sweepTree(workers, order, pages)
		slices.Sort(got)
		for i, id := range got {
			if uint64(i) != id || len(got) != pages {
				t.Fatalf("%d goroutines visited %d pages, page %d in place %d", workers, len(got), id, i)
			}
		}
	}
}

// TestSweepStops demands that nothing is handed out after stop, though there is something left.
func TestSweepStops(t *testing.T) {
	var s sweep
	s.begin(2, 3, 10)
	waiting := make(chan []uint64)
	if ids := s.next(nil, nil); !slices.Equal(ids, []uint64{3}) {
		t.Fatalf("the first page is %d", ids)
	}
	go func() { waiting <- s.next(nil, nil) }()
	s.stop()
	if ids := <-waiting; ids != nil {
		t.Errorf("%d handed out to who waited", ids)
	}
	if ids := s.next([]uint64{4, 5}, nil); ids != nil {
		t.Errorf("%d handed out after stop", ids)
	}
}
