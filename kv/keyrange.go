// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import "github.com/holtdb/holt/kv/internal/page"

// keyRange is where the keys of a page have to be: in [lo, hi), with nil for no bound. The branches above say so: the
// key of the element that leads to the page is the least, that of the next element lies above all, and behind the last
// element of a branch it is the upper bound of the branch itself.
//
// A pointer that leads to another page, sound in itself, is noticed by nothing else. A page that has keys of the same
// range, be it an older copy or one of another bucket, cannot be told from the right one, unless it is a leaf where the
// others are branches, or the other way round: all leaves of a tree are equally deep.
type keyRange struct {
	lo, hi []byte
	flags  uint16 // of the page, 0 if they are not known
}

// hold panics if page id has a key that is not in r, or is of another type. The page's keys are taken to ascend.
func (tx *Tx) hold(id uint64, p page.Page, r keyRange) {
	if !p.Within(r.lo, r.hi) {
		tx.misplaced(id, p, r)
	}
	if r.flags != 0 && r.flags != p.Flags() {
		tx.corrupt(id, "page %d is a %s where its siblings are not", id, page.TypeName(p.Flags()))
	}
}

// siblings is the type that the pages on either side of element i of a branch with n of them have. If it is the one that
// is damaged, and there are others, it differs from them.
func siblings(n, i int, flags func(i int) uint16) uint16 {
	var types [2]uint16
	found := 0
	for j := max(i-2, 0); j < min(i+3, n) && found < 2; j++ {
		if j != i {
			types[found] = flags(j)
			found++
		}
	}
	if found == 2 && types[0] != types[1] {
		return 0
	}
	return types[0]
}

// flags is the type of page id, or 0 if that is not a page.
func (tx *Tx) flags(id uint64) uint16 {
	if id < 2 || id >= tx.limit {
		return 0
	}
	p := page.Page(tx.data[id*uint64(tx.pageSize):])
	if p.ID() != id {
		return 0
	}
	return p.Flags()
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
	r.flags = siblings(p.Count(), i, func(j int) uint16 { return tx.flags(p.Child(j)) })
	return r
}

// below is the range of the page that element i of branch n leads to. That page is as it was when the transaction
// began, and so are the keys of branches, except that some may have gone: the range is no narrower than it was.
func (w *writer) below(n *node, i int) (r keyRange) {
	if r.flags = n.below; r.flags == 0 {
		r.flags = siblings(n.children(), i, func(j int) uint16 { return w.flags(w.refAt(n, j)) })
	}
	r.lo = w.keyAt(n, i)
	for i+1 == n.children() {
		if n.parent == nil {
			return r
		}
		n, i = n.parent, w.indexOf(n)
	}
	r.hi = w.keyAt(n, i+1)
	return r
}

// flags is the type of what a slot of a branch refers to.
func (w *writer) flags(ref uint64) uint16 {
	switch {
	case ref&nodeRef == 0:
		return w.tx.flags(ref)
	case w.nodes[uint32(ref)].leaf:
		return page.Leaf
	}
	return page.Branch
}

// holdWay holds every page on the way to key against its range.
func (b *Bucket) holdWay(key []byte) {
	tx, id := b.tx, b.root
	var r keyRange
	if b.edit != nil && b.edit.node != nil {
		n, i := b.lastNode(key)
		id, r = tx.w.refAt(n, i), tx.w.below(n, i)
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
	tx := c.tx
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
