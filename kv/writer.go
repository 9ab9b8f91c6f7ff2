// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"
	"slices"

	"github.com/holtdb/holt/kv/internal/page"
	"github.com/holtdb/holt/kv/internal/pageset"
)

const (
	// maxDepth bounds the way from a root to a leaf. A branch has at least two children, so that 2^64 pages make no
	// deeper tree; more means that the pages form a cycle.
	maxDepth = 64

	// externalMin is the length in bytes from which a value is kept as the caller's slice, and written from there,
	// instead of being copied.
	externalMin = 2048

	// What is kept of a writer's memory for the next transaction.
	keepNodes = 1 << 14
	keepSlots = 1 << 10 // per node
	keepRefs  = 1 << 16
	leastRefs = 1 << 10
)

// writer is the workspace of a write transaction: its nodes, the bytes put into them, the pages to write. The database
// has one and hands it from transaction to transaction, so that a small commit needs no memory of its own.
type writer struct {
	tx    *Tx
	nodes []*node // nodes[:used] are this transaction's
	used  int
	refs  []uint64 // what refs of branches are cut from
	mem   arena    // keys and small values
	ext   [][]byte // large values, as they were given
	stats TxStats

	hwm       uint64 // of the file when the transaction began
	allocated []run  // pages taken by this commit, to give back if it fails
	freed     []run  // pages of the old tree, pending once it succeeds
	extents   extents
	shrink    shrinkStep

	// plain are the pages that a transaction has found, or written, to be single, with elements side by side, the keys in
	// order, and no buckets, so that this is looked at once.
	plain   pageset.Set
	changes []page.Change
	touched byte // of pages that were touched; it has no meaning

	images  arena      // pages as they will be written
	dirty   []dirtyRun // in any order
	segs    [][]byte   // the bytes of the dirty runs
	iov     [][]byte
	sums    []page.RunSum // what was written, for a paired meta page
	written int           // bytes of them
	early   bool          // pages were written before the commit was complete
	meta    []byte        // the meta page to write
	oldMeta []byte        // what it replaces
	zeros   []byte        // a page of them
	outs    []slot        // stack of spill: what nodes have become
	names   []string      // stack of spill: children in order
}

// run is a number of consecutive pages.
type run struct {
	id uint64
	n  uint32
}

func newWriter(pageSize int) *writer {
	return &writer{
		meta:    make([]byte, pageSize),
		oldMeta: make([]byte, pageSize),
		zeros:   make([]byte, pageSize),
	}
}

// reset makes w ready for the next transaction.
func (w *writer) reset() {
	for i, n := range w.nodes[:w.used] {
		if i >= keepNodes || cap(n.slots) > keepSlots {
			w.nodes[i] = nil
		}
	}
	if len(w.nodes) > keepNodes {
		clear(w.nodes[keepNodes:])
		w.nodes = w.nodes[:keepNodes]
	}
	w.used = 0
	if w.refs = w.refs[:0]; cap(w.refs) > keepRefs {
		w.refs = nil
	}
	w.mem.reset()
	w.images.reset()
	w.ext, w.segs, w.iov, w.names = emptied(w.ext), emptied(w.segs), emptied(w.iov), emptied(w.names)
	w.allocated, w.freed, w.dirty, w.outs = emptied(w.allocated), emptied(w.freed), emptied(w.dirty), emptied(w.outs)
	w.sums, w.written, w.early = emptied(w.sums), 0, false
	w.extents, w.shrink = extents{}, shrinkStep{}
	w.stats = TxStats{}
	w.tx = nil
}

// emptied returns s without its elements, and without its memory if that is much.
func emptied[T any](s []T) []T {
	if cap(s) > keepSlots {
		return nil
	}
	clear(s)
	return s[:0]
}

// forget drops a large value that an element had. A caller that got it keeps it alive.
func (w *writer) forget(s slot) {
	if s.ref&slotExternal != 0 {
		w.ext[s.ref>>32] = nil
	}
}

// newNode returns an empty node.
func (w *writer) newNode(leaf bool) *node {
	if w.used == len(w.nodes) {
		w.nodes = append(w.nodes, nil)
	}
	n := w.nodes[w.used]
	if n == nil {
		n = &node{}
		w.nodes[w.used] = n
	}
	*n = node{
		slots: n.slots[:0], patches: n.patches[:0],
		size: page.HeaderSize, number: uint32(w.used), gen: n.gen + 1, leaf: leaf,
	}
	w.used++
	w.stats.NodeCount++
	return n
}

// bytes returns the n bytes at loc.
func (w *writer) bytes(loc uint64, n uint32) []byte {
	if loc&inMemory == 0 {
		end := loc + uint64(n)
		return w.tx.data[loc:end:end]
	}
	return w.mem.at(loc&^inMemory, n)
}

func (w *writer) key(s *slot) []byte { return w.bytes(s.loc, s.ksize) }

// value returns the value of a leaf's element as it was stored.
func (w *writer) value(s *slot) []byte {
	switch {
	case s.ref&slotExternal != 0:
		return slices.Clip(w.ext[s.ref>>32])
	case s.ref&slotNil != 0:
		return nil
	case s.loc&inMemory == 0:
		v, end := s.loc+uint64(s.ksize), s.loc+uint64(s.ksize)+uint64(s.vsize)
		return w.tx.data[v:end:end]
	}
	return w.mem.at(s.loc&^inMemory, s.ksize+s.vsize)[s.ksize:]
}

