// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"sync"

	"github.com/holtdb/holt/kv/internal/pageset"
)

// sweep hands out the pages that are to be visited to a number of goroutines, in the order of the file: up to its end, and
// again from its start as long as visited pages have led to others. What is side by side in the file is so in the tables
// of the kernel and on the disk too.
type sweep struct {
	mu      sync.Mutex
	changed sync.Cond
	todo    pageset.Set
	at      uint64 // where the next page is looked for
	workers int
	busy    int // that may still find pages
	stopped bool
}

// sweepStep is the largest number of pages that a goroutine is given at once.
const sweepStep = 512

// begin prepares for n goroutines and for page ids below limit, of which the first is one.
func (s *sweep) begin(n int, first, limit uint64) {
	s.changed.L = &s.mu
	s.todo.Grow(limit)
	s.todo.Add(first)
	s.workers, s.busy = n, n
}

// next adds the pages found and returns some to visit, in memory that it may take from ids. There are none any more when
// nobody is left who could find some.
func (s *sweep) next(found, ids []uint64) []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range found {
		s.todo.Add(id)
	}
	s.busy--
	for s.todo.Len() == 0 && s.busy > 0 && !s.stopped {
		s.changed.Wait()
	}
	if s.todo.Len() == 0 || s.stopped {
		s.changed.Broadcast()
		return nil
	}
	s.busy++
	n := min(s.todo.Len()/s.workers+1, s.todo.Len(), sweepStep)
	if s.todo.Len() > n {
		s.changed.Broadcast()
	}
	ids = ids[:0]
	for range n {
		id, ok := s.todo.Next(s.at)
		if !ok {
			id, _ = s.todo.Next(0)
		}
		s.todo.Remove(id)
		ids, s.at = append(ids, id), id+1
	}
	return ids
}

// stop has nobody be given another page.
func (s *sweep) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	s.changed.Broadcast()
}
