// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package freetree is the index of the free blocks of an allocator that keeps it on the disk as a tree: each free block
// begins with its own node.
//
// A [Tree] holds disjoint blocks in two AVL trees over one pool of nodes. The one by size and address is also what
// lies on the disk, node for node: [Tree.Changes] has the nodes to write, [Load] adopts a tree as it was written. The
// one by address is in memory only; it finds the neighbours of a block.
//
// Changes can be taken back: [Tree.Mark], [Tree.Rewind], and [Tree.Settle] once they are durable. Apart from growing
// its slices, and from its iterators, a tree allocates nothing. It is for one goroutine at a time.
package freetree

import (
	"errors"
	"fmt"
	"math"
)

// ErrFull is returned by Insert, Build and Load for more blocks than a pool can number.
var ErrFull = errors.New("freetree: too many free blocks")

// Block is a stretch of free bytes. Neither field of a block in a tree is zero.
type Block struct{ Off, Size int64 }

// End is the offset behind the block.
func (b Block) End() int64 { return b.Off + b.Size }

func (b Block) String() string { return fmt.Sprintf("[%d,%d)", b.Off, b.End()) }

// Tree holds disjoint free blocks. Check verifies what always holds, but for (7), which is about changes:
//
//	(1) by size: every node lies strictly between its left and its right subtree in order of (size, offset);
//	(2) by address: the same in order of offset, and blocks are disjoint;
//	(3) every link knows the heights of its two subtrees, and they differ by one at most;
//	(4) every slot of the pool but the first is in both trees or in the list of free slots, never both;
//	(5) length and bytes are the number of blocks and the sum of their sizes;
//	(6) log: no node has a timestamp that lies ahead;
//	(7) a node's offset only changes after the node above it in the order of size was logged, so that what a node says of
//	    its children's offsets has changed only if it, or the slot of a child, is younger.
type Tree struct {
	nodes []node // the pool; slot 0 is nobody
	head
	limit int // slots

	log   []entry // how nodes were before changes, oldest first
	base  int64   // timestamp of the log's first entry
	since int64   // timestamp of the newest mark: what was logged from then on need not be logged again

	changes []Image // for Changes
}

// head is what a tree has besides its nodes.
type head struct {
	root   [2]int32 // in each order
	free   int32    // first of the free slots
	length int32    // blocks
	bytes  int64    // sum of their sizes
}

// New is a tree without blocks.
func New() *Tree {
	// Timestamps begin at 1: what is new has that of no log entry, 0.
	return &Tree{nodes: make([]node, 1), limit: math.MaxInt32, base: 1, since: 1}
}

// Insert adds a block, which must not overlap any other. It does not merge it with its neighbours. The error is
// ErrFull.
func (t *Tree) Insert(b Block) error {
	below, at, above := t.around(byAddress, b)
	if at != 0 {
		below = at
	}
	t.mustFit(b, below, above)
	i, err := t.take(b)
	if err != nil {
		return err
	}
	t.insert(bySize, i)
	t.insert(byAddress, i)
	t.length++
	t.bytes += b.Size
	return nil
}

// Remove takes a block away that is in the tree.
func (t *Tree) Remove(b Block) {
	i := t.remove(bySize, b)
	t.remove(byAddress, b)
	t.release(i)
	t.length--
	t.bytes -= b.Size
}

// Replace changes the bounds of a block that is in the tree, to where they overlap no other block and jump over none.
// It is cheaper than Remove and Insert, and keeps the block's node where it is if its place in the order of size
// allows.
func (t *Tree) Replace(old, b Block) {
	lower, _, upper := t.around(byAddress, old)
	t.mustFit(b, lower, upper)
	below, i, above := t.around(bySize, old)
	if i == 0 {
		panic(fmt.Sprintf("freetree: no free block %v", old))
	}
	if t.between(bySize, b, below, above) {
		if b.Off != old.Off {
			t.touchAbove(bySize, old)
		}
		t.assign(i, b)
	} else {
		t.remove(bySize, old)
		t.assign(i, b)
		t.insert(bySize, i)
	}
	t.bytes += b.Size - old.Size
}

// mustFit makes sure that b overlaps neither neighbour: handing out bytes twice is the one thing worse than a panic.
func (t *Tree) mustFit(b Block, below, above int32) {
	switch {
	case b.Off <= 0 || b.Size <= 0 || b.Size > math.MaxInt64-b.Off:
		panic(fmt.Sprintf("freetree: not a block: %d bytes at %d", b.Size, b.Off))
	case below != 0 && t.nodes[below].End() > b.Off:
		panic(fmt.Sprintf("freetree: %v overlaps free %v", b, t.nodes[below].Block))
	case above != 0 && t.nodes[above].Off < b.End():
		panic(fmt.Sprintf("freetree: %v overlaps free %v", b, t.nodes[above].Block))
	}
}
