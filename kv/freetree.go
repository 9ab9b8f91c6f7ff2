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
				todo = append(todo, b.child(key, value, at.valueLoc(tx), id))
			}
		}
	}
	return todo
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
