// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// A Sink takes the segments that a [Writer] has finished. Their bytes do not change any more.
type Sink interface {
	Append(s *Segment) error
}

// Options of a [Writer]. Store and Sink must be there.
type Options struct {
	Store      Store // finds all that is referred to, what was given to Sink too
	Sink       Sink
	Generation Generation
	Name       string           // for the segments' info: init, sys.0000, c.0001; sys.0000 if empty
	Cache      *Cache           // of this generation; nil for one of the writer's own
	IDs        *IDs             // nil for one of the writer's own
	Now        func() time.Time // time.Now if nil

	Outside   Outside // where long binaries go, such as a blob.Store; nil for bulk segments
	Threshold int     // bytes of a binary that goes outside, at least: 16,512 if zero or more than that; all if negative
}

// IDs makes the ids of new segments and counts them, for all writers of a process.
type IDs struct {
	New  func(bulk bool) ID // random ones if nil
	made atomic.Int64
}

// next is a new id, and how many were made before.
func (s *IDs) next(bulk bool) (ID, int64) {
	n := s.made.Add(1) - 1
	switch {
	case s.New != nil:
		return s.New(bulk), n
	case bulk:
		return NewBulkID(), n
	}
	return NewDataID(), n
}

// A Writer writes records: it puts them into data segments of one generation, each of which goes to the sink when it is
// full or by [Writer.Flush]. Its methods return the ids of records, to be referred to by others.
//
// A record can refer to those that the Store finds, and to those this writer wrote. They must be there, and by the tables of
// their segments what they are referred to as: it is an [ErrDraft] if a child is no node or a value of a property none. Of
// which type a value is, is for the caller to see to, and also that Oak takes the names of children and properties: these
// have a character at least and no slash, which the format does not ask for.
//
// It is an [ErrOld] to refer to a data segment whose generation will not be kept as long as the writer's own: see
// [Writer.Copy]. After an error nothing is lost of what was written before; if it was the sink's, the segment is still open
// and the call can be repeated.
//
// A Writer is used by one goroutine at a time, but for [Writer.Segment].
type Writer struct {
	opts   Options
	buf    buffer
	maxMap int // the constant, unless a test says otherwise

	text  []byte     // scratch of String and Binary
	front []byte     // scratch of whoever calls record
	stack []RecordID // scratch: lists of ids, of callers before those they call
	piece []byte     // scratch of Binary: a bulk segment
	shape shape      // scratch of templates
}

