// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import "github.com/holtdb/holt/kv/internal/page"

// rebalance merges the nodes that lost elements into their neighbours, in this bucket and those in it.
func (b *Bucket) rebalance() {
	e := b.edit
	e.recent = recentLeaf{} // the shape of the tree changes from here on
	for _, n := range e.unbalanced {
		b.rebalanceNode(n)
	}
	clear(e.unbalanced)
	e.unbalanced = e.unbalanced[:0]
	for _, child := range e.children {
		child.rebalance()
	}
}

// rebalanceNode merges n with a sibling if it has become too small, and then looks at its parent.
func (b *Bucket) rebalanceNode(n *node) {
	w := b.tx.w
	for n != nil && n.unbalanced {
		w.open(n)
		n.unbalanced = false
		w.stats.Rebalance++
		least := 2
		if n.leaf {
			least = 1
		}
		if n.size > int64(float64(b.tx.pageSize)*b.FillPercent)/2 && len(n.slots) > least {
			return
		}
		if n.parent == nil {
			w.collapse(n)
			return
		}
		parent := n.parent
		w.open(parent)
		switch i := w.indexOf(n); {
		case len(n.slots) == 0:
			w.freePage(n)
			parent.remove(i)
		case len(parent.slots) == 1:
			return // a damaged tree: nothing to merge with
		case i == 0:
			w.merge(n, w.child(parent, 1), 1)
		default:
			w.merge(w.child(parent, i-1), n, i)
		}
		parent.unbalanced = true
		n = parent
	}
}

// merge appends right, whose element in the common parent is index, to left.
func (w *writer) merge(left, right *node, index int) {
	if left.leaf != right.leaf {
		w.tx.corrupt(right.id, "page %d is not of the type of its neighbour", right.id)
	}
	w.open(left)
	w.open(right)
	w.adopt(left, right.slots)
	left.slots = append(left.slots, right.slots...)
	left.size += right.size - page.HeaderSize
	left.gen++
	w.freePage(right)
	right.unbalanced = false
	right.parent.remove(index)
}

// adopt makes parent the parent of the nodes that slots refer to.
func (w *writer) adopt(parent *node, slots []slot) {
	if parent.leaf {
		return
	}
	for i := range slots {
		if ref := slots[i].ref; ref&nodeRef != 0 {
			w.nodes[uint32(ref)].parent = parent
		}
	}
}

// collapse takes the place of a root's only child, and turns a root branch without any into an empty leaf.
func (w *writer) collapse(root *node) {
	if root.leaf || len(root.slots) > 1 {
		return
	}
	if len(root.slots) == 0 {
		root.leaf = true
		return
	}
	child := w.child(root, 0)
	w.open(child)
	root.leaf, root.size, root.below = child.leaf, child.size, child.below
	root.slots = append(root.slots[:0], child.slots...)
	root.gen++
	w.adopt(root, root.slots)
	w.freePage(child)
	child.unbalanced = false
}
