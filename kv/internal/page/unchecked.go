// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"math/bits"
	"unsafe"
)

// A scan spends its time on little more than the record of each element and the two slices it makes of it. It has seen
// that they lie in the page, which the compiler cannot see: its checks would take as long as all the rest.

// Record is Elem for a record that is known to lie in the run.
func (p Page) Record(i int) *[ElemSize]byte {
	return (*[ElemSize]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(p)), HeaderSize+ElemSize*i))
}

// Cut is p[from:to:to] for bounds that are known to ascend and to lie in the run, less than 4 GiB apart.
//
//go:nocheckptr
func (p Page) Cut(from, to uint64) []byte {
	at := (*[longest]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(p)), from))
	return at[:uint32(to-from):uint32(to-from)]
}

// longest is the length of the longest array that there could be.
const longest = 1<<(31+bits.UintSize/64*16) - 1
