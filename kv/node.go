// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"
	"encoding/binary"

	"github.com/holtdb/holt/kv/internal/page"
)

// slot is one element of a node: where its bytes lie, not the bytes. It holds no pointers, so that the garbage
// collector has nothing to look for in it.
type slot struct {
	loc   uint64 // of the key: an offset in the file, or inMemory and a place in the writer's arena
	ksize uint32
	vsize uint32 // the value lies directly behind the key, unless slotExternal is set
	ref   uint64 // leaf: the flags below; branch: a page id, or nodeRef and the number of a node
}

const (
	inMemory = 1 << 63 // in slot.loc
	nodeRef  = 1 << 63 // in slot.ref of a branch

	slotBucket   = page.BucketFlag // the value is a bucket
	slotNil      = 1 << 1          // stored as nil: reads back as nil until it is committed
	slotExternal = 1 << 2          // the value is the caller's slice number ref>>32
)

// node is a branch or leaf page that the transaction changes, or the way to one. Its elements point into the mapping
// and the arena; the page is put together when it is written. Where little changes it stays a page, with patches.
//
// Invariants: (1) keys ascend; (2) size is what the page will take in bytes; (3) a branch has a child in nodes exactly
// where a slot says nodeRef, and that child's parent is this node; (4) the shape of the tree stays from the beginning
// of a transaction to its commit, only leaves gain and lose elements.
type node struct {
	slots      []slot
	size       int64
	parent     *node
	sep        slot   // its slot in the parent when it was read, to find the place again
	id         uint64 // the page it was read from, 0 for none
	run        uint32 // how many pages that has
	number     uint32 // of this node: writer.nodes[number]
	gen        uint32 // goes up with every insertion and removal, so that cursors notice
	leaf       bool
	blind      bool // a leaf whose page was not looked at; where the patches belong in it is not known yet
	header     bool // a leaf with the header of a changed bucket
	unbalanced bool // lost elements; rebalance looks at it
	inserts    inserts
	below      uint16 // the type of the children of a branch, once one was loaded

	// As long as page is not nil the node is that page with changes, and has no slots.
	page    page.Page
	base    uint64   // where it lies in the file, in bytes
	patches []patch  // of a leaf
	refs    []uint64 // of a branch, by element: like slot.ref, 0 for what the page says
}

// inserts says where a transaction has put new elements into a node.
type inserts uint8

const (
	noInserts inserts = iota
	atEnd             // each behind all others
	anywhere
)

func elemSize(s slot) int64 { return page.ElemSize + int64(s.ksize) + int64(s.vsize) }

// search finds the first element whose key is not below key, and whether it is equal.
func (w *writer) search(n *node, key []byte) (index int, exact bool) {
	prefix := page.Prefix(key)
	lo, hi := 0, len(n.slots)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		k := w.key(&n.slots[mid])
		if len(k) >= 8 {
			if q := binary.BigEndian.Uint64(k); q < prefix {
				lo = mid + 1
				continue
			} else if q > prefix {
				hi = mid
				continue
			}
		}
		switch c := bytes.Compare(k, key); {
		case c < 0:
			lo = mid + 1
		case c > 0:
			hi = mid
		default:
			return mid, true
		}
	}
	return lo, false
}

// searchChild finds the element of a branch whose subtree key belongs to: the last whose key is not above it, or the
// first. A branch has at least one element.
func (w *writer) searchChild(n *node, key []byte, search *page.Search) int {
	if n.page != nil {
		i := search.Branch(n.page)
		if i < 0 {
			w.tx.badSearch(n.id, n.page)
		}
		return i
	}
	i, exact := w.search(n, key) // which leaves the bounds of the search as wide as they are
	if !exact && i > 0 {
		i--
	}
	return i
}

// insert puts s at index, or in place of what is there.
func (n *node) insert(index int, exact bool, s slot) {
	if exact {
		n.size += elemSize(s) - elemSize(n.slots[index])
		n.slots[index] = s
		return
	}
	n.inserted(index == len(n.slots))
	n.gen++
	n.size += elemSize(s)
	n.slots = append(n.slots, slot{})
	copy(n.slots[index+1:], n.slots[index:])
	n.slots[index] = s
}

// inserted notes where a new element was put.
func (n *node) inserted(last bool) {
	switch {
	case !last:
		n.inserts = anywhere
	case n.inserts == noInserts:
		n.inserts = atEnd
	}
}

// remove takes the element at index out.
func (n *node) remove(index int) {
	n.gen++
	n.size -= elemSize(n.slots[index])
	n.slots = append(n.slots[:index], n.slots[index+1:]...)
}

// indexOf finds the child's element in its parent.
func (w *writer) indexOf(child *node) int {
	p, key := child.parent, w.key(&child.sep)
	search := page.SearchFor(key)
	i := w.searchChild(p, key, &search)
	if w.refAt(p, i) != nodeRef|uint64(child.number) {
		panic("assertion failed: node is not among its parent's children")
	}
	return i
}
