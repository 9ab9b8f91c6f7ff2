// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"math"

	"github.com/holtdb/holt/kv/internal/page"
)

// buildFreelist replaces the stored free list.
func (tx *Tx) buildFreelist() error {
	w, f := tx.w, &tx.db.freelist
	if tx.meta.Freelist != page.NoFreelist {
		old, err := tx.freelistPage()
		if err != nil {
			return err
		}
		ids, ok := old.FreelistIDs()
		if !ok {
			return tx.damage(tx.meta.Freelist, "the free list is longer than its page")
		}
		tx.checkSpare(tx.meta.Freelist, old, uint64(page.HeaderSize+8+len(ids)))
		w.free(run{tx.meta.Freelist, old.Overflow() + 1})
	}
	if !tx.storesFreelist() {
		tx.meta.Freelist = page.NoFreelist
		return nil
	}
	pages := tx.freelistPages()
	id, err := w.allocate(pages)
	if err != nil {
		return err
	}
	_, buf := w.images.alloc(pages * tx.pageSize)
	clear(buf[f.write(buf, id, uint32(pages-1)):])
	w.dirty = append(w.dirty, dirtyRun{id, pages, len(w.segs), len(w.segs) + 1})
	w.segs = append(w.segs, buf)
	tx.meta.Freelist = id
	return nil
}

// storesFreelist says whether this commit stores the free list. That of Close may know nothing of it.
func (tx *Tx) storesFreelist() bool {
	return !tx.db.NoFreelistSync && (tx.db.syncList || tx.notes.last && tx.db.freelist.isLoaded())
}

// freelistPages is the number of pages that the free list takes as it is.
func (tx *Tx) freelistPages() int { return tx.db.freelist.size()/tx.pageSize + 1 }

// keptRun is the most pages that are kept for the end of a commit.
const keptRun = 8

// chooseExtent looks for free pages side by side where this commit fits as a whole. Where there are none it keeps the
// longest of the short runs for the pages that come last, which every commit writes: branches, roots, the free list. The
// leaves that come first take single pages, as the next commit is not likely to free them again.
func (w *writer) chooseExtent() {
	if w.tx.db.bolt || w.shrink.low {
		return
	}
	w.tx.root().touchWays()
	f := &w.tx.db.freelist
	pages := 0
	if w.tx.storesFreelist() {
		pages = w.tx.freelistPages()
	}
	for _, n := range w.nodes[:w.used] {
		pages += int(min(n.size/int64(w.tx.pageSize), math.MaxInt32)) + 1
	}
	if pages == 0 {
		return
	}
	w.expected = pages
	var ok bool
	if w.next, ok = f.find(pages); ok {
		return
	}
	for n := min(pages-1, keptRun); n > 1; n-- {
		if id, ok := f.find(n); ok {
			w.kept = run{id, uint32(n)}
			break
		}
	}
	w.atEnd = int(w.kept.n) < pages-1 && w.roomToSpare(pages)
}

// roomToSpare says whether the file may grow by so many pages although others are free: as long as these are few compared
// to those in use. There are soon enough of them then that the pages which every small commit writes find a run to
// themselves. A large one that is synced takes more: a disk takes several times as long for pages here and there.
func (w *writer) roomToSpare(pages int) bool {
	free, pending := w.tx.db.freelist.counts()
	hwm := w.tx.meta.HWM
	limit := w.tx.db.MaxSize
	switch {
	case limit > 0 && (hwm+2*uint64(max(pages, keptRun)))*uint64(w.tx.pageSize) >= uint64(limit):
		return false
	case pages > keptRun:
		return w.tx.db.syncs() && uint64(free+pending+pages) < hwm/8
	}
	return pending <= keptRun && uint64(free) < hwm/32+16
}

// touchWays makes nodes of the pages that hold the headers of changed buckets, as spill would. It returns whether b is to
// be written itself.
func (b *Bucket) touchWays() bool {
	for name, child := range b.edit.children {
		if child.touchWays() {
			b.leaf([]byte(name))
		}
	}
	return b.edit.node != nil
}

// allocate takes a run of pages that no snapshot in use can see: a free one, or one behind all others.
func (w *writer) allocate(n int) (id uint64, err error) {
	tx := w.tx
	id, ok := w.takeFree(n)
	if !ok {
		id = tx.meta.HWM
		if limit := tx.db.MaxSize; limit > 0 && (id+uint64(n))*uint64(tx.pageSize) > uint64(limit) {
			return 0, ErrMaxSizeReached
		}
		if limit := w.shrink.ceiling; limit > 0 && id+uint64(n) > limit {
			return 0, errNoRoom
		}
		tx.meta.HWM += uint64(n)
	}
	w.expected -= n
	w.allocated = append(w.allocated, run{id, uint32(n)})
	w.stats.PageCount += int64(n)
	w.stats.PageAlloc += int64(n) * int64(tx.pageSize)
	return id, nil
}

// takeFree takes a run of free pages, by the choice of chooseExtent as long as that goes.
func (w *writer) takeFree(n int) (id uint64, ok bool) {
	f := &w.tx.db.freelist
	if w.atEnd {
		return 0, false
	}
	if w.next != 0 {
		if id, ok = f.take(w.next, n); ok {
			w.next = id + uint64(n)
			return id, true
		}
		w.next = 0
	}
	if w.kept.n == 0 {
		return f.take(0, n)
	}
	if w.expected > int(w.kept.n) {
		if id, ok = f.takeBeside(w.kept, n); ok {
			return id, true
		}
	}
	if id, ok = f.take(w.kept.id, n); ok {
		return id, true
	}
	w.kept = run{}
	return f.take(0, n)
}
