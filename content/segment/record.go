// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

// A Record is a place in a data segment. Its methods take what is there for something: the context in which the record
// is referred to says for what.
type Record struct {
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
func (r Record) ID() RecordID { return RecordID{r.seg.id, r.number} }

// Segment is where the record is.
func (r Record) Segment() *Segment { return r.seg }

// Offset is the position of the record in its segment.
func (r Record) Offset() int { return int(r.at) }

// Block is the n bytes of a block.
func (r Record) Block(n int) ([]byte, error) {
	if !r.fits(n) {
		return nil, r.corrupt("a block of %d bytes passes the end", n)
	}
	return r.seg.data[r.at : int(r.at)+n], nil
}

func (r Record) fits(n int) bool { return int(r.at)+n <= len(r.seg.data) }

func (r Record) corrupt(format string, args ...any) error {
	return r.seg.corrupt(r.at, format, args...)
}

func (r Record) word(off uint32) uint32 { return be.Uint32(r.seg.data[r.at+off:]) }