// copyKey takes a copy of key with room for extra bytes behind it.
func (w *writer) copyKey(key []byte, extra int) (s slot, room []byte) {
	loc, buf := w.mem.alloc(len(key) + extra)
	copy(buf, key)
	return slot{loc: loc | inMemory, ksize: uint32(len(key)), vsize: uint32(extra)}, buf[len(key):]
}

// element makes a slot of a key and a value that the caller may change again, unless it is large.
func (w *writer) element(key, value []byte) slot {
	if len(value) >= externalMin {
		s, _ := w.copyKey(key, 0)
		s.vsize = uint32(len(value))
		s.ref = slotExternal | uint64(len(w.ext))<<32
		w.ext = append(w.ext, value)
		return s
	}
	s, room := w.copyKey(key, len(value))
	copy(room, value)
	if value == nil {
		s.ref = slotNil
	}
	return s
}

// read makes a node of page p, whose first byte lies at offset base of the file or of memory. The last byte of its
// elements lies before end of the page.
func (w *writer) read(p page.Page, base, id uint64) (n *node, end uint64) {
	n = w.newNode(p.Flags() == page.Leaf)
	w.grow(n, p.Count())
	if n.leaf {
		end = w.readLeaf(n, p, base, id)
	} else {
		end = w.readBranch(n, p, base, id)
	}
	w.checkOrder(n, p, id)
	if n.size > int64(len(p)) { // written anew they would not overlap
		w.tx.overlapping(id, n.size, p)
	}
	return n, end
}

// grow gives n so many slots, and room for some more.
func (w *writer) grow(n *node, count int) {
	if cap(n.slots) < count {
		n.slots = make([]slot, 0, count+count/8+8)
	}
	n.slots = n.slots[:count]
}

// readLeaf fills the slots of a leaf.
func (w *writer) readLeaf(n *node, p page.Page, base, id uint64) (end uint64) {
	bytes := uint64(0)
	for i := range n.slots {
		flags, off, ksize, vsize, ok := p.LeafSpan(i)
		if !ok {
			w.tx.badElement(w.tx.home(id, p), i)
		}
		if flags &= page.BucketFlag; id == 0 && flags != 0 {
			w.tx.badInline(w.tx.home(id, p), i)
		}
		n.slots[i] = slot{loc: base + off, ksize: ksize, vsize: vsize, ref: uint64(flags)}
		size := uint64(ksize) + uint64(vsize)
		bytes += size
		end = max(end, off+size)
	}
	table := page.HeaderSize + page.ElemSize*len(n.slots)
	n.size = int64(table) + int64(bytes)
	return max(end, uint64(table))
}

// readBranch fills the slots of a branch.
func (w *writer) readBranch(n *node, p page.Page, base, id uint64) (end uint64) {
	if len(n.slots) == 0 {
		w.tx.emptyBranch(id)
	}
	bytes := uint64(0)
	for i := range n.slots {
		off, ksize, ok := p.BranchSpan(i)
		if !ok {
			w.tx.badElement(id, i)
		}
		child := p.Child(i)
		if child&nodeRef != 0 {
			w.tx.badChild(id, i, child)
		}
		n.slots[i] = slot{loc: base + off, ksize: ksize, ref: child}
		bytes += uint64(ksize)
		end = max(end, off+uint64(ksize))
	}
	table := page.HeaderSize + page.ElemSize*len(n.slots)
	n.size = int64(table) + int64(bytes)
	return max(end, uint64(table))
}

// checkOrder panics unless the keys of n, just read from page p, ascend.
func (w *writer) checkOrder(n *node, p page.Page, id uint64) {
	for i := 1; i < len(n.slots); i++ {
		if key := w.key(&n.slots[i]); bytes.Compare(w.key(&n.slots[i-1]), key) >= 0 {
			w.tx.unordered(w.tx.home(id, p), i, key)
		}
	}
}

// sound returns page id, whose keys are to be in r.
func (w *writer) sound(id uint64, r keyRange) page.Page {
	p := w.tx.page(id)
	if w.tx.db.freelist.listed(id) {
		w.tx.corrupt(id, "page %d: reachable freed", id)
	}
	w.tx.hold(id, p, r)
	return p
}

// load makes a node of page id, whose keys are to be in r.
func (w *writer) load(id uint64, r keyRange) *node {
	tx := w.tx
	p := w.sound(id, r)
	base := id * uint64(tx.pageSize)
	if w.patchable(id, p) {
		return w.keep(p, base, id)
	}
	n, end := w.read(p, base, id)
	tx.checkSpare(id, p, end)
	if p.Overflow() == 0 && isPlain(p, n.leaf) && n.isDense(base) {
		w.plain.Add(id)
	}
	n.id, n.run = id, p.Overflow()+1
	return n
}

// child returns the node of element i of a branch, made on demand.
func (w *writer) child(n *node, i int) *node {
	ref := w.refAt(n, i)
	if ref&nodeRef != 0 {
		return w.nodes[uint32(ref)]
	}
	r := w.below(n, i)
	c := w.load(ref, r)
	n.below = r.flags
	w.hang(n, i, c)
	return c
}

// hang makes c the node of element i of a branch.
func (w *writer) hang(n *node, i int, c *node) {
	c.parent, c.sep = n, w.slotAt(n, i)
	n.setRef(i, nodeRef|uint64(c.number))
}
