// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

// A List is a sequence of record ids: of the values of a property, the names and values of a node's properties, the
// blocks of a long value.
//
// Up to 255 entries lie side by side; if there are more, the list is one of parts of 255, 255² … entries, of which only
// the last may be shorter. A part of one entry is that entry; in the same way a list of one lies where it is referred to.
type List struct {
	seg  *Segment
	at   uint32 // of the record ids, of entries or parts
	size uint32
	span uint32 // entries in a part; 1 if the record ids are the entries
}

// list is the list that the record id at a position names.
func (s *Segment) list(at, size uint32) (List, error) {
	if size < 2 {
		return List{s, at, size, 1}, nil
	}
	if size > MaxList {
		return List{}, s.corrupt(at, "a list of %d entries", size)
	}
	r, err := s.record(at)
	if err != nil {
		return List{}, err
	}
	span := uint32(1)
	for span*fanout < size {
		span *= fanout
	}
	if parts := int((size + span - 1) / span); !r.fits(parts * ridSize) {
		return List{}, r.corrupt("a bucket of %d entries passes the end", parts)
	}
	return List{r.seg, r.at, size, span}, nil
}

// Len is the number of entries.
func (l List) Len() int { return int(l.size) }

// Entry is the i-th entry. Lists of blocks are not read by it: these need not be records.
func (l List) Entry(i int) (Record, error) {
	if l.span == 1 && uint(i) < uint(l.size) {
		return l.seg.record(l.at + uint32(i)*ridSize)
	}
	s, at, err := l.locate(i)
	if err != nil {
		return Record{}, err
	}
	return s.record(at)
}

// EntryID is the id of the i-th entry, which need not exist.
func (l List) EntryID(i int) (RecordID, error) {
	s, at, err := l.locate(i)
	if err != nil {
		return RecordID{}, err
	}
	return s.recordID(at)
}

// locate says where the i-th record id is.
func (l List) locate(i int) (*Segment, uint32, error) {
	if uint(i) >= uint(l.size) {
		panic("segment: index out of range of a list")
	}
	if l.span == 1 {
		return l.seg, l.at + uint32(i)*ridSize, nil
	}
	return l.descend(uint32(i))
}

func (l List) descend(k uint32) (*Segment, uint32, error) {
	for l.span > 1 {
		part := k / l.span
		at, size := l.at+part*ridSize, min(l.span, l.size-part*l.span)
		k -= part * l.span
		var err error
		if l, err = l.seg.list(at, size); err != nil {
			return nil, 0, err
		}
	}
	return l.seg, l.at + k*ridSize, nil
}

// List takes the record for a LIST: the values of a property of an array type.
func (r Record) List() (List, error) {
	const countSize = 4
	if !r.fits(countSize) {
		return List{}, r.corrupt("a list passes the end")
	}
	size := r.word(0)
	if size > 0 && !r.fits(countSize+ridSize) {
		return List{}, r.corrupt("a list passes the end")
	}
	return r.seg.list(r.at+countSize, size)
}
