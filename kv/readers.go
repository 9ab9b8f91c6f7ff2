// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"slices"
	"sync"
	"sync/atomic"
)

// readers knows what the open read transactions see. They begin and end without a lock, and without a word in memory that
// two CPUs write to: each takes a place of its own, mostly the one that its CPU used last, and leaves the snapshot there.
//
// A reader begins in two steps: it announces the snapshot that is current, then looks whether it still is; if not, again
// with the one that is current now. A writer makes a new snapshot current first and looks at the places afterwards. So it
// finds every reader of an older snapshot that got through its second step: that was before the new one was current, and
// the announcement before that. What it finds besides, of a reader that has yet to look or is about to go, does no harm:
// pages are kept, and mappings, which that reader then releases.
type readers struct {
	idle sync.Pool // places by the CPU that used them last; it may lose them, or have one that was taken from all
	all  atomic.Pointer[[]*reader]
	mu   sync.Mutex // held to add to all
}

// reader is a place for one read transaction at a time. Places are never given up: there are as many as there were ever
// read transactions open at once.
type reader struct {
	n       atomic.Uint64 // of the snapshot that it sees, 0 if the place is free
	begun   tally         // transactions so far
	cursors tally         // that they made

	// Of who has the place: transactions to be, and how many of them have been. None is used twice, as users keep them.
	chunk   *[txChunk]Tx
	used    int
	managed bool // View, which ends it, has it run a function

	_ [128 - 6*8]byte // CPUs fetch two lines of 64 bytes together
}

// txChunk is the number of transactions that are allocated at once: one that is kept keeps the others. Of 48 bytes each
// they take a KiB, with the word that an allocator adds.
const txChunk = 21

// announce takes a place and leaves s there.
func (r *readers) announce(s *snapshot) *reader {
	for {
		at, ok := r.idle.Get().(*reader)
		if !ok {
			return r.find(s)
		}
		if at.n.CompareAndSwap(0, s.n) {
			return at
		}
	}
}

// find takes a place that idle has lost, or a new one.
func (r *readers) find(s *snapshot) *reader {
	for _, at := range r.places() {
		if at.n.Load() == 0 && at.n.CompareAndSwap(0, s.n) {
			return at
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := new(reader)
	at.n.Store(s.n)
	all := append(r.places(), at) // those who have the shorter one do not see what is behind its end
	r.all.Store(&all)
	return at
}

// leave gives a place back.
func (r *readers) leave(at *reader) {
	at.n.Store(0)
	r.idle.Put(at)
}

func (r *readers) places() []*reader {
	if all := r.all.Load(); all != nil {
		return *all
	}
	return nil
}

// appendTo adds the numbers of the snapshots that have readers, ascending.
func (r *readers) appendTo(seen []uint64) []uint64 {
	for _, at := range r.places() {
		if n := at.n.Load(); n != 0 {
			seen = append(seen, n)
		}
	}
	slices.Sort(seen)
	return slices.Compact(seen)
}

// open is the number of open read transactions.
func (r *readers) open() (n int) {
	for _, at := range r.places() {
		if at.n.Load() != 0 {
			n++
		}
	}
	return n
}

// use says whether one of them reads through m, which is retired.
func (r *readers) use(m *mapping) bool {
	return slices.ContainsFunc(r.places(), func(at *reader) bool {
		n := at.n.Load()
		return m.first <= n && n < m.end
	})
}

// counts are the numbers of all transactions there were, and of their cursors.
func (r *readers) counts() (begun, cursors tally) {
	for _, at := range r.places() {
		begun += at.begun.load()
		cursors += at.cursors.load()
	}
	return begun, cursors
}

// newTx is a transaction that was never used.
func (at *reader) newTx() *Tx {
	if at.chunk == nil || at.used == txChunk {
		at.chunk, at.used = new([txChunk]Tx), 0
	}
	at.used++
	at.managed = false
	return &at.chunk[at.used-1]
}
