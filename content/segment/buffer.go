// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"slices"
	"sync"
)

// buffer is a data segment in the making. (1) Records lie one before the other, ahead of the end of data, and stay there
// when the segment is cut to its length. (2) Tables and data are only added to, so that what a view shows stays.
type buffer struct {
	mu     sync.Mutex // held for changes of what view reads
	id     ID
	data   []byte // of full size; the header, and from the end on records
	used   int    // bytes of records
	refs   []byte // the table of references
	rows   []byte // the table of records
	opened *Segment

	known map[ID]uint16 // the references, by segment
	fresh []ID          // segments that the record in the making is the first to refer to
	rids  []uint16      // the references of the record in the making
}

// self stands for the record that it is in. No segment has so many records.
var self = RecordID{Number: 1<<32 - 1}

func (b *buffer) count() int { return len(b.rows) / rowSize }

// begin begins a segment.
func (b *buffer) begin(id ID, g Generation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.data == nil || b.opened != nil {
		// Who got a view may still read it.
		b.data, b.refs, b.rows, b.opened = make([]byte, MaxSize), nil, nil, nil
	}
	b.id, b.used, b.refs, b.rows = id, 0, b.refs[:0], b.rows[:0]
	if b.known == nil {
		b.known = map[ID]uint16{}
	}
	clear(b.known)
	(*header)(b.data).begin(g)
}

// end leaves the segment: begin is next.
func (b *buffer) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.id, b.used, b.refs, b.rows = ID{}, 0, b.refs[:0], b.rows[:0]
}

// resolve finds out by which numbers the segments of record ids are referred to. Those it does not know are for admit to
// say whether they may be.
func (b *buffer) resolve(ids []RecordID, admit func(RecordID) error) error {
	b.fresh, b.rids = b.fresh[:0], b.rids[:0]
	last, ref := b.id, uint16(0) // mostly it is the same again
	for _, id := range ids {
		if id == self {
			b.rids = append(b.rids, 0)
			continue
		}
		if id.Segment != last {
			var ok bool
			if ref, ok = b.known[id.Segment]; !ok && id.Segment != b.id {
				var err error
				if ref, err = b.meet(id, admit); err != nil {
					return err
				}
			}
			last = id.Segment
		}
		if ref == 0 && id.Number >= uint32(b.count()) {
			return &CorruptError{b.id, int64(id.Number), 0, "there is no such record yet"}
		}
		b.rids = append(b.rids, ref)
	}
	return nil
}

// meet gives a number to a segment that the buffer has no reference to yet.
func (b *buffer) meet(id RecordID, admit func(RecordID) error) (uint16, error) {
	next := len(b.refs)/IDSize + 1
	if i := slices.Index(b.fresh, id.Segment); i >= 0 {
		return uint16(next + i), nil
	}
	if err := admit(id); err != nil {
		return 0, err
	}
	b.fresh = append(b.fresh, id.Segment)
	return uint16(next + len(b.fresh) - 1), nil
}

// add adds a record, whose ids were resolved: its bytes up to them, the ids, the bytes behind them. It says no if there is
// no room.
func (b *buffer) add(kind RecordType, front []byte, ids []RecordID, back []byte) (number uint32, ok bool) {
	slot := roundUp(len(front)+ridSize*len(ids)+len(back), alignment)
	if b.length(len(b.fresh), 1, slot) > MaxSize {
		return 0, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	number = uint32(b.count())
	b.used += slot
	at := MaxSize - b.used
	b.encode(b.data[at:at+slot], number, front, ids, back)
	for _, id := range b.fresh {
		b.refs = append(b.refs, make([]byte, IDSize)...)
		id.Put(b.refs[len(b.refs)-IDSize:])
		b.known[id] = uint16(len(b.refs) / IDSize)
	}
	b.rows = be.AppendUint32(b.rows, number)
	b.rows = append(b.rows, byte(kind))
	b.rows = be.AppendUint32(b.rows, uint32(at))
	return number, true
}

func (b *buffer) encode(dst []byte, number uint32, front []byte, ids []RecordID, back []byte) {
	n := copy(dst, front)
	for i, id := range ids {
		if id == self {
			id.Number = number
		}
		be.PutUint16(dst[n:], b.rids[i])
		be.PutUint32(dst[n+2:], id.Number)
		n += ridSize
	}
	n += copy(dst[n:], back)
	clear(dst[n:])
}

// length is how long the segment would be with so much more.
func (b *buffer) length(refs, records, used int) int {
	tables := len(b.refs) + IDSize*refs + len(b.rows) + rowSize*records
	return roundUp(headerSize+tables+b.used+used, sizeAlignment)
}

// bytes is the segment as it is written.
func (b *buffer) bytes() []byte {
	n := b.length(0, 0, 0)
	if headerSize+n > MaxSize {
		n = MaxSize // as Oak does
	}
	out := make([]byte, n)
	h := (*header)(out)
	copy(h[:], b.data)
	h.count(len(b.refs)/IDSize, b.count())
	copy(out[headerSize:], b.refs)
	copy(out[headerSize+len(b.refs):], b.rows)
	copy(out[n-b.used:], b.data[MaxSize-b.used:])
	return out
}

// view shows the records there are, if this is the segment asked for.
func (b *buffer) view(id ID, store Store) *Segment {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id != b.id || b.count() == 0 {
		return nil
	}
	if s := b.opened; s == nil || s.Count() != b.count() {
		b.opened = openSegment(id, b.data, b.refs, b.rows, store)
	}
	return b.opened
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
