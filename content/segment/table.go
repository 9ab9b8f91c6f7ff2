// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"iter"
	"math/bits"
	"slices"
)

// A Row is a record as the record table has it, for tools and checks.
type Row struct {
	Record
	Type  RecordType
	Bytes []byte // up to the record behind it, so with padding
}

// Records goes through the record table. A bulk segment has none.
func (s *Segment) Records() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		starts := make([]uint32, s.Count())
		for i := range starts {
			starts[i] = s.position(s.row(i))
		}
		slices.Sort(starts)
		starts = append(starts, uint32(len(s.data)))
		for i := range s.Count() {
			r := s.row(i)
			at := s.position(r)
			next, _ := slices.BinarySearch(starts, at+1)
			if !yield(Row{Record{place{s, r.number(), at}}, r.kind(), s.data[at:starts[next]]}) {
				return
			}
		}
	}
}

// RecordsOf goes through the records that the record table says are of a type.
func (s *Segment) RecordsOf(kind RecordType) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for i := range s.Count() {
			if r := s.row(i); r.kind() == kind && !yield(Record{place{s, r.number(), s.position(r)}}) {
				return
			}
		}
	}
}

// Type is what the record table says the record is. Reading goes by context and does not ask.
func (r Record) Type() RecordType {
	i, _ := r.seg.index(r.number)
	return r.seg.row(i).kind()
}

// A Link is a record id within a record.
type Link struct {
	Off int // position in the record
	ID  RecordID
}

// Links is the record ids in the record, taken for what the record table says it is.
func (r Row) Links() ([]Link, error) {
	at, n := r.links()
	if at+n*ridSize > len(r.Bytes) {
		return nil, r.corrupt("%s: %d record ids pass the end", r.Type, n)
	}
	links := make([]Link, n)
	for i := range links {
		off := at + i*ridSize
		id, err := r.seg.recordID(r.at + uint32(off))
		if err != nil {
			return nil, err
		}
		links[i] = Link{off, id}
	}
	return links, nil
}

// links says where the record ids begin and how many there are.
func (r Row) links() (at, n int) {
	head := r.word(0)
	switch r.Type {
	case RecordLeaf:
		size := int(min(head&sizeMask, MaxSize))
		return wordSize + wordSize*size, 2 * size
	case RecordBranch:
		if head == diffHead {
			return keyInDiff, 3
		}
		if len(r.Bytes) < 2*wordSize {
			return 0, MaxSize // passes the end
		}
		return 2 * wordSize, bits.OnesCount32(r.word(wordSize))
	case RecordBucket, RecordNode:
		return 0, len(r.Bytes) / ridSize
	case RecordList:
		return wordSize, int(min(head, 1))
	case RecordValue, RecordBlobID:
		return valueLinks(byte(head >> 24))
	case RecordTemplate:
		t := Template{r.place, head}
		return wordSize, int(t.typesAt()-r.at-wordSize) / ridSize
	}
	return 0, 0
}

func valueLinks(lead byte) (at, n int) {
	switch {
	case lead >= 0xC0 && lead < 0xE0:
		return 2 * wordSize, 1
	case lead >= 0xF0 && lead < 0xF8:
		return 1, 1
	}
	return 0, 0
}
