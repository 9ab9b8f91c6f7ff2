// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"math/bits"
	"runtime"
	"unsafe"
)

// A scan spends its time on little more than the record of each element and the two slices it makes of it, a lookup on
// the header of a page for each level. They have seen that these lie in the mapping, which the compiler cannot see: its
// checks would take as long as all the rest.

// At is a run of n bytes, at least a header, that is known to lie at a place in data.
//
//go:nocheckptr
func At(data []byte, at uint64, n uint32) Page {
	return (*[longest]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(data)), at))[:n:n]
}

// Plain says whether p is page id, a branch or leaf without overflow pages, and has room for its element table.
func (p Page) Plain(id uint64) bool {
	h := (*[HeaderSize]byte)(unsafe.Pointer(unsafe.SliceData(p)))
	flags, count := ne.Uint16(h[8:10]), int(ne.Uint16(h[10:12]))
	return ne.Uint64(h[0:8]) == id && (flags == Leaf || flags == Branch) && ne.Uint32(h[12:16]) == 0 &&
		len(p) >= HeaderSize+ElemSize*count
}

// LeafRecord is a record of the element table of a leaf, in place.
type LeafRecord struct {
	Flags     uint32
	Off       uint32 // from the start of the record to the key, which the value follows
	KeySize   uint32
	ValueSize uint32
}

// LeafRecordAt is a record that is known to lie at a place in data, which is Addressable.
func LeafRecordAt(data []byte, at uint64) *LeafRecord {
	return (*LeafRecord)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(data)), at))
}

// Addressable says whether a LeafRecord at a place in a mapping can be read there. Those of pages always can; a table
// inside a bucket's value may begin anywhere.
func Addressable(at uint64) bool { return anywhere || at%4 == 0 }

// anywhere is whether the machine reads numbers from any address.
const anywhere = runtime.GOARCH == "386" || runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"

// Bytes are n bytes that are known to lie so far behind the start of the record.
//
//go:nocheckptr
func (e *LeafRecord) Bytes(off uint64, n uint32) []byte {
	return (*[longest]byte)(unsafe.Add(unsafe.Pointer(e), off))[:n:n]
}

// longest is the length of the longest array that there could be.
const longest = 1<<(31+bits.UintSize/64*16) - 1
