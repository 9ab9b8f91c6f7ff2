// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// alloc implements policy.
func (g *ghostTree) alloc(u *stack.Unit, n int64, zero bool) (off int64, err error) {
	need := ghostSize(n)
	m := g.tree.Mark()
	b, ok := g.tree.BestFit(need)
	if !ok && g.adjacent {
		if err := g.coalesce(u); err != nil {
			return 0, err
		}
		m = g.tree.Mark() // nodes that are now as they were before have been written otherwise
		b, ok = g.tree.BestFit(need)
	}
	if !ok {
		return g.extend(u, m, need)
	}
	if off, err = g.take(b, need); err != nil {
		return 0, err
	}
	if off == b.Off { // all of it: its node was there
		if !zero {
			n = min(n, freetree.NodeSize)
		} else {
			n = 0
		}
		if err := u.Zero(off+n, freetree.NodeSize-n); err != nil {
			return 0, err
		}
	}
	return off, g.flush(u, m)
}

// take takes the last bytes of a free block. What is left of it is put into the tree anew, as every program does that
// writes this format: the same calls lead to the same bytes.
func (g *ghostTree) take(b freetree.Block, need int64) (off int64, err error) {
	g.tree.Remove(b)
	if b.Size > need {
		err = g.tree.Insert(freetree.Block{Off: b.Off, Size: b.Size - need})
	}
	return b.End() - need, err
}

// extend takes bytes from the end of the payload, which grows.
func (g *ghostTree) extend(u *stack.Unit, m freetree.Mark, need int64) (off int64, err error) {
	last, ok := g.tree.Last()
	if !ok || last.End() != u.Len() {
		return u.Extend(need)
	}
	if _, err := u.Extend(need - last.Size); err != nil {
		return 0, err
	}
	g.tree.Remove(last)
	if err := u.Zero(last.Off, freetree.NodeSize); err != nil {
		return 0, err
	}
	return last.Off, g.flush(u, m)
}

// allocBulk implements policy. It takes one block for all if there is one.
func (g *ghostTree) allocBulk(u *stack.Unit, lens, offs []int64) (err error) {
	var total int64
	for _, n := range lens {
		if n > 0 {
			total += ghostSize(n)
		}
	}
	if _, ok := g.tree.BestFit(total); !ok {
		return bulk{g}.allocBulk(u, lens, offs)
	}
	off, err := g.alloc(u, total, true)
	for i, n := range lens {
		if n > 0 {
			offs[i] = off
			off += ghostSize(n)
		}
	}
	return err
}

// coalesce merges free blocks that touch, which only files that others wrote have.
func (g *ghostTree) coalesce(u *stack.Unit) error {
	m := g.tree.Mark()
	for b, ok := g.tree.Ceiling(ghostArena); ok; {
		next, more := g.tree.Ceiling(b.End())
		if more && next.Off == b.End() {
			whole := freetree.Block{Off: b.Off, Size: b.Size + next.Size}
			g.tree.Remove(next)
			g.tree.Replace(b, whole)
			if err := u.Zero(next.Off, freetree.NodeSize); err != nil {
				return err
			}
			b = whole
			continue
		}
		b, ok = next, more
	}
	if err := g.flush(u, m); err != nil {
		return err
	}
	g.adjacent = false
	return nil
}