// NewWriter returns a writer. The first segment begins with the first record.
func NewWriter(o Options) (*Writer, error) {
	if o.Store == nil || o.Sink == nil {
		return nil, errors.New("segment: a writer needs a store and a sink")
	}
	if o.Generation.Full < 0 || o.Generation.Generation < 0 {
		return nil, fmt.Errorf("segment: a writer of generation %s", o.Generation)
	}
	if o.Name == "" {
		o.Name = "sys.0000"
	}
	if o.Cache == nil {
		o.Cache = NewCache(o.Generation, nil)
	}
	if o.IDs == nil {
		o.IDs = &IDs{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := o.Cache.check(o.Generation); err != nil {
		return nil, err
	}
	return &Writer{opts: o, maxMap: maxMap}, nil
}

// Generation is that of what is written.
func (w *Writer) Generation() Generation { return w.opts.Generation }

// Segment finds a segment: the one that is open, with the records there are so far, or one of the store's. Of the open one
// there is a new view when it has more records, so views are not to be kept; nor are its Bytes a segment. It may be called
// by several goroutines at a time.
func (w *Writer) Segment(id ID) (*Segment, error) {
	if s := w.buf.view(id, w.opts.Store); s != nil {
		return s, nil
	}
	return w.opts.Store.Segment(id)
}

// Flush ends the open segment, if there is anything in it but its info.
func (w *Writer) Flush() error {
	if w.buf.count() < 2 {
		return nil
	}
	data := w.buf.bytes()
	s, err := ParseIn(w.opts.Store, w.buf.id, data)
	if err != nil {
		return err // a fault of this package: better here than when it is read
	}
	if err := w.opts.Sink.Append(s); err != nil {
		return err
	}
	w.buf.end()
	return nil
}

// record writes a record: the bytes up to the ids in it, the ids, the bytes behind them.
func (w *Writer) record(kind RecordType, front []byte, ids []RecordID, back []byte) (RecordID, error) {
	return w.recordOf(kind, front, ids, referred[kind], back)
}

// recordOf writes a record that refers to such as it says, again and again.
func (w *Writer) recordOf(kind RecordType, front []byte, ids []RecordID, of []kinds, back []byte) (RecordID, error) {
	for {
		if w.buf.count() == 0 {
			if err := w.begin(); err != nil {
				return RecordID{}, err
			}
		}
		if err := w.buf.resolve(ids, of, w.admit); err != nil {
			return RecordID{}, err
		}
		if n, ok := w.buf.add(kind, front, ids, back); ok {
			return RecordID{w.buf.id, n}, nil
		}
		if w.buf.count() == 1 {
			size := len(front) + ridSize*len(ids) + len(back)
			return RecordID{}, fmt.Errorf("%w: %s of %d bytes", ErrTooBig, kind, size)
		}
		if err := w.Flush(); err != nil {
			return RecordID{}, err
		}
	}
}

// begin begins a segment, with the record that says who made it.
func (w *Writer) begin() error {
	name, err := json.Marshal(w.opts.Name)
	if err != nil {
		return err
	}
	id, serial := w.opts.IDs.next(false)
	if !id.IsData() {
		return fmt.Errorf("%w of a data segment: %s", ErrID, id)
	}
	w.buf.begin(id, w.opts.Generation)
	info := append([]byte{0}, `{"wid":`...)
	info = append(info, name...)
	info = append(info, `,"sno":`...)
	info = strconv.AppendInt(info, serial, 10)
	info = append(info, `,"t":`...)
	info = strconv.AppendInt(info, w.opts.Now().UnixMilli(), 10)
	info = append(info, '}')
	if len(info) > smallMax {
		return fmt.Errorf("%w: %d bytes of a segment's info", ErrTooBig, len(info))
	}
	info[0] = byte(len(info) - 1)
	_ = w.buf.resolve(nil, nil, nil)
	w.buf.add(RecordValue, info, nil, nil) // there is room
	return nil
}

// admit finds a segment that was not referred to yet, if it may be.
func (w *Writer) admit(id RecordID) (*Segment, error) {
	if !id.Segment.IsData() && !id.Segment.IsBulk() {
		return nil, fmt.Errorf("%w of a record to refer to: %s", ErrID, id)
	}
	s, err := w.opts.Store.Segment(id.Segment)
	if err != nil {
		return nil, fmt.Errorf("segment: a record to refer to: %w", err)
	}
	if w.Old(s) {
		return nil, fmt.Errorf("%w: %s, of %s, in a segment of %s", ErrOld, id, s.Generation(), w.opts.Generation)
	}
	return s, nil
}

// Old says whether records of a segment must not be referred to: garbage collection may take them before those that are
// written here. It is never so for bulk segments.
func (w *Writer) Old(s *Segment) bool {
	if s.id.IsBulk() {
		return false
	}
	g := s.Generation()
	if g.Compacted {
		return g.Full < w.opts.Generation.Full
	}
	return g.Generation < w.opts.Generation.Generation
}

// bulk writes a bulk segment, of a copy of the bytes, and lists its blocks.
func (w *Writer) bulk(data []byte, blocks *listBuilder) error {
	id, _ := w.opts.IDs.next(true)
	s, err := Parse(id, bytes.Clone(data))
	if err != nil {
		return err
	}
	if err := w.opts.Sink.Append(s); err != nil {
		return err
	}
	for number := uint32(MaxSize - len(data)); number < MaxSize; number += BlockSize {
		if err := blocks.add(RecordID{id, number}); err != nil {
			return err
		}
	}
	return nil
}
