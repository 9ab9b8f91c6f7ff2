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
	if tx.db.NoFreelistSync {
		tx.meta.Freelist = page.NoFreelist
		return nil
	}
	pages := f.size()/tx.pageSize + 1
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

// chooseExtent looks for free pages side by side where this commit fits as a whole.
func (w *writer) chooseExtent() {
	if w.tx.db.bolt {
		return
	}
	w.tx.root.touchWays()
	pages := w.tx.db.freelist.size()/w.tx.pageSize + 1
	for _, n := range w.nodes[:w.used] {
		pages += int(min(n.size/int64(w.tx.pageSize), math.MaxInt32)) + 1
	}
	w.next, _ = w.tx.db.freelist.find(pages)
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
	id, ok := tx.db.freelist.take(w.next, n)
	if !ok && w.next != 0 {
		w.next = 0
		id, ok = tx.db.freelist.take(0, n)
	}
	switch {
	case !ok:
		id = tx.meta.HWM
		if limit := tx.db.MaxSize; limit > 0 && (id+uint64(n))*uint64(tx.pageSize) > uint64(limit) {
			return 0, ErrMaxSizeReached
		}
		tx.meta.HWM += uint64(n)
	case w.next != 0:
		w.next = id + uint64(n)
	}
	w.allocated = append(w.allocated, run{id, uint32(n)})
	w.stats.PageCount += int64(n)
	w.stats.PageAlloc += int64(n) * int64(tx.pageSize)
	return id, nil
}
