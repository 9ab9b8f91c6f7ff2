// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"fmt"

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

// release makes a block free, up to writing the nodes: it merges it with its neighbours, and cuts off what becomes free at the
// end.
func (g *ghostTree) release(u *stack.Unit, b freetree.Block) error {
	before, after := g.tree.Neighbours(b)
	if b.End() == u.Len() && g.cutTail(before, b) {
		return u.Truncate(b.Off - before.Size)
	}
	if err := u.Zero(b.Off, b.Size); err != nil {
		return err
	}
	whole := freetree.Block{Off: b.Off - before.Size, Size: before.Size + b.Size + after.Size}
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

// cutTail takes the free block before the last one out of the tree, so that both can be cut off, if that is cheap. It is if
// there is none. Otherwise nodes change, and everything from the first of them on has to be written anew: the journal knows
// no other way to change bytes and cut others off at once. So a tail is kept until what is cut off is worth it.
func (g *ghostTree) cutTail(before, b freetree.Block) bool {
	if before.Size == 0 {
		return true
	}
	m := g.tree.Mark()
	g.tree.Remove(before)
	if before.Off-g.lowestChange(m) > max(ghostKeepTail, 2*(before.Size+b.Size)) {
		g.tree.Rewind(m)
		return false
	}
	return true
}

// lowestChange is the offset of the first byte that flush would write.
func (g *ghostTree) lowestChange(m freetree.Mark) int64 {
	if g.tree.RootChanged(m) {
		return ghostRootAt
	}
	off, _ := g.tree.LowestChange(m)
	return off
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
		if k := len(blocks) - 1; k >= 0 {
			if last := &blocks[k]; last.End() > b.Off {
				return fmt.Errorf("%w: the blocks of regions at %d and before overlap", ErrNotAllocated, b.Off)
			} else if last.End() == b.Off {
				last.Size += b.Size
				continue
			}
		}
		blocks = append(blocks, b)
	}
	m := g.tree.Mark()
	for k := len(blocks) - 1; k >= 0; k-- { // so that what is at the end is cut off
		if err := g.release(u, blocks[k]); err != nil {
			return err
		}
	}
	return g.flush(u, m)
}
