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
	id, err := w.allocate(pages, false)
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

// storesFreelist says whether this commit stores the free list.
func (tx *Tx) storesFreelist() bool {
	return !tx.db.NoFreelistSync && (tx.db.syncList || tx.notes.rest && tx.db.freelist.isLoaded())
}

// freelistPages is the number of pages that the free list takes as it is.
func (tx *Tx) freelistPages() int { return tx.db.freelist.size()/tx.pageSize + 1 }

// keptRun is the most pages of a commit that counts as small.
const keptRun = 8

// extent is where pages of a commit go that have something in common.
type extent struct {
	run          // free pages that nothing else of the commit takes
	left  int    // how many pages are still to come
	most  int    // no longer run is free
	from  uint64 // none of that length lies below
	atEnd bool   // put all of them behind the others
}

// extents are those of a commit. Leaves stay where they are for long. The branches above them, roots, and the list of free
// pages are written by every commit that has something to do with them, and sooner the later they come: side by side they
// leave behind runs of free pages.
type extents struct {
	leaves, upper extent
	last          run // for the last of the upper pages
}

// chooseExtents looks for free pages side by side where this commit fits as a whole, or what is not leaves does.
func (w *writer) chooseExtents() {
	if w.tx.db.bolt || w.shrink.low {
		return
	}
	w.tx.root().touchWays()
	w.extents = extents{} // compact has allocated before
	f, leaves, upper := &w.tx.db.freelist, &w.extents.leaves, &w.extents.upper
	if w.tx.storesFreelist() {
		upper.left = w.tx.freelistPages()
	}
	for _, n := range w.nodes[:w.used] {
		pages := int(min(n.size/int64(w.tx.pageSize), math.MaxInt32)) + 1
		if n.stays() {
			leaves.left += pages
		} else {
			upper.left += pages
		}
	}
	pages := leaves.left + upper.left
	if pages == 0 {
		return
	}
	leaves.most, upper.most = pages, pages
	for _, splits := range []int{leaves.left / 16, 0} {
		if id, ok := f.find(0, pages+splits); ok {
			upper.run = run{id, uint32(upper.left)}
			leaves.run = run{id + uint64(upper.left), uint32(leaves.left + splits)}
			return
		}
	}
	if upper.left > 1 {
		w.extents.last = w.findRun(upper, upper.left, 2)
	}
	w.chooseEnd()
}

// chooseEnd chooses which pages go behind all others: upper ones for which no run is long enough, and leaves that scattered
// would keep a sync waiting, if there is room to spare.
func (w *writer) chooseEnd() {
	leaves, upper := &w.extents.leaves, &w.extents.upper
	pages := leaves.left + upper.left
	behind := upper.left > int(w.extents.last.n)
	if pages <= keptRun {
		leaves.atEnd = behind && w.roomToSpare(pages, pages)
		upper.atEnd = leaves.atEnd
		return
	}
	if behind {
		upper.atEnd = w.roomToSpare(pages, upper.left)
	}
	if w.tx.db.syncs() && upper.atEnd == behind {
		leaves.atEnd = w.roomToSpare(pages, pages)
	}
}

// stays says whether a node is a leaf that the next commit is not likely to write again.
func (n *node) stays() bool { return n.leaf && !n.header }

// findRun looks for a run for so many pages of an extent: as long a one as there is, but of no less than the least.
func (w *writer) findRun(x *extent, pages, least int) run {
	e := &w.extents
	for n := max(min(pages, x.most), least); ; n = max(n-(n+3)/4, least) {
		from := uint64(0)
		if n == x.most {
			from = x.from
		}
		id, ok := w.tx.db.freelist.find(from, n, e.leaves.run, e.upper.run, e.last)
		if ok {
			x.most, x.from = n, id+uint64(n)
			return run{id, uint32(n)}
		}
		if n == least {
			return run{}
		}
	}
}

// roomToSpare says whether the file may grow by so many pages of a commit although others are free: as long as these are
// few compared to those in use. There are soon enough of them then that the pages which every small commit writes find a
// run to themselves. A large one may take more: pages here and there cost it a write each, and a disk that has to make them
// durable several times as long.
func (w *writer) roomToSpare(commit, pages int) bool {
	free, pending := w.tx.db.freelist.counts()
	hwm := w.tx.meta.HWM
	limit := w.tx.db.MaxSize
	switch {
	case limit > 0 && (hwm+2*uint64(max(pages, keptRun)))*uint64(w.tx.pageSize) >= uint64(limit):
		return false
	case commit > keptRun:
		return uint64(free+pending+pages) < hwm/8
	}
	return pending <= keptRun && uint64(free) < hwm/32+16
}

// touchWays makes nodes of the pages that hold the headers of changed buckets, as spill would. It returns whether b is to
// be written itself.
func (b *Bucket) touchWays() bool {
	for name, child := range b.edit.children {
		if child.touchWays() {
			b.leaf([]byte(name)).header = true
		}
	}
	return b.edit.node != nil
}

// allocate takes a run of pages that no snapshot in use can see: a free one, or one behind all others. leaf says that it
// is for a leaf that stays.
func (w *writer) allocate(n int, leaf bool) (id uint64, err error) {
	tx := w.tx
	id, ok := w.takeFree(n, leaf)
	if !ok {
		id = tx.meta.HWM
		if !tx.fitsBehind(n) {
			return 0, ErrMaxSizeReached
		}
		if limit := w.shrink.ceiling; limit > 0 && id+uint64(n) > limit {
			return 0, errNoRoom
		}
		tx.meta.HWM += uint64(n)
	}
	w.allocated = append(w.allocated, run{id, uint32(n)})
	w.stats.PageCount += int64(n)
	w.stats.PageAlloc += int64(n) * int64(tx.pageSize)
	return id, nil
}

// fitsBehind says whether so many pages more may lie behind all others.
func (tx *Tx) fitsBehind(n int) bool {
	limit := tx.db.MaxSize
	return limit <= 0 || (tx.meta.HWM+uint64(n))*uint64(tx.pageSize) <= uint64(limit)
}

// takeFree takes a run of free pages, by the choice of chooseExtents as long as that goes.
func (w *writer) takeFree(n int, leaf bool) (id uint64, ok bool) {
	e := &w.extents
	x, last := &e.upper, &e.last
	if leaf {
		x, last = &e.leaves, &run{}
	}
	if x.atEnd && w.tx.fitsBehind(n) { // the commit may have become larger than it looked
		return 0, false
	}
	if last.n > 0 && x.left <= int(last.n) {
		x.run, *last = *last, run{}
	}
	if int(x.n) < n {
		x.run = run{}
		x.run = w.findRun(x, x.left-int(last.n), n)
	}
	x.left -= n
	if int(x.n) < n {
		return 0, false
	}
	id = x.id
	x.run = run{id + uint64(n), x.n - uint32(n)}
	w.tx.db.freelist.take(id, n)
	return id, true
}
