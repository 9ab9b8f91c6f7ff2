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
			todo = b.freePages(todo, b.root, keyRange{})
		}
		b.edit.children = nil
	}
}

// freeNode frees the pages of n and below, and adds the buckets that it finds to todo.
func (b *Bucket) freeNode(todo []*Bucket, n *node) []*Bucket {
	w := b.tx.w
	w.open(n)
	w.freePage(n)
	for i := range n.slots {
		s := &n.slots[i]
		switch {
		case !n.leaf && s.ref&nodeRef != 0:
			todo = b.freeNode(todo, w.nodes[uint32(s.ref)])
		case !n.leaf:
			todo = b.freePages(todo, s.ref, w.below(n, i))
		case s.ref&slotBucket != 0:
			todo = append(todo, b.child(w.key(s), w.value(s), s.loc+uint64(s.ksize), n.id))
		}
	}
	return todo
}

// heldPage is a page that is still to be visited, and where its keys have to be.
type heldPage struct {
	id   uint64
	keys keyRange
}

// freePages frees page root, whose keys are to be in r, and all below, and adds the buckets that it finds to todo.
func (b *Bucket) freePages(todo []*Bucket, root uint64, r keyRange) []*Bucket {
	tx := b.tx
	for left := []heldPage{{root, r}}; len(left) > 0; {
		at := left[len(left)-1]
		left = left[:len(left)-1]
		id, p := at.id, tx.page(at.id)
		tx.hold(id, p, at.keys)
		end := uint64(page.HeaderSize + page.ElemSize*p.Count())
		for i := range p.Count() {
			off, ksize, vsize, ok := p.Span(i)
			if !ok {
				tx.badElement(id, i)
			}
			value := off + uint64(ksize)
			end = max(end, value+uint64(vsize))
			if p.Flags() == page.Branch {
				left = append(left, heldPage{p.Child(i), tx.below(id, p, i, at.keys)})
			} else if page.LeafFlags(p.Elem(i))&page.BucketFlag != 0 {
				loc := id*uint64(tx.pageSize) + value
				todo = append(todo, b.child(p[off:value], p[value:value+uint64(vsize)], loc, id))
			}
		}
		tx.checkSpare(id, p, end)
		tx.w.free(run{id, p.Overflow() + 1})
	}
	return todo
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
