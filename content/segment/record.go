// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

// A Record is a place in a data segment. Its methods take what is there for something: the context in which the record
// is referred to says for what.
type Record struct{ place }

// place is where a record is. There are four bytes at least, as places and the ends of segments are multiples of 4.
type place struct {
	seg    *Segment
	number uint32
	at     uint32
}

// Find returns a record by its id.
func Find(store Store, id RecordID) (Record, error) {
	s, err := store.Segment(id.Segment)
	if err != nil {
		return Record{}, err
	}
	return s.Record(id.Number)
}

// ID names the record.
func (p place) ID() RecordID { return RecordID{p.seg.id, p.number} }

// Segment is where the record is.
func (p place) Segment() *Segment { return p.seg }

// Index is the place of the record in the record table, which begins with 0. Mostly it is the number.
func (p place) Index() int {
	i, _ := p.seg.index(p.number)
	return i
}

// Offset is the position of the record in its segment.
func (p place) Offset() int { return int(p.at) }

// Block is the n bytes of a block.
func (r Record) Block(n int) ([]byte, error) {
	if !r.fits(n) {
		return nil, r.corrupt("a block of %d bytes passes the end", n)
	}
	return r.seg.data[r.at : int(r.at)+n], nil
}

func (p place) fits(n int) bool { return int(p.at)+n <= len(p.seg.data) }

func (p place) corrupt(format string, args ...any) error { return p.seg.corrupt(p.at, format, args...) }

func (p place) word(off uint32) uint32 { return be.Uint32(p.seg.data[p.at+off:]) }
