// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"fmt"
	"slices"
	"sort"
	"sync/atomic"
)

// A Store finds segments. It is asked by several goroutines at a time, and should return the same *Segment for an id as
// long as that is in use. For a segment that is nowhere it returns a [NotFoundError].
type Store interface {
	Segment(id ID) (*Segment, error)
}

// A Segment is a view over the bytes of a data or bulk segment. (1) The tables lie within data; (2) every row of the
// record table leads behind the tables, at a multiple of 4; (3) the numbers in it ascend.
type Segment struct {
	id     ID
	data   []byte
	shift  uint32 // offset in the imaginary segment of full size, less the position
	dense  uint32 // records, if each has its index as number: 0 otherwise
	bodyAt uint32 // where the tables end
	refs   []byte // the table of references
	rows   []byte // the table of records
	store  Store

	links []atomic.Pointer[Segment] // per reference, once used
}

// Parse checks header and tables of a segment. References to other segments lead nowhere: see [ParseIn].
func Parse(id ID, data []byte) (*Segment, error) { return ParseIn(nil, id, data) }

// ParseIn is Parse for a segment whose references are looked up in a store.
func ParseIn(store Store, id ID, data []byte) (*Segment, error) {
	s := &Segment{id: id, data: data, shift: uint32(MaxSize - len(data)), store: store}
	switch {
	case !id.IsData() && !id.IsBulk():
		return nil, fmt.Errorf("%w of a data or bulk segment: %s", ErrID, id)
	case len(data) > MaxSize:
		return nil, s.corrupt(0, "a segment of %d bytes", len(data))
	case id.IsBulk() && len(data) == 0:
		return nil, s.corrupt(0, "a bulk segment of no bytes")
	case id.IsBulk():
		return s, nil
	}
	if err := s.parseHeader(); err != nil {
		return nil, err
	}
	if err := s.parseRows(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Segment) parseHeader() error {
	if len(s.data) < headerSize || len(s.data)%sizeAlignment != 0 {
		return s.corrupt(0, "a data segment of %d bytes", len(s.data))
	}
	h := s.header()
	if h.magic() != magic {
		return s.corrupt(0, "no segment: magic %q", h.magic())
	}
	if v := h.version(); v != oldVersion && v != version {
		return s.corrupt(3, "version %d: known are %d and %d", v, oldVersion, version)
	}
	refs, rows := int64(h.references()), int64(h.records())
	if refs < 0 || rows < 0 || headerSize+refs*IDSize+rows*rowSize > int64(len(s.data)) {
		return s.corrupt(14, "%d references and %d records in %d bytes", refs, rows, len(s.data))
	}
	rowsAt := headerSize + refs*IDSize
	s.bodyAt = uint32(rowsAt + rows*rowSize)
	s.refs = s.data[headerSize:rowsAt]
	s.rows = s.data[rowsAt:s.bodyAt]
	s.links = make([]atomic.Pointer[Segment], refs)
	return nil
}

// parseRows demands what reading relies on: that rows lead to records, and can be searched.
func (s *Segment) parseRows() error {
	next := int64(0)
	for i := range s.Count() {
		r := s.row(i)
		at := headerSize + len(s.refs) + i*rowSize
		number, offset := r.number(), r.offset()
		var reason string
		switch {
		case int64(number) < next:
			reason = "record numbers do not ascend"
		case r.kind() > RecordBlobID:
			reason = fmt.Sprintf("record %d has the unknown type %d", number, r.kind())
		case offset%alignment != 0 || offset < s.shift+s.bodyAt || offset >= MaxSize:
			reason = fmt.Sprintf("record %d lies at offset %#x, outside", number, offset)
		default:
			next = int64(number) + 1
			continue
		}
		return &CorruptError{s.id, -1, at, reason}
	}
	if next == int64(s.Count()) {
		s.dense = uint32(next)
	}
	return nil
}

// openSegment is a view of one in the making: data has the full size, the tables lie elsewhere and may become longer.
func openSegment(id ID, data, refs, rows []byte, store Store) *Segment {
	return &Segment{
		id: id, data: data, dense: uint32(len(rows) / rowSize), store: store,
		refs: slices.Clip(refs), rows: slices.Clip(rows),
		links: make([]atomic.Pointer[Segment], len(refs)/IDSize),
	}
}

func (s *Segment) header() *header { return (*header)(s.data) }

func (s *Segment) row(i int) *row { return (*row)(s.rows[i*rowSize:]) }

func (s *Segment) position(r *row) uint32 { return r.offset() - s.shift }

// ID is the name of the segment.
func (s *Segment) ID() ID { return s.id }

// Bytes is the whole segment.
func (s *Segment) Bytes() []byte { return s.data }

// Version is that of the format: 12 or 13, and 0 for a bulk segment.
func (s *Segment) Version() int {
	if s.id.IsBulk() {
		return 0
	}
	return int(s.header().version())
}

// Generation is zero for a bulk segment.
func (s *Segment) Generation() Generation {
	if s.id.IsBulk() {
		return Generation{}
	}
	h := s.header()
	if h.version() == oldVersion {
		return Generation{h.generation(), h.generation(), true}
	}
	return Generation{h.generation(), int32(h.full() &^ compactedFlag), h.full()&compactedFlag != 0}
}

// Count is the number of records.
func (s *Segment) Count() int { return len(s.rows) / rowSize }

// References is the number of other segments that this one refers to.
func (s *Segment) References() int { return len(s.refs) / IDSize }

// Reference is the i-th of them.
func (s *Segment) Reference(i int) ID { return GetID(s.refs[i*IDSize:]) }

// Record finds a record by number.
func (s *Segment) Record(number uint32) (Record, error) {
	if r, ok := s.find(number); ok {
		return r, nil
	}
	return Record{}, &CorruptError{s.id, int64(number), 0, "there is no such record"}
}

func (s *Segment) find(number uint32) (Record, bool) {
	i, ok := s.index(number)
	if !ok {
		return Record{}, false
	}
	return Record{place{s, number, s.position(s.row(i))}}, true
}

// index is the index of a record in the table.
func (s *Segment) index(number uint32) (int, bool) {
	if number < s.dense {
		return int(number), true
	}
	n := s.Count()
	i := sort.Search(n, func(i int) bool { return s.row(i).number() >= number })
	return i, i < n && s.row(i).number() == number
}

// record follows the record id at a position, which the caller knows to lie within the segment.
func (s *Segment) record(at uint32) (Record, error) {
	rid := s.data[at : at+ridSize]
	number, t := be.Uint32(rid[2:]), s
	if ref := int(be.Uint16(rid)); ref != 0 {
		if ref <= len(s.links) {
			t = s.links[ref-1].Load()
		}
		if t == nil || ref > len(s.links) {
			var err error
			if t, err = s.link(at, ref); err != nil {
				return Record{}, err
			}
		}
	}
	if number < t.dense {
		return Record{place{t, number, be.Uint32(t.rows[number*rowSize+5:]) - t.shift}}, nil
	}
	if r, ok := t.find(number); ok {
		return r, nil
	}
	return Record{}, s.corrupt(at, "there is no record %s", RecordID{t.id, number})
}

// link loads a segment referred to at a position, and remembers it.
func (s *Segment) link(at uint32, ref int) (*Segment, error) {
	if ref > len(s.links) {
		return nil, s.corrupt(at, "reference %d of %d", ref, len(s.links))
	}
	id := s.Reference(ref - 1)
	if s.store == nil {
		return nil, &NotFoundError{id}
	}
	t, err := s.store.Segment(id)
	if err != nil {
		return nil, fmt.Errorf("segment %s refers to another: %w", s.id, err)
	}
	s.links[ref-1].Store(t)
	return t, nil
}

// recordID is the record id at a position, not followed.
func (s *Segment) recordID(at uint32) (RecordID, error) {
	ref, number := int(be.Uint16(s.data[at:])), be.Uint32(s.data[at+2:])
	switch {
	case ref == 0:
		return RecordID{s.id, number}, nil
	case ref > s.References():
		return RecordID{}, s.corrupt(at, "reference %d of %d", ref, s.References())
	}
	return RecordID{s.Reference(ref - 1), number}, nil
}

// block is the n bytes of the block that the record id at a position names, in a data or bulk segment.
func (s *Segment) block(at uint32, n int) ([]byte, error) {
	id, err := s.recordID(at)
	if err != nil {
		return nil, err
	}
	if !id.Segment.IsBulk() {
		r, err := s.record(at)
		if err != nil {
			return nil, err
		}
		return r.Block(n)
	}
	ref := int(be.Uint16(s.data[at:]))
	t := s.links[ref-1].Load()
	if t == nil {
		if t, err = s.link(at, ref); err != nil {
			return nil, err
		}
	}
	from := int64(id.Number) - int64(t.shift)
	if from < 0 || from+int64(n) > int64(len(t.data)) {
		return nil, s.corrupt(at, "a block of %d bytes at %s, outside", n, id)
	}
	return t.data[from : from+int64(n)], nil
}
