// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"fmt"
	"math"
	"slices"

	"github.com/holtdb/holt/kv/internal/page"
)

// spill gives every node of the bucket, and of those in it, its new pages, from the leaves up.
func (b *Bucket) spill() error {
	if err := b.spillChildren(); err != nil {
		return err
	}
	root := b.edit.node
	if root == nil {
		return nil
	}
	w := b.tx.w
	for {
		base := len(w.outs)
		if _, err := w.spillNode(b, root, true); err != nil {
			return err
		}
		pieces := w.outs[base:]
		w.outs = w.outs[:base]
		if len(pieces) == 1 {
			b.root = pieces[0].ref
			return nil
		}
		root = w.newNode(false) // the root was split
		root.slots = append(root.slots, pieces...)
		root.size = branchSize(root.slots)
	}
}

// spillChildren writes the values of the buckets in b that were changed.
func (b *Bucket) spillChildren() error {
	w, e := b.tx.w, b.edit
	if len(e.children) == 0 {
		return nil
	}
	base := len(w.names)
	for name := range e.children {
		w.names = append(w.names, name)
	}
	end := len(w.names)
	slices.Sort(w.names[base:end])
	for i := base; i < end; i++ {
		if err := b.spillChild(w.names[i], e.children[w.names[i]]); err != nil {
			return err
		}
	}
	w.names = w.names[:base]
	return nil
}

// spillChild writes the value of one bucket in b.
func (b *Bucket) spillChild(name string, child *Bucket) error {
	w := b.tx.w
	inline := child.inlinable()
	if inline {
		w.freePage(child.edit.node)
		child.root = 0
	} else if err := child.spill(); err != nil {
		return err
	}
	n := child.edit.node
	if n == nil {
		return nil // not changed
	}
	size := page.BucketHeader
	if inline {
		size += int(n.size)
	}
	s, value := w.copyKey([]byte(name), size)
	page.PutBucketHeader(value, child.root, child.seq)
	if inline {
		p := page.Page(value[page.BucketHeader:])
		p.PutHeader(0, page.Leaf, len(n.slots), 0)
		w.fill(p, n.slots, true, false)
	}
	s.ref = slotBucket
	key := w.key(&s)
	leaf := b.leaf(key)
	i, exact := w.search(leaf, key)
	if !exact || leaf.slots[i].ref&slotBucket == 0 {
		w.tx.corrupt(leaf.id, "bucket %q is not where its name belongs", name)
	}
	leaf.insert(i, true, s)
	return nil
}

// inlinable says whether the bucket is to be stored inside its parent: one small leaf without buckets.
func (b *Bucket) inlinable() bool {
	n := b.edit.node
	if n == nil || !n.leaf || n.size > int64(b.tx.pageSize/4) {
		return false
	}
	b.tx.w.open(n)
	if len(n.slots) >= page.MaxCount {
		return false
	}
	for i := range n.slots {
		if n.slots[i].ref&slotBucket != 0 {
			return false
		}
	}
	return true
}

// spillNode gives n and the nodes below it their pages, and pushes an element for each page that n has become on outs.
// edge says that n lies at the right edge of the tree; filled that it was split because of keys put behind all others.
func (w *writer) spillNode(b *Bucket, n *node, edge bool) (filled bool, err error) {
	if n.leaf {
		filled = n.inserts == atEnd
	} else if filled, err = w.spillBelow(b, n, edge); err != nil {
		return false, err
	}
	if w.fitsPatched(n) {
		err := w.placePatched(n)
		w.freePage(n)
		return filled, err
	}
	w.open(n)
	if verify {
		w.verifyNode(n)
	}
	w.freePage(n)
	fill := b.FillPercent
	if edge && filled && fill == DefaultFillPercent && !w.tx.db.bolt {
		fill = 1 // later keys go behind these: leave no room between them
	}
	rest, size := n.slots, n.size
	for {
		at, left := len(rest), size
		if !w.shrink.low || !justFull(rest, size, w.tx.pageSize) {
			at, left = split(rest, size, int64(w.tx.pageSize), fill)
		}
		if err := w.place(rest[:at], left, n.leaf, n.stays()); err != nil {
			return false, err
		}
		if at == len(rest) {
			return filled, nil
		}
		w.stats.Split++
		rest, size = rest[at:], size-left+page.HeaderSize
	}
}

