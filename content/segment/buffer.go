// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"fmt"
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

	known   map[ID]uint16 // the references, by segment
	targets []target      // the segments, by reference, then those that the record in the making is the first to refer to
	rids    []uint16      // the references of the record in the making
}

// target is a segment that is referred to.
type target struct {
	id  ID
	seg *Segment
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
	b.forget(0)
}

// forget leaves so many of the targets.
func (b *buffer) forget(but int) {
	clear(b.targets[but:])
	b.targets = b.targets[:but]
}

// references is the number of segments that there are references to.
func (b *buffer) references() int { return len(b.refs) / IDSize }

// fresh is the segments that the record in the making is the first to refer to.
func (b *buffer) fresh() []target { return b.targets[b.references():] }

// resolve finds out by which numbers the segments of record ids are referred to, and demands that the records are there
// and of such kinds, again and again. Segments it does not know are for admit to say whether they may be.
func (b *buffer) resolve(ids []RecordID, of []kinds, admit func(RecordID) (*Segment, error)) error {
	b.forget(b.references())
	b.rids = b.rids[:0]
	last, ref := b.id, uint16(0) // mostly it is the same again
	turn := 0
	for _, id := range ids {
		want := of[turn]
		if turn++; turn == len(of) {
			turn = 0
		}
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
		var kind RecordType
		if at := uint64(id.Number) * rowSize; ref == 0 && at < uint64(len(b.rows)) {
			kind = (*row)(b.rows[at:]).kind()
		} else {
			var err error
			if kind, err = b.kindOf(id, ref, admit); err != nil {
				return err
			}
		}
		if !want.has(kind) {
			return fmt.Errorf("%w: record %s is a %s, which cannot stand there", ErrDraft, id, kind)
		}
		b.rids = append(b.rids, ref)
	}
	return nil
}

// kindOf is the type of a record of another segment.
func (b *buffer) kindOf(id RecordID, ref uint16, admit func(RecordID) (*Segment, error)) (RecordType, error) {
	if ref == 0 {
		return 0, &CorruptError{b.id, int64(id.Number), 0, "there is no such record yet"}
	}
	t := &b.targets[ref-1]
	kind, ok := t.seg.kindOf(id.Number)
	if !ok { // it may be one that is open elsewhere, and have more records by now
		s, err := admit(id)
		if err != nil {
			return 0, err
		}
		t.seg = s
		if kind, ok = s.kindOf(id.Number); !ok {
			return 0, &CorruptError{id.Segment, int64(id.Number), 0, "there is no such record"}
		}
	}
	return kind, nil
}

// meet gives a number to a segment that the buffer has no reference to yet.
func (b *buffer) meet(id RecordID, admit func(RecordID) (*Segment, error)) (uint16, error) {
	for i, t := range b.fresh() {
		if t.id == id.Segment {
			return uint16(b.references() + i + 1), nil
		}
	}
	s, err := admit(id)
	if err != nil {
		return 0, err
	}
	b.targets = append(b.targets, target{id.Segment, s})
	return uint16(len(b.targets)), nil
}

// add adds a record, whose ids were resolved: its bytes up to them, the ids, the bytes behind them. It says no if there is
// no room.
func (b *buffer) add(kind RecordType, front []byte, ids []RecordID, back []byte) (number uint32, ok bool) {
	slot := roundUp(len(front)+ridSize*len(ids)+len(back), alignment)
	if b.length(len(b.fresh()), 1, slot) > MaxSize {
		return 0, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	number = uint32(b.count())
	b.used += slot
	at := MaxSize - b.used
	b.encode(b.data[at:at+slot], number, front, ids, back)
	for _, t := range b.fresh() {
		b.refs = append(b.refs, make([]byte, IDSize)...)
		t.id.Put(b.refs[len(b.refs)-IDSize:])
		b.known[t.id] = uint16(b.references())
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
