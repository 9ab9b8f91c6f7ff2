// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree

import "iter"

// Len is the number of blocks.
func (t *Tree) Len() int { return int(t.length) }

// Bytes is the sum of the sizes of all blocks.
func (t *Tree) Bytes() int64 { return t.bytes }

// Root is the offset of the root of the tree on the disk, 0 if there is none.
func (t *Tree) Root() int64 { return t.nodes[t.root[bySize]].Off }

// BestFit is the smallest block of at least need bytes, of those the one with the lowest offset.
func (t *Tree) BestFit(need int64) (Block, bool) {
	best := int32(0)
	for i := t.root[bySize]; i != 0; {
		n := &t.nodes[i]
		if n.Size >= need {
			best, i = i, n.links[bySize].child[left]
		} else {
			i = n.links[bySize].child[right]
		}
	}
	return t.block(best)
}

// Largest is the largest block, of those the one with the highest offset.
func (t *Tree) Largest() (Block, bool) { return t.block(t.outermost(bySize, t.root[bySize], right)) }

// Last is the block with the highest offset.
func (t *Tree) Last() (Block, bool) { return t.block(t.outermost(byAddress, t.root[byAddress], right)) }

// Floor is the last block with an offset of off or below.
func (t *Tree) Floor(off int64) (Block, bool) {
	below, at, _ := t.around(byAddress, Block{Off: off})
	if at != 0 {
		return t.block(at)
	}
	return t.block(below)
}

// Ceiling is the first block with an offset of off or above.
func (t *Tree) Ceiling(off int64) (Block, bool) {
	_, at, above := t.around(byAddress, Block{Off: off})
	if at != 0 {
		return t.block(at)
	}
	return t.block(above)
}

// Overlap is the last block that has bytes of b, which is not empty.
func (t *Tree) Overlap(b Block) (Block, bool) {
	// Blocks are disjoint: if the last one that begins before the end of b does not reach into it, none does.
	f, ok := t.Floor(b.End() - 1)
	if !ok || f.End() <= b.Off {
		return Block{}, false
	}
	return f, true
}

// Neighbours are the blocks that b, which overlaps none and is not empty, could be merged with: one that ends where it
// begins, and one that begins where it ends. Each may be the zero block for none.
func (t *Tree) Neighbours(b Block) (before, after Block) {
	below, _, above := t.around(byAddress, b)
	if n := &t.nodes[below]; below != 0 && n.End() == b.Off {
		before = n.Block
	}
	if n := &t.nodes[above]; above != 0 && n.Off == b.End() {
		after = n.Block
	}
	return before, after
}

func (t *Tree) block(i int32) (Block, bool) { return t.nodes[i].Block, i != 0 }

// BySize yields all blocks by size and offset, ascending. The tree must not change meanwhile.
func (t *Tree) BySize() iter.Seq[Block] { return t.blocks(bySize) }

// ByAddress yields all blocks by offset, ascending. The tree must not change meanwhile.
func (t *Tree) ByAddress() iter.Seq[Block] { return t.blocks(byAddress) }

// Images yields all nodes as they lie on the disk, ascending by offset. The tree must not change meanwhile.
func (t *Tree) Images() iter.Seq[Image] {
	return func(yield func(Image) bool) {
		for i := range t.slots(byAddress) {
			if !yield(t.image(i)) {
				return
			}
		}
	}
}

func (t *Tree) blocks(o order) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		for i := range t.slots(o) {
			if !yield(t.nodes[i].Block) {
				return
			}
		}
	}
}

// slots yields the nodes in an order.
func (t *Tree) slots(o order) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		var waiting path // nodes whose left subtree is under way
		for i := t.root[o]; i != 0 || waiting.n > 0; {
			for ; i != 0; i = t.nodes[i].links[o].child[left] {
				waiting.push(i, left)
			}
			waiting.n--
			i = waiting.at[waiting.n]
			if !yield(i) {
				return
			}
			i = t.nodes[i].links[o].child[right]
		}
	}
}
