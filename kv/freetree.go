// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import "github.com/holtdb/holt/kv/internal/page"

// freeTree frees every page of the bucket and of those in it, changed or not. Pages that form a cycle are found by
// being freed twice.
func (b *Bucket) freeTree() {
	for todo := []*Bucket{b}; len(todo) > 0; {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch n := b.edit.node; {
		case n != nil:
			todo = b.freeNode(todo, n)
		case b.root != 0:
			todo = b.freePages(todo, b.root)
		}
		b.edit.children = nil
	}
}

// freeNode frees the pages of n and below, and adds the buckets that it finds to todo.
func (b *Bucket) freeNode(todo []*Bucket, n *node) []*Bucket {
	w := b.tx.w
	w.freePage(n)
	for i := range n.slots {
		s := &n.slots[i]
		switch {
		case !n.leaf && s.ref&nodeRef != 0:
			todo = b.freeNode(todo, w.nodes[uint32(s.ref)])
		case !n.leaf:
			todo = b.freePages(todo, s.ref)
		case s.ref&slotBucket != 0:
			todo = append(todo, b.child(w.key(s), w.value(s), s.loc+uint64(s.ksize), n.id))
		}
	}
	return todo
}

// freePages frees page root and all below, and adds the buckets that it finds to todo.
func (b *Bucket) freePages(todo []*Bucket, root uint64) []*Bucket {
	tx := b.tx
	for ids := []uint64{root}; len(ids) > 0; {
		id := ids[len(ids)-1]
		ids = ids[:len(ids)-1]
		p := tx.page(id)
		tx.checkRun(id, p)
		tx.w.free(run{id, p.Overflow() + 1})
		for i := range p.Count() {
			if p.Flags() == page.Branch {
				ids = append(ids, p.Child(i))
				continue
			}
			flags, key, value, ok := p.LeafElem(i)
			if !ok {
				tx.badElement(id, i)
			}
			if flags&page.BucketFlag != 0 {
				at := place{page: p, id: id, index: i}
				todo = append(todo, b.child(key, value, at.valueLoc(b), id))
			}
		}
	}
	return todo
}

// checkRun examines a page that is to be written anew, and its run freed.
func (tx *Tx) checkRun(id uint64, p page.Page) {
	if p.Overflow() == 0 {
		return
	}
	end := uint64(page.HeaderSize + page.ElemSize*p.Count())
	for i := range p.Count() {
		var off uint64
		var ksize, vsize uint32
		var ok bool
		if p.Flags() == page.Branch {
			off, ksize, ok = p.BranchSpan(i)
		} else {
			_, off, ksize, vsize, ok = p.LeafSpan(i)
		}
		if !ok {
			tx.badElement(id, i)
		}
		end = max(end, off+uint64(ksize)+uint64(vsize))
	}
	tx.checkSpare(id, p, end)
}

// checkSpare panics if the run of page id takes in pages, behind its last byte at end, that say that they are pages of
// their own: then the length of the run is damaged, and they may be in use. Versions of old leave a page to spare.
func (tx *Tx) checkSpare(id uint64, p page.Page, end uint64) {
	size := uint64(tx.pageSize)
	for n := (end-1)/size + 1; n <= uint64(p.Overflow()); n++ {
		if spare := p[n*size:]; spare.ID() == id+n && page.ValidFlags(spare.Flags()) {
			tx.corrupt(id, "page %d claims to go on in page %d, which is one of its own", id, id+n)
		}
	}
}

// free makes a run of pages of the old tree pending.
func (w *writer) free(r run) {
	if err := w.tx.db.freelist.retire(r); err != nil {
		w.tx.corrupt(r.id, "%v", err)
	}
	w.freed = append(w.freed, r)
}

// freePage frees the page that n was read from.
func (w *writer) freePage(n *node) {
	if n.id != 0 {
		w.free(run{n.id, n.run})
		n.id = 0
	}
}
