// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree

import "fmt"

// order is one of the two orders of the blocks.
type order uint8

const (
	bySize    order = iota // and by offset among blocks of one size
	byAddress              // by offset
)

func (o order) less(a, b Block) bool {
	if o == bySize && a.Size != b.Size {
		return a.Size < b.Size
	}
	return a.Off < b.Off
}

// maxDepth is more than any tree in a pool can have: an AVL tree of 2^31 nodes is at most 45 deep.
const maxDepth = 48

// path is the way from the root down to a node, or to where it would be: the nodes above, and the side to go on at
// each.
type path struct {
	at   [maxDepth]int32
	side [maxDepth]uint8
	n    int
}

func (p *path) push(i int32, side uint8) {
	p.at[p.n], p.side[p.n] = i, side
	p.n++
}

// descend finds the node of a block, 0 if there is none.
func (t *Tree) descend(o order, b Block, p *path) int32 {
	i := t.root[o]
	for i != 0 {
		n := &t.nodes[i]
		side := uint8(left)
		if o.less(n.Block, b) {
			side = right
		} else if !o.less(b, n.Block) {
			break
		}
		p.push(i, side)
		i = n.links[o].child[side]
	}
	return i
}

// around finds the node of a block and those next to it in the order, 0 for each that is not there.
func (t *Tree) around(o order, b Block) (below, at, above int32) {
	for i := t.root[o]; i != 0; {
		n := &t.nodes[i]
		l := &n.links[o]
		switch {
		case o.less(n.Block, b):
			below, i = i, l.child[right]
		case o.less(b, n.Block):
			above, i = i, l.child[left]
		default:
			if c := l.child[left]; c != 0 {
				below = t.outermost(o, c, right)
			}
			if c := l.child[right]; c != 0 {
				above = t.outermost(o, c, left)
			}
			return below, i, above
		}
	}
	return below, 0, above
}

// outermost is the last node on a side of a subtree, 0 if that is empty.
func (t *Tree) outermost(o order, i int32, side uint8) int32 {
	for i != 0 {
		next := t.nodes[i].links[o].child[side]
		if next == 0 {
			break
		}
		i = next
	}
	return i
}

// between says whether a block lies between those of two nodes in the order, where 0 is no bound.
func (t *Tree) between(o order, b Block, below, above int32) bool {
	return (below == 0 || o.less(t.nodes[below].Block, b)) && (above == 0 || o.less(b, t.nodes[above].Block))
}

// touchAbove logs the node above that of a block, whose offset is about to change.
func (t *Tree) touchAbove(o order, b Block) {
	var p path
	t.descend(o, b, &p)
	if p.n > 0 {
		t.touch(p.at[p.n-1])
	}
}

// insert puts a node, which has been logged, to where its block belongs in an order.
func (t *Tree) insert(o order, i int32) {
	var p path
	t.descend(o, t.nodes[i].Block, &p)
	t.nodes[i].links[o] = link{}
	t.ascend(o, &p, i, 1)
}

// remove takes the node of a block out of an order.
func (t *Tree) remove(o order, b Block) int32 {
	var p path
	i := t.descend(o, b, &p)
	if i == 0 {
		panic(fmt.Sprintf("freetree: no free block %v", b))
	}
	t.unlink(o, &p, i)
	return i
}
