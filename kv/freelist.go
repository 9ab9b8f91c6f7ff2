// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"fmt"
	"slices"
	"sync"

	"github.com/holtdb/holt/kv/internal/page"
	"github.com/holtdb/holt/kv/internal/pageset"
)

// freelist knows which pages no tree uses. A page that a commit frees is pending as long as an open reader can see it,
// then free.
//
// Invariants: (1) no page is free and pending; (2) every pending page lies in exactly one retired run, or in
// writer.freed of the open write transaction; (3) a run in pinned[r] was born at or before r and died after it, and r
// had readers when it was put there.
//
// A page was in the snapshot r exactly when born <= r < died. The birth of a page is noted only while readers are
// open: a reader that begins later sees every page that was allocated before, so that an unknown birth counts as the
// beginning of time.
type freelist struct {
	mu      sync.Mutex
	loaded  bool
	free    pageset.Set
	pending pageset.Set

	recent []retired            // freed since the last write transaction began
	pinned map[uint64][]retired // by the txid of a reader that can see them
	born   map[uint64]uint64    // first page of a run to the txid that allocated it
}

// retired is a run of pages that a commit freed.
type retired struct {
	run
	born, died uint64 // transactions
}

// listed says whether a page is free or pending.
func (f *freelist) listed(id uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.free.Has(id) || f.pending.Has(id)
}

// counts are the numbers of free and pending pages.
func (f *freelist) counts() (free, pending int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.free.Len(), f.pending.Len()
}

// reserve makes room for page ids below hwm.
func (f *freelist) reserve(hwm uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free.Grow(hwm)
	f.pending.Grow(hwm)
}

// load takes over the ids of a stored free list. After an error no page is free.
func (f *freelist) load(ids []byte, hwm uint64) error {
	f.reserve(hwm)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.free.Load(ids, hwm); err != nil {
		f.free = pageset.Set{}
		return err
	}
	f.loaded = true
	return nil
}

// loadComplement takes over every page below hwm that is not in used.
func (f *freelist) loadComplement(used *pageset.Shared, hwm uint64) {
	f.reserve(hwm)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loaded = true
	f.free.AddComplement(used, pageset.FirstID, hwm)
}

// release frees the pending pages that none of the readers can see. readers are the snapshots in use, ascending.
func (f *freelist) release(readers []uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.releaseRuns(f.recent, readers)
	f.recent = f.recent[:0]
	for r, runs := range f.pinned {
		if _, open := slices.BinarySearch(readers, r); !open {
			delete(f.pinned, r)
			f.releaseRuns(runs, readers)
		}
	}
	if len(readers) == 0 && len(f.born) > 0 {
		f.born = nil // a map keeps its size when it is cleared
	}
}

func (f *freelist) releaseRuns(runs []retired, readers []uint64) {
	for _, r := range runs {
		if i, ok := r.seenBy(readers); ok {
			if f.pinned == nil {
				f.pinned = make(map[uint64][]retired)
			}
			f.pinned[readers[i]] = append(f.pinned[readers[i]], r)
			continue
		}
		f.pending.RemoveRun(r.id, int(r.n))
		f.free.AddRun(r.id, int(r.n))
	}
}

// seenBy returns the first of the readers that can see the run, if one can.
func (r retired) seenBy(readers []uint64) (i int, ok bool) {
	i, _ = slices.BinarySearch(readers, r.born)
	return i, i < len(readers) && readers[i] < r.died
}

// find returns the lowest n consecutive free pages, at or above from, that do not lie in runs that are taken.
func (f *freelist) find(from uint64, n int, taken ...run) (id uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, ok = f.free.FirstRun(from, n)
	for i := 0; ok && i < len(taken); i++ {
		if end := taken[i].id + uint64(taken[i].n); id < end && id+uint64(n) > taken[i].id {
			id, ok = f.free.FirstRun(end, n)
			i = -1 // it may lie in one before
		}
	}
	return id, ok
}

// take allocates n consecutive free pages.
func (f *freelist) take(id uint64, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.free.RemoveRun(id, n) != n {
		panic(fmt.Sprintf("assertion failed: pages from %d on are not free", id))
	}
}

// retire makes a run pending. It is an error if one of its pages is free or pending already.
func (f *freelist) retire(r run) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := r.id; id < r.id+uint64(r.n); id++ {
		if f.free.Has(id) || f.pending.Has(id) {
			return fmt.Errorf("page %d already freed", id)
		}
	}
	f.pending.AddRun(r.id, int(r.n))
	return nil
}

// commit notes what the transaction txid allocated and freed. observed says whether readers are open.
func (f *freelist) commit(txid uint64, allocated, freed []run, observed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range freed {
		f.recent = append(f.recent, retired{r, f.born[r.id], txid})
		delete(f.born, r.id)
	}
	if !observed {
		return
	}
	if f.born == nil {
		f.born = make(map[uint64]uint64)
	}
	for _, r := range allocated {
		f.born[r.id] = txid
	}
}

// undo gives back what a failed transaction allocated below hwm and forgets what it freed.
func (f *freelist) undo(allocated, freed []run, hwm uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range freed {
		f.pending.RemoveRun(r.id, int(r.n))
	}
	for _, r := range allocated {
		if r.id < hwm {
			f.free.AddRun(r.id, int(r.n))
		}
	}
}

// size is the length in bytes of the free list as it is stored.
func (f *freelist) size() int {
	free, pending := f.counts()
	return page.FreelistSize(free + pending)
}

// write fills a page with every free and pending id and returns where they end.
func (f *freelist) write(p page.Page, id uint64, overflow uint32) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	ids := p.PutFreelistCount(id, f.free.Len()+f.pending.Len(), overflow)
	n := pageset.PutUnion(ids, &f.free, &f.pending)
	return len(p) - len(ids) + n*pageset.IDSize
}

func (f *freelist) isLoaded() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.loaded
}
