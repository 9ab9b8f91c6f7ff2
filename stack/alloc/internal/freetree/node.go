// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree

// link is a node's part in one of the orders. The heights of the children are here so that a rotation need not look at
// their children.
type link struct {
	child  [2]int32
	height [2]uint8
}

// Sides of a node.
const (
	left  = 0
	right = 1
)

func (l *link) tall() uint8 { return 1 + max(l.height[left], l.height[right]) }

func (l *link) balanced() bool {
	return l.height[left] <= l.height[right]+1 && l.height[right] <= l.height[left]+1
}

// node is a slot of the pool. If no block is in it, its size is 0 and the left child by size the next free slot.
type node struct {
	Block
	links  [2]link
	born   int64 // timestamp of when the block got its offset
	logged int64 // timestamp of the last log entry of this node
}

// take puts a block into a free slot, in none of the orders yet.
func (t *Tree) take(b Block) (int32, error) {
	i := t.free
	if i == 0 {
		if len(t.nodes) > t.limit {
			return 0, ErrFull
		}
		i = int32(len(t.nodes))
		t.nodes = append(t.nodes, node{})
	} else {
		t.free = t.nodes[i].links[bySize].child[left]
	}
	t.assign(i, b)
	return i, nil
}

// assign says which block is in a slot. If its offset changes, nothing may rely on it: see (7).
func (t *Tree) assign(i int32, b Block) {
	t.touch(i)
	n := &t.nodes[i]
	if n.Off != b.Off {
		n.born = n.logged
	}
	n.Block = b
}

// release puts a slot into the list of free ones.
func (t *Tree) release(i int32) {
	t.touch(i)
	n := &t.nodes[i]
	*n = node{logged: n.logged}
	n.links[bySize].child[left] = t.free
	t.free = i
}
