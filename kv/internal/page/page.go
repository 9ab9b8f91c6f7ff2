// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package page knows the bytes of a kv file: headers, metas, element tables and bucket values, and nothing of trees or
// transactions. kv/FORMAT.md specifies them.
//
// A [Page] is a run of pages viewed in place. Its methods read whatever the bytes say; those that follow a position or
// a length found in the page report with ok == false what would lead out of the run, so that a damaged file can be
// answered with an error. Integers are in the byte order of the machine.
package page

import (
	"encoding/binary"
	"fmt"
)

// Sizes in bytes of the fixed parts.
const (
	HeaderSize   = 16   // page header, at the start of every run
	ElemSize     = 16   // one record of an element table, and the value header of a bucket
	MetaSize     = 64   // meta record, directly behind the page header
	BucketHeader = 16   // root page id and sequence, at the start of a bucket's value
	MinSize      = 1024 // the least page size: the second meta page of a file with smaller ones is not found
)

// Flags of the page header: the type of a page is exactly one of them.
const (
	Branch   = 0x01
	Leaf     = 0x02
	Meta     = 0x04
	Freelist = 0x10
)

// BucketFlag in a leaf element says that the value is a bucket.
const BucketFlag = 0x01

// MaxCount is the first element count that a header cannot hold as such: a free list page with it keeps the real count
// in its first slot, a branch or leaf page never reaches it.
const MaxCount = 0xFFFF

// NoFreelist stands in the meta in place of a free list page when none is stored.
const NoFreelist = ^uint64(0)

var ne = binary.NativeEndian

// Page is a page and its overflow pages, viewed in place.
type Page []byte

// ID is the page's own id; 0 inside an inline bucket.
func (p Page) ID() uint64 { return ne.Uint64(p[0:8]) }

// Flags is the page type.
func (p Page) Flags() uint16 { return ne.Uint16(p[8:10]) }

// Count is the number of elements.
func (p Page) Count() int { return int(ne.Uint16(p[10:12])) }

// Overflow is the number of pages that continue this one.
func (p Page) Overflow() uint32 { return ne.Uint32(p[12:16]) }

// SetID changes the id.
func (p Page) SetID(id uint64) { ne.PutUint64(p[0:8], id) }

// PutHeader writes the whole header.
func (p Page) PutHeader(id uint64, flags uint16, count int, overflow uint32) {
	h := p[:HeaderSize]
	ne.PutUint64(h[0:8], id)
	ne.PutUint16(h[8:10], flags)
	ne.PutUint16(h[10:12], uint16(count))
	ne.PutUint32(h[12:16], overflow)
}

// TableFits says whether the element table of a branch or leaf page lies inside the run.
func (p Page) TableFits() bool { return len(p) >= HeaderSize+ElemSize*p.Count() }

// Elem gives record i of the element table. It panics beyond the run.
func (p Page) Elem(i int) *[ElemSize]byte {
	return (*[ElemSize]byte)(p[HeaderSize+ElemSize*i:])
}

// LeafFlags of a leaf record.
func LeafFlags(e *[ElemSize]byte) uint32 { return ne.Uint32(e[0:4]) }

// LeafBounds says where in the run the key of leaf record e, number i, starts, where its value does, and where that
// ends.
func LeafBounds(e *[ElemSize]byte, i int) (key, value, end uint64) {
	key = uint64(HeaderSize+ElemSize*i) + uint64(ne.Uint32(e[4:8]))
	value = key + uint64(ne.Uint32(e[8:12]))
	return key, value, value + uint64(ne.Uint32(e[12:16]))
}

// LeafElem gives element i of a leaf page; ok is false where key or value would leave the run.
func (p Page) LeafElem(i int) (flags uint32, key, value []byte, ok bool) {
	e := p.Elem(i)
	k, v, end := LeafBounds(e, i)
	if end > uint64(len(p)) {
		return 0, nil, nil, false
	}
	return LeafFlags(e), p[k:v:v], p[v:end:end], true
}

// Touch reads a byte of each line of a CPU's cache, so that they are fetched side by side: those who then read here and
// there, and copy the rest, need not wait for one after the other. The result has no meaning.
func (p Page) Touch() (sum byte) {
	for ; len(p) >= 64; p = p[64:] {
		sum |= p[0]
	}
	return sum
}

// HasBuckets says whether an element of a leaf page is a bucket.
func (p Page) HasBuckets() bool {
	var flags uint32
	for table := p[HeaderSize : HeaderSize+ElemSize*p.Count()]; len(table) >= ElemSize; table = table[ElemSize:] {
		flags |= ne.Uint32(table[0:4])
	}
	return flags&BucketFlag != 0
}

// LeafSpan locates element i of a leaf page: the key starts at off of the run, the value directly behind it.
func (p Page) LeafSpan(i int) (flags uint32, off uint64, ksize, vsize uint32, ok bool) {
	e := p.Elem(i)
	off = uint64(HeaderSize+ElemSize*i) + uint64(ne.Uint32(e[4:8]))
	ksize, vsize = ne.Uint32(e[8:12]), ne.Uint32(e[12:16])
	return ne.Uint32(e[0:4]), off, ksize, vsize, off+uint64(ksize)+uint64(vsize) <= uint64(len(p))
}

// Span locates element i, whatever the type of the page: the key starts at off of the run, the value of one in a leaf
// directly behind it.
func (p Page) Span(i int) (off uint64, ksize, vsize uint32, ok bool) {
	if p.Flags() == Branch {
		off, ksize, ok = p.BranchSpan(i)
		return off, ksize, 0, ok
	}
	_, off, ksize, vsize, ok = p.LeafSpan(i)
	return off, ksize, vsize, ok
}

