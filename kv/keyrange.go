// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import "github.com/holtdb/holt/kv/internal/page"

// keyRange is where the keys of a page have to be: in [lo, hi), with nil for no bound. The branches above say so: the
// key of the element that leads to the page is the least, that of the next element lies above all, and behind the last
// element of a branch it is the upper bound of the branch itself.
//
// A pointer that leads to another page, sound in itself, is noticed by nothing else. A page that has keys of the same
// range, be it an older copy or one of another bucket, cannot be told from the right one.
type keyRange struct{ lo, hi []byte }

// hold panics if page id has a key that is not in r. The page's keys are taken to ascend.
func (tx *Tx) hold(id uint64, p page.Page, r keyRange) {
	if !p.Within(r.lo, r.hi) {
		tx.misplaced(id, p, r)
	}
}

// below is the range of what element i of branch page id leads to, if r is that of the page.
func (tx *Tx) below(id uint64, p page.Page, i int, r keyRange) keyRange {
	var ok bool
	if r.lo, ok = p.BranchKey(i); !ok {
		tx.badElement(id, i)
	}
	if i+1 < p.Count() {
		if r.hi, ok = p.BranchKey(i + 1); !ok {
			tx.badElement(id, i+1)
		}
	}
	return r
}

// below is the range of the page that element i of branch n leads to. That page is as it was when the transaction
// began, and so are the keys of branches, except that some may have gone: the range is no narrower than it was.
func (w *writer) below(n *node, i int) (r keyRange) {
	r.lo = w.key(&n.slots[i])
	for i+1 == len(n.slots) {
		if n.parent == nil {
			return r
		}
		n, i = n.parent, w.indexOf(n)
	}
	r.hi = w.key(&n.slots[i+1])
	return r
}

// holdWay holds every page on the way to key against its range.
func (b *Bucket) holdWay(key []byte) {
	tx, id := b.tx, b.root
	var r keyRange
	if b.edit != nil && b.edit.node != nil {
		n, i := b.lastNode(key)
		id, r = n.slots[i].ref, tx.w.below(n, i)
		tx.hold(id, tx.page(id), r)
		tx.held.add(n.id, i, id)
	}
	for p := tx.page(id); p.Flags() == page.Branch; {
		i := p.SearchBranch(key)
		r = tx.below(id, p, i, r)
		child := p.Child(i)
		p = tx.page(child)
		tx.hold(child, p, r)
		tx.held.add(id, i, child)
		id = child
	}
}

// holdWay holds every page on the way to the cursor's leaf against its range.
func (c *Cursor) holdWay() {
	tx := c.bucket.tx
	n, p, id := c.root()
	var r keyRange
	for level := range c.depth {
		i, above := int(c.frame(level).index), id
		if n == nil {
			r = tx.below(id, p, i, r)
		} else if above = n.id; n.slots[i].ref&nodeRef == 0 {
			r = tx.w.below(n, i)
		}
		if n, p, id = c.child(n, p, id, i); n == nil {
			tx.hold(id, p, r)
			tx.held.add(above, i, id)
		}
	}
	c.loose = false
}
