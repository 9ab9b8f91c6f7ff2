// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import "math/bits"

// Stats counts the space of a file, in bytes.
type Stats struct {
	Length     int64 // of the payload
	Used       int64 // live blocks, with padding and the allocator's marks
	Free       int64
	FreeBlocks int
	Largest    int64 // free block

	// Histogram counts free blocks by size: those in Histogram[i] have from 1<<i to 1<<(i+1)-1 bytes.
	Histogram [63]int
}

// Fragmentation is the part of the free space that is not in the largest free block, from 0 to 1.
func (s *Stats) Fragmentation() float64 {
	if s.Free == 0 {
		return 0
	}
	return 1 - float64(s.Largest)/float64(s.Free)
}

// statsOf counts spans.
func statsOf(spans []Span) Stats {
	var s Stats
	for _, sp := range spans {
		s.Length = sp.Off + sp.Len
		switch sp.Kind {
		case Used:
			s.Used += sp.Len
		case Free:
			s.Free += sp.Len
			s.FreeBlocks++
			s.Largest = max(s.Largest, sp.Len)
			s.Histogram[bits.Len64(uint64(max(sp.Len, 1)))-1]++
		}
	}
	return s
}
