// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"
	"math"
	"slices"

	"github.com/holtdb/holt/kv/internal/page"
)

// shrinkStep is what a transaction of Shrink does in another way.
type shrinkStep struct {
	low     bool   // every page goes to the lowest place
	trims   bool   // free pages at the end are given up
	ceiling uint64 // the trees must not push the high water mark beyond this; 0 for no limit
}

// rewrite has the pages of the jobs written anew when tx is committed.
func (tx *Tx) rewrite(jobs []job) {
	for len(jobs) > 0 {
		n := 1
		for n < len(jobs) && slices.EqualFunc(jobs[n].names, jobs[0].names, bytes.Equal) {
			n++
		}
		tx.at(jobs[0].names).rewrite(jobs[:n])
		jobs = jobs[n:]
	}
}

// at returns the bucket at the end of a path that the transaction has just come along.
func (tx *Tx) at(names [][]byte) *Bucket {
	b := tx.root()
	for _, name := range names {
		child := b.editable(name)
		if child == nil {
			tx.corrupt(b.root, "bucket %q is not where its name belongs", name)
		}
		b = child
	}
	return b
}

// rewrite makes nodes of the pages of the jobs, which has them written anew, and puts together those that are to be.
func (b *Bucket) rewrite(jobs []job) {
	w := b.tx.w
	b.FillPercent = maxFill
	b.edit.recent = recentLeaf{} // the shape of the tree changes
	var left *node
	var leaves []*node
	for _, j := range jobs {
		n := b.nodeAt(j.key, j.depth)
		if j.merge && n != left {
			w.join(left, n)
			continue
		}
		if left = n; n.leaf { // a branch may have been joined to another in the end
			leaves = append(leaves, n)
		}
	}
	root := b.edit.node
	for root.page == nil && !root.leaf && len(root.slots) == 1 {
		w.collapse(root)
	}
	for _, n := range leaves {
		b.settleNode(n)
	}
}

// settleNode has rebalance put those branches on the way to n together with their neighbours that have one child left,
// from the top down, so that each of them has one: bbolt panics where it comes to a branch with a single child. A leaf
// without elements, which another program may have left, goes: there is no key that could lead to it.
func (b *Bucket) settleNode(n *node) {
	least := 1
	if n.leaf {
		least = 0
	}
	if n.parent == nil || n.parent.leaf { // of which the root has taken the place
		return
	}
	b.settleNode(n.parent)
	if n.page == nil && len(n.slots) <= least {
		b.lost(n)
	}
}

// nodeAt returns the node that key leads to, so many levels below the root or a leaf above that, with nodes for the whole
// way to it.
func (b *Bucket) nodeAt(key []byte, depth int) *node {
	n, search := b.rootNode(), page.SearchFor(key)
	for ; depth > 0 && !n.leaf; depth-- {
		n = b.tx.w.child(n, b.tx.w.searchChild(n, key, &search))
	}
	return n
}

// join appends a node to its left neighbour, and the branches above them likewise up to one that they share. What comes
// out may be far larger than a page; it is split when it is written.
func (w *writer) join(left, right *node) {
	if left.parent != right.parent {
		if left.parent == nil || right.parent == nil {
			w.tx.corrupt(right.id, "page %d lies deeper than its neighbour, or less deep", right.id)
		}
		w.join(left.parent, right.parent)
	}
	w.open(right.parent)
	w.merge(left, right, w.indexOf(right))
}

// trim gives up the free pages at the end of the file: they lie above the high water mark from this commit on. If it
// fails they are free again, like those that were allocated.
func (tx *Tx) trim() {
	w := tx.w
	w.shrink.ceiling = 0 // the free list has to go somewhere
	if !w.shrink.trims {
		return
	}
	end := tx.db.freelist.cutTail(tx.meta.HWM)
	for id := end; id < tx.meta.HWM; {
		n := min(tx.meta.HWM-id, math.MaxUint32)
		w.allocated = append(w.allocated, run{id, uint32(n)})
		id += n
	}
	tx.meta.HWM = end
}

// cutTail takes the free pages directly below hwm out of the set, and returns the lowest of them, or hwm.
func (f *freelist) cutTail(hwm uint64) (end uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	end = f.tail(hwm)
	f.free.RemoveRun(end, int(hwm-end))
	return end
}

// tail is the lowest page from which on all pages below hwm are free. The caller holds f.mu.
func (f *freelist) tail(hwm uint64) uint64 {
	for hwm > 2 && f.free.Has(hwm-1) {
		hwm--
	}
	return hwm
}
