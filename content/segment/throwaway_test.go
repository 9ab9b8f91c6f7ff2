// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

// throwaway is a list as it would be read without thought for cost: each entry on the way, the last one too, becomes a
// list of its own. It is here for BenchmarkListEntry only.
type throwaway struct {
	seg  *Segment
	at   uint32 // of the record id
	size uint32
}

// ThrowawayEntry is l.Entry(i) by throwaway lists.
func ThrowawayEntry(l List, i int) (Record, error) {
	if l.size == 1 {
		return (&throwaway{l.seg, l.at, 1}).entry(0)
	}
	span := uint32(1)
	for span*fanout < l.size {
		span *= fanout
	}
	part := uint32(i) / span
	return newThrowaway(l.seg, l.at+part*ridSize, min(span, l.size-part*span)).entry(uint32(i) % span)
}

//go:noinline
func newThrowaway(s *Segment, at, size uint32) *throwaway { return &throwaway{s, at, size} }

func (l *throwaway) entry(i uint32) (Record, error) {
	r, err := l.seg.record(l.at)
	if err != nil || l.size == 1 {
		return r, err
	}
	span := uint32(1)
	for span*fanout < l.size {
		span *= fanout
	}
	part := i / span
	return newThrowaway(r.seg, r.at+part*ridSize, min(span, l.size-part*span)).entry(i % span)
}
