// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import "sync/atomic"

// heldPages remembers which pages were held against their ranges, so that this is done the first time that a
// transaction comes to them and costs no more than a look in here ever after. It belongs to a mapping.
//
// There is an entry for each page: the place in a branch that led to it. Where that is found the branch still leads to
// that page, as the pages that a transaction sees do not change. A branch that is written where another was may be
// taken for held on the word of the other; it comes from this process, whose nodes were held when they were read.
type heldPages []atomic.Pointer[heldChunk]

// heldChunk has the entries of neighbouring pages. It is made when the first of them is held.
type heldChunk [heldChunkLen]atomic.Uint64

const heldChunkLen = 1 << 12 // 32 KiB for 16 MiB of a file

// newHeldPages makes room for a number of pages.
func newHeldPages(pages uint64) heldPages {
	return make(heldPages, (pages+heldChunkLen-1)/heldChunkLen)
}

// has says whether page child was held as the one that element i of a branch leads to. There need not be such a page.
func (h heldPages) has(branch uint64, i int, child uint64) bool {
	at := child / heldChunkLen
	if at >= uint64(len(h)) {
		return false
	}
	c := h[at].Load()
	return c != nil && c[child%heldChunkLen].Load() == heldEntry(branch, i)
}

// add remembers it.
func (h heldPages) add(branch uint64, i int, child uint64) {
	at := &h[child/heldChunkLen]
	c := at.Load()
	if c == nil {
		at.CompareAndSwap(nil, new(heldChunk)) // or else another transaction just did
		c = at.Load()
	}
	c[child%heldChunkLen].Store(heldEntry(branch, i))
}

// heldEntry is never 0: page 0 is no branch. A branch has less than 2^16 elements, a mapping less than 2^48 pages.
func heldEntry(branch uint64, i int) uint64 { return branch<<16 | uint64(i) }
