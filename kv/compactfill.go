// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"slices"

	"github.com/holtdb/holt/kv/internal/page"
)

// filling is a bucket that is being filled from left to right. Its pages are written once and for all.
type filling struct {
	name     []byte
	sequence uint64
	kids     []filledBucket // in the leaf that comes next
	levels   []level        // of branches that are not built yet, from the lowest up
}

type filledBucket struct {
	name           []byte
	root, sequence uint64
}

// level are the last elements of the branches of one level.
type level struct {
	slots []slot
	size  int64
}

// step copies what the walk has come by.
func (c *compactor) step(s *compactStep, b *compactBatch) error {
	switch s.what {
	case putPair:
		return c.tx.root().Put(s.key, s.value)
	case putInline:
		if err := c.tx.root().vacant(s.key); err != nil {
			return err
		}
		c.putBucket(s.key, s.value)
		return nil
	case enterBucket:
		if len(c.open) == 0 {
			if err := c.tx.root().vacant(s.key); err != nil {
				return err
			}
		}
		c.open = append(c.open, &filling{name: s.key, sequence: s.sequence})
		return nil
	case leaveBucket:
		return c.leave()
	}
	return c.addLeaf(&s.leaf, b)
}

// addLeaf adds a leaf: one that has been built, unless there are buckets in it whose pages had no places then.
func (c *compactor) addLeaf(l *plannedLeaf, b *compactBatch) (err error) {
	f := c.open[len(c.open)-1]
	first := leading(l.slots, noID)
	if len(l.kids) == 0 {
		first.ref, err = c.take(b.pages, b.pages.dirty[0])
		b.pages.dirty = b.pages.dirty[1:]
	} else {
		for i, kid := range l.kids {
			l.slots[kid] = c.bucketSlot(&f.kids[i])
		}
		f.kids = append(f.kids[:0], f.kids[len(l.kids):]...)
		c.pages.ext = l.ext
		first.ref, err = c.build(l.slots, l.size, true)
		c.pages.ext = nil
	}
	if err != nil {
		return err
	}
	return c.push(&f.levels, 0, first)
}

// build puts a page together.
func (c *compactor) build(slots []slot, size int64, leaf bool) (id uint64, err error) {
	c.pages.image(noID, c.pages.pagesFor(size), slots, int(size), leaf)
	return c.take(c.pages, c.pages.dirty[len(c.pages.dirty)-1])
}

// take gives a page that has been put together its place.
func (c *compactor) take(from *writer, built dirtyRun) (id uint64, err error) {
	w := c.tx.w
	if id, err = w.allocate(built.pages, true); err != nil {
		return 0, err
	}
	p := page.Page(from.segs[built.from])
	p.SetID(id)
	at := len(w.segs)
	w.segs = append(w.segs, from.segs[built.from:built.to]...)
	w.dirty = append(w.dirty, dirtyRun{id, built.pages, at, len(w.segs)})
	w.notePlain(id, built.pages == 1 && isPlain(p, p.Flags() == page.Leaf))
	w.stats.Spill++
	c.unwritten += built.pages * c.dst.pageSize
	return id, nil
}

// push puts an element behind those of a level of branches, and builds a branch if there are enough for two.
func (c *compactor) push(levels *[]level, n int, s slot) error {
	if n == len(*levels) {
		*levels = append(*levels, level{size: page.HeaderSize})
	}
	l := &(*levels)[n]
	l.slots = append(l.slots, s)
	l.size += elemSize(s)
	if enough(len(l.slots), l.size, c.dst.pageSize) {
		return c.cut(levels, n)
	}
	return nil
}

// cut builds a branch of the first elements of a level.
func (c *compactor) cut(levels *[]level, n int) error {
	l := &(*levels)[n]
	at, size := split(l.slots, l.size, int64(c.dst.pageSize), 1)
	id, err := c.build(l.slots[:at], size, false)
	if err != nil {
		return err
	}
	first := leading(l.slots, id)
	l.slots, l.size = append(l.slots[:0], l.slots[at:]...), l.size-size+page.HeaderSize
	return c.push(levels, n+1, first)
}

// root builds the branches that are left, and returns the root.
func (c *compactor) root(levels []level) (id uint64, err error) {
	for n := 0; ; n++ {
		if n == len(levels)-1 && len(levels[n].slots) == 1 {
			return levels[n].slots[0].ref, nil
		}
		for len(levels[n].slots) > 0 {
			if err := c.cut(&levels, n); err != nil {
				return 0, err
			}
		}
	}
}

// leave ends the innermost bucket.
func (c *compactor) leave() error {
	last := len(c.open) - 1
	f := c.open[last]
	root, err := c.root(f.levels)
	if err != nil {
		return err
	}
	c.open = c.open[:last]
	c.filled(filledBucket{f.name, root, f.sequence})
	return nil
}

// filled has a bucket be in the one around it.
func (c *compactor) filled(b filledBucket) {
	if last := len(c.open) - 1; last >= 0 {
		c.open[last].kids = append(c.open[last].kids, b)
		return
	}
	var value [page.BucketHeader]byte
	page.PutBucketHeader(value[:], b.root, b.sequence)
	c.putBucket(b.name, value[:])
}

// seal makes a whole tree of what has been copied so far, with pages at its right edge that the next transaction has no
// use for.
func (c *compactor) seal() error {
	w, all := c.tx.w, c.open
	from := len(w.allocated)
	for i, f := range slices.Backward(all) {
		root, err := c.sealed(f)
		if err != nil {
			return err
		}
		if i < len(all)-1 {
			f.kids = f.kids[:len(f.kids)-1] // the one that is still open
		}
		c.open = all[:i]
		c.filled(filledBucket{f.name, root, f.sequence})
	}
	c.open = all
	c.temporary = append(c.temporary, w.allocated[from:]...)
	return nil
}

// sealed builds the root of a bucket that goes on, and what else that needs.
func (c *compactor) sealed(f *filling) (root uint64, err error) {
	levels := make([]level, len(f.levels))
	for i, l := range f.levels {
		levels[i] = level{slices.Clone(l.slots), l.size}
	}
	leaf := level{size: page.HeaderSize}
	for i := range f.kids {
		s := c.bucketSlot(&f.kids[i])
		leaf.slots, leaf.size = append(leaf.slots, s), leaf.size+elemSize(s)
	}
	for len(leaf.slots) > 0 || len(levels) == 0 {
		n, size := split(leaf.slots, leaf.size, int64(c.dst.pageSize), 1)
		id, err := c.build(leaf.slots[:n], size, true)
		if err != nil {
			return 0, err
		}
		if err := c.push(&levels, 0, leading(leaf.slots, id)); err != nil {
			return 0, err
		}
		leaf.slots, leaf.size = leaf.slots[n:], leaf.size-size+page.HeaderSize
	}
	return c.root(levels)
}

// bucketSlot makes the element of a bucket that has its pages.
func (c *compactor) bucketSlot(b *filledBucket) slot {
	s, value := c.pages.copyKey(b.name, page.BucketHeader)
	page.PutBucketHeader(value, b.root, b.sequence)
	s.ref = slotBucket
	return s
}

// putBucket sets the value of a top-level bucket.
func (c *compactor) putBucket(name, value []byte) {
	w := c.tx.w
	s, room := w.copyKey(name, len(value))
	copy(room, value)
	s.ref = slotBucket
	c.tx.root().put(w.key(&s), s)
}