// spillRef spills the node that ref, of element i of a branch, stands for.
func (w *writer) spillRef(b *Bucket, i int, ref uint64, edge bool) (filled bool, err error) {
	c := w.nodes[uint32(ref)]
	if c.blind {
		w.look(c, i)
	}
	return w.spillNode(b, c, edge)
}

// spillBelow spills the children of a branch and puts what they have become in their place.
func (w *writer) spillBelow(b *Bucket, n *node, edge bool) (filled bool, err error) {
	base, done := len(w.outs), 0
	if n.page != nil {
		done, filled, err = w.spillPatched(b, n, edge)
		if err != nil || len(w.outs) == base {
			return filled, err
		}
		w.open(n)
		w.outs = slices.Insert(w.outs, base, n.slots[:done-1]...)
	}
	for i := done; i < len(n.slots); i++ {
		s := n.slots[i]
		if s.ref&nodeRef == 0 {
			w.outs = append(w.outs, s)
			continue
		}
		last := i == len(n.slots)-1
		grown, err := w.spillRef(b, i, s.ref, edge && last)
		if err != nil {
			return false, err
		}
		filled = grown && last
	}
	n.slots = append(n.slots[:0], w.outs[base:]...)
	n.size = branchSize(n.slots)
	w.outs = w.outs[:base]
	return filled, nil
}

func branchSize(slots []slot) int64 {
	size := int64(page.HeaderSize)
	for i := range slots {
		size += page.ElemSize + int64(slots[i].ksize)
	}
	return size
}

// Bounds of a split.
const (
	minKeysLeft  = 2 // elements of the left part, at least
	minKeysRight = 3
	minFill      = 0.1
	maxFill      = 1.0
)

// split finds how many of the elements, which take size bytes, go into the first page, and how many bytes those take:
// all, unless they are more than four and do not fit, or more than 2 GiB, which bbolt cannot read.
func split(slots []slot, size, pageSize int64, fill float64) (n int, left int64) {
	switch {
	case len(slots) >= minKeysLeft+minKeysRight && (size >= pageSize || len(slots) >= page.MaxCount):
	case size > math.MaxInt32:
		return splitHuge(slots)
	default:
		return len(slots), size
	}
	target := int64(float64(pageSize) * min(max(fill, minFill), maxFill))
	left = page.HeaderSize
	for n = 0; n < len(slots)-minKeysRight && n < page.MaxCount-1; n++ {
		size := elemSize(slots[n])
		if n >= minKeysLeft && left+size > target {
			break
		}
		left += size
	}
	return n, left
}

// justFull says whether elements fill one page to its last byte, which split takes for too much. Shrink, which makes such
// pages, must not split them when it moves them.
func justFull(slots []slot, size int64, pageSize int) bool {
	return size == int64(pageSize) && len(slots) < page.MaxCount
}

// splitHuge is split for up to four elements of more than 2 GiB: as many as take less than that, but one in any case.
func splitHuge(slots []slot) (n int, left int64) {
	left = page.HeaderSize
	for n < len(slots) && (n == 0 || left+elemSize(slots[n]) <= math.MaxInt32) {
		left += elemSize(slots[n])
		n++
	}
	return n, left
}

// leading is the element of a branch for page id, which has these elements.
func leading(slots []slot, id uint64) slot {
	if len(slots) == 0 {
		return slot{ref: id}
	}
	return slot{loc: slots[0].loc, ksize: slots[0].ksize, ref: id}
}

// pagesFor is the number of pages that so many bytes take.
func (w *writer) pagesFor(size int64) int {
	pageSize := int64(w.tx.pageSize)
	return int((size + pageSize - 1) / pageSize)
}

// place allocates a run for the elements, puts the pages together, and pushes the element for them on outs.
func (w *writer) place(slots []slot, size int64, leaf, stays bool) error {
	pageSize := int64(w.tx.pageSize)
	if size > math.MaxInt-pageSize {
		return fmt.Errorf("kv: %d elements of %d bytes in one page: %w", len(slots), size, errMapTooLarge)
	}
	pages := w.pagesFor(size)
	id, err := w.allocate(pages, stays)
	if err != nil {
		return err
	}
	w.stats.Spill++
	w.image(id, pages, slots, int(size), leaf)
	w.outs = append(w.outs, leading(slots, id))
	return w.writeEarly()
}