// Key gives the key of element i, whatever the type of the page; ok is false where the element would leave the run.
func (p Page) Key(i int) (key []byte, ok bool) {
	if p.Flags() == Branch {
		return p.BranchKey(i)
	}
	k, v, end := LeafBounds(p.Elem(i), i)
	if end > uint64(len(p)) {
		return nil, false
	}
	return p[k:v:v], true
}

// PutLeafElem writes record i; the key starts at off of the run.
func (p Page) PutLeafElem(i int, flags uint32, off int, ksize, vsize uint32) {
	at := HeaderSize + ElemSize*i
	e := p[at : at+ElemSize : at+ElemSize]
	ne.PutUint32(e[0:4], flags)
	ne.PutUint32(e[4:8], uint32(off-at))
	ne.PutUint32(e[8:12], ksize)
	ne.PutUint32(e[12:16], vsize)
}

// BranchKey gives the key of element i of a branch page.
func (p Page) BranchKey(i int) (key []byte, ok bool) {
	off, ksize, ok := p.BranchSpan(i)
	if !ok {
		return nil, false
	}
	end := off + uint64(ksize)
	return p[off:end:end], true
}

// BranchSpan locates the key of element i of a branch page.
func (p Page) BranchSpan(i int) (off uint64, ksize uint32, ok bool) {
	e := p.Elem(i)
	off = uint64(HeaderSize+ElemSize*i) + uint64(ne.Uint32(e[0:4]))
	ksize = ne.Uint32(e[4:8])
	return off, ksize, off+uint64(ksize) <= uint64(len(p))
}

// Child is the page id of element i of a branch page.
func (p Page) Child(i int) uint64 {
	at := HeaderSize + ElemSize*i + 8
	return ne.Uint64(p[at : at+8])
}

// PutBranchElem writes record i; the key starts at off of the run.
func (p Page) PutBranchElem(i, off int, ksize uint32, child uint64) {
	at := HeaderSize + ElemSize*i
	e := p[at : at+ElemSize : at+ElemSize]
	ne.PutUint32(e[0:4], uint32(off-at))
	ne.PutUint32(e[4:8], ksize)
	ne.PutUint64(e[8:16], child)
}

// FreelistIDs gives the ids of a free list page as bytes, eight for each; ok is false when they would leave the run.
func (p Page) FreelistIDs() (ids []byte, ok bool) {
	n, at := uint64(p.Count()), uint64(HeaderSize)
	if n == MaxCount {
		if len(p) < HeaderSize+8 {
			return nil, false
		}
		n, at = ne.Uint64(p[HeaderSize:]), HeaderSize+8
	}
	if n > uint64(len(p))/8 || at+8*n > uint64(len(p)) {
		return nil, false
	}
	return p[at : at+8*n : at+8*n], true
}

// FreelistID is id number i of those FreelistIDs gives.
func FreelistID(ids []byte, i int) uint64 { return ne.Uint64(ids[8*i:]) }

// FreelistSize is the size in bytes of a free list page with n ids.
func FreelistSize(n int) int {
	if n >= MaxCount {
		n++
	}
	return HeaderSize + 8*n
}

// PutFreelistCount writes the header of a free list page with n ids and returns the place of the first.
func (p Page) PutFreelistCount(id uint64, n int, overflow uint32) []byte {
	if n < MaxCount {
		p.PutHeader(id, Freelist, n, overflow)
		return p[HeaderSize:]
	}
	p.PutHeader(id, Freelist, MaxCount, overflow)
	ne.PutUint64(p[HeaderSize:], uint64(n))
	return p[HeaderSize+8:]
}

// Used is how many bytes the header, the table and the elements of a branch or leaf page take, were they put side by
// side: more than the run has if they overlap.
func (p Page) Used() uint64 {
	n := uint64(HeaderSize) + ElemSize*uint64(p.Count())
	for i := range p.Count() {
		e := p.Elem(i)
		if p.Flags() == Branch {
			n += uint64(ne.Uint32(e[4:8]))
		} else {
			n += uint64(ne.Uint32(e[8:12])) + uint64(ne.Uint32(e[12:16]))
		}
	}
	return n
}

// BucketValue splits the value of a bucket element: its root page (0 when inline), its sequence, and the inline page.
func BucketValue(value []byte) (root, sequence uint64, inline Page, ok bool) {
	if len(value) < BucketHeader {
		return 0, 0, nil, false
	}
	root, sequence = ne.Uint64(value[0:8]), ne.Uint64(value[8:16])
	if root != 0 {
		return root, sequence, nil, true
	}
	inline = Page(value[BucketHeader:])
	return 0, sequence, inline, len(inline) >= HeaderSize && inline.TableFits()
}

// PutBucketHeader writes the header of a bucket's value.
func PutBucketHeader(value []byte, root, sequence uint64) {
	ne.PutUint64(value[0:8], root)
	ne.PutUint64(value[8:16], sequence)
}

// TypeName names a page type by its flags.
func TypeName(flags uint16) string {
	switch flags {
	case Branch:
		return "branch"
	case Leaf:
		return "leaf"
	case Meta:
		return "meta"
	case Freelist:
		return "freelist"
	}
	return fmt.Sprintf("unknown<%02x>", flags)
}

// ValidFlags says whether flags name exactly one page type.
func ValidFlags(flags uint16) bool {
	return flags == Branch || flags == Leaf || flags == Meta || flags == Freelist
}
