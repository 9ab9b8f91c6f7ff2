// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// free implements policy.
func (g *ghostTree) free(u *stack.Unit, r Region) error {
	b, err := g.block(u, r)
	if err != nil {
		return err
	}
	m := g.tree.Mark()
	if err := g.release(u, b); err != nil {
		return err
	}
	return g.flush(u, m)
}

// release makes a block free, up to writing the nodes: it merges it with its neighbours, and cuts off what becomes
// free at the end.
func (g *ghostTree) release(u *stack.Unit, b freetree.Block) error {
	before, after := g.tree.Neighbours(b)
	whole := freetree.Block{Off: b.Off - before.Size, Size: before.Size + b.Size + after.Size}
	if whole.End() == u.Len() && !g.keep && g.cutTail(whole, before, after) {
		return u.Truncate(whole.Off)
	}
	if err := u.Zero(b.Off, b.Size); err != nil {
		return err
	}
	if after.Size > 0 {
		if err := u.Zero(after.Off, freetree.NodeSize); err != nil {
			return err
		}
	}
	switch {
	case before.Size > 0:
		if after.Size > 0 {
			g.tree.Remove(after)
		}
		g.tree.Replace(before, whole)
	case after.Size > 0:
		g.tree.Replace(after, whole)
	default:
		return g.tree.Insert(whole)
	}
	return nil
}

// cutTail takes the free blocks of a free tail out of the tree, so that it can be cut off, if that is cheap. It is if
// no node changes. Otherwise everything from the first of them on has to be written anew: the journal knows no other
// way to change bytes and cut others off at once. So a tail is kept until what is cut off is worth it.
func (g *ghostTree) cutTail(tail, before, after freetree.Block) bool {
	m := g.tree.Mark()
	if before.Size > 0 {
		g.tree.Remove(before)
	}
	if after.Size > 0 {
		g.tree.Remove(after)
	}
	if from, ok := g.lowestChange(); ok && tail.Off-from > max(ghostKeepTail, 2*tail.Size) {
		g.tree.Rewind(m)
		return false
	}
	return true
}

// lowestChange is the offset of the first byte that has to be written because the tree is not as it was when the
// operation began, if there is one.
func (g *ghostTree) lowestChange() (off int64, ok bool) {
	m := g.marks[len(g.marks)-1].Mark
	if g.tree.RootChanged(m) {
		return ghostRootAt, true
	}
	return g.tree.LowestChange(m)
}

// trim cuts off a free block at the end.
func (g *ghostTree) trim(u *stack.Unit) (int64, error) {
	last, ok := g.tree.Last()
	if !ok || last.End() != u.Len() {
		return 0, nil
	}
	m := g.tree.Mark()
	g.tree.Remove(last)
	if err := g.flush(u, m); err != nil {
		return 0, err
	}
	return last.Size, u.Truncate(last.Off)
}

// freeBulk implements policy.
func (g *ghostTree) freeBulk(u *stack.Unit, rs []Region) error {
	blocks := make([]freetree.Block, 0, len(rs))
	for _, r := range rs {
		b, err := g.block(u, r)
		if err != nil {
			return err
		}
		if k := len(blocks) - 1; k >= 0 && blocks[k].End() == b.Off {
			blocks[k].Size += b.Size
		} else {
			blocks = append(blocks, b)
		}
	}
	m := g.tree.Mark()
	for _, b := range blocks { // what is at the end last, when it is known whether cutting it off is cheap
		if err := g.release(u, b); err != nil {
			return err
		}
	}
	return g.flush(u, m)
}
