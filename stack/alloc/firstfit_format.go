// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

// Positions in the payload of a FirstFit file, and sizes.
const (
	ffMagicAt = 16 // behind what is reserved for the program
	ffFlagsAt = 24 // 4 bytes, and 4 that are zero
	ffHeadAt  = 32 // the first free block's data, 0 if there is none
	ffArena   = 48

	ffRecover = 1 // in the header's flags: other programs set it during changes
	ffFree    = 1 // in a block's flags

	ffHeader   = 16 // size, flags, 4 bytes that are zero; then the data
	ffFooter   = 8  // size
	ffOverhead = ffHeader + ffFooter
	ffLinks    = 16 // next and previous free block's data, at the beginning of the data
	ffUnit     = 8  // sizes and offsets are multiples of it
	ffLeast    = 16 // bytes of data
	ffSmallest = ffLeast + ffOverhead
	ffFirst    = ffArena + ffHeader // the first block's data
)

var ffMagic = [8]byte{'A', 'L', 'F', 'F', 0, 1, 4, 0}

// ffSize is how many bytes of data the block of a region has at least. Lengths are below maxLen.
func ffSize(n int64) int64 { return max(ffLeast, (n+ffUnit-1)&^(ffUnit-1)) }

// ffBlock is a block as its header says. The zero ffBlock is none.
type ffBlock struct {
	data, size int64 // where the bytes for the program are, and how many
	free       bool
	next, prev int64 // if it is free
}

func (b ffBlock) start() int64  { return b.data - ffHeader }
func (b ffBlock) footer() int64 { return b.data + b.size }
func (b ffBlock) end() int64    { return b.data + b.size + ffFooter }

// ffParse reads a header and what may be links.
func ffParse(data int64, h []byte) ffBlock {
	b := ffBlock{data: data, size: int64(le.Uint64(h)), free: le.Uint32(h[8:])&ffFree != 0}
	if b.free {
		b.next, b.prev = int64(le.Uint64(h[ffHeader:])), int64(le.Uint64(h[ffHeader+8:]))
	}
	return b
}

// sane says whether there can be such a block in a payload of this length.
func (b ffBlock) sane(length int64) bool {
	return ffPlace(b.data, length) && ffSane(b.size) && b.size <= length-ffFooter-b.data
}

// ffPlace says whether a block's data can begin there.
func ffPlace(data, length int64) bool {
	return data >= ffFirst && data%ffUnit == 0 && data <= length-ffLeast-ffFooter
}

func ffSane(size int64) bool { return size >= ffLeast && size%ffUnit == 0 }

// appendHeader appends the header of a block, and its links if it is free.
func (b ffBlock) appendHeader(p []byte) []byte {
	flags := uint64(0)
	if b.free {
		flags = ffFree
	}
	p = le.AppendUint64(le.AppendUint64(p, uint64(b.size)), flags)
	if b.free {
		p = le.AppendUint64(le.AppendUint64(p, uint64(b.next)), uint64(b.prev))
	}
	return p
}
