// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"fmt"
	"slices"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// Bytes of a live block behind its region are zero, so that growing within a block writes nothing.

// realloc implements policy.
func (g *ghostTree) realloc(u *stack.Unit, r Region, n int64, zero bool) (int64, error) {
	b, err := g.block(u, r)
	if err != nil {
		return 0, err
	}
	if zero {
		if err := g.pad(u, b, r, r.Off+n); err != nil {
			return 0, err
		}
	}
	m := g.tree.Mark()
	switch size := ghostSize(n); {
	case size <= b.Size:
		err = g.shrink(u, b, r, r.Off+n)
	case g.growInPlace(b, size, u.Len()):
		err = g.grow(u, b, size)
	default:
		return g.move(u, b, r, n, zero)
	}
	if err != nil {
		return 0, err
	}
	return r.Off, g.flush(u, m)
}

// pad makes sure that bytes behind a region are zero which come into it, up to end or the end of its block. They are
// unless another program left them, as bstack 0.4.4 does when it shrinks in place.
func (g *ghostTree) pad(u *stack.Unit, b freetree.Block, r Region, end int64) error {
	n := min(end, b.End()) - r.End()
	if n <= 0 {
		return nil
	}
	p := g.node[:min(n, ghostUnit)] // a block has less than that behind its region
	if _, err := u.ReadAt(p, r.End()); err != nil || isZero(p) {
		return err
	}
	return u.Zero(r.End(), n)
}

// shrink makes the end of a region, and that of its block, an earlier one.
func (g *ghostTree) shrink(u *stack.Unit, b freetree.Block, r Region, end int64) error {
	cut := b.Off + ghostSize(end-b.Off)
	if stale := min(cut, r.End()) - end; stale > 0 {
		if err := u.Zero(end, stale); err != nil {
			return err
		}
	}
	if cut == b.End() {
		return nil
	}
	return g.release(u, freetree.Block{Off: cut, Size: b.End() - cut})
}

// growInPlace says whether there is room behind the block to make it that long.
func (g *ghostTree) growInPlace(b freetree.Block, size, length int64) bool {
	_, after := g.tree.Neighbours(b)
	return b.Size+after.Size >= size || b.End()+after.Size == length
}

// grow makes a block longer that has room behind it: free space, or the end of the payload.
func (g *ghostTree) grow(u *stack.Unit, b freetree.Block, size int64) error {
	_, after := g.tree.Neighbours(b)
	more := size - b.Size
	if more > after.Size {
		if _, err := u.Extend(more - after.Size); err != nil {
			return err
		}
	}
	switch {
	case after.Size == 0:
		return nil
	case more >= after.Size:
		g.tree.Remove(after)
	default:
		g.tree.Replace(after, freetree.Block{Off: after.Off + more, Size: after.Size - more})
	}
	return u.Zero(after.Off, freetree.NodeSize)
}

// move frees a region and allocates another with its bytes, which may be one that overlaps with it.
func (g *ghostTree) move(u *stack.Unit, b freetree.Block, r Region, n int64, zero bool) (int64, error) {
	g.copied = slices.Grow(g.copied[:0], int(r.Len))[:r.Len]
	defer g.forget()
	if _, err := u.ReadAt(g.copied, r.Off); err != nil {
		return 0, err
	}
	m := g.tree.Mark()
	if err := g.release(u, b); err != nil {
		return 0, err
	}
	if err := g.flush(u, m); err != nil {
		return 0, err
	}
	off, err := g.alloc(u, n, zero)
	if err != nil {
		return 0, err
	}
	_, err = u.WriteAt(g.copied, off)
	return off, err
}

// forget gives the memory back that a large move took.
func (g *ghostTree) forget() {
	if cap(g.copied) > 1<<20 {
		g.copied = nil
	}
}

// resize implements policy.
func (g *ghostTree) resize(u *stack.Unit, r Region, before, after int64) error {
	b, err := g.block(u, r)
	if err != nil {
		return err
	}
	if before%ghostUnit != 0 {
		return fmt.Errorf("%w: moving the start of %v by %d, which is no multiple of %d",
			ErrUnsupported, r, before, ghostUnit)
	}
	to := Region{Off: r.Off - before, Len: before + r.Len + after}
	want := freetree.Block{Off: to.Off, Size: ghostSize(to.Len)}
	left, _ := g.tree.Neighbours(b)
	if before > left.Size || want.End() > b.End() && !g.growInPlace(b, want.End()-b.Off, u.Len()) {
		return fmt.Errorf("%w: no room around %v for %v", ErrUnsupported, r, to)
	}
	if err := g.pad(u, b, r, to.End()); err != nil {
		return err
	}
	m := g.tree.Mark()
	// From the end to the start: what is cut off at the end of the payload goes first.
	if want.End() > b.End() {
		err = g.grow(u, b, want.End()-b.Off)
	} else {
		err = g.shrink(u, b, r, to.End())
	}
	if err != nil {
		return err
	}
	switch {
	case before > 0:
		err = g.growFront(u, left, before)
	case before < 0:
		err = g.release(u, freetree.Block{Off: b.Off, Size: -before})
	}
	if err != nil {
		return err
	}
	return g.flush(u, m)
}

// growFront takes the last bytes of the free block in front.
func (g *ghostTree) growFront(u *stack.Unit, left freetree.Block, n int64) error {
	off, err := g.take(left, n)
	if err != nil || off != left.Off {
		return err
	}
	return u.Zero(left.Off, freetree.NodeSize)
}
