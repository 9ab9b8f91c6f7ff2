// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"errors"
	"fmt"
)

// ErrExternal is returned when the bytes of a binary are asked for that is kept outside: there is only an id here.
var ErrExternal = errors.New("segment: the binary is kept outside")

// ErrTooLong is wrapped when a value is longer than the caller, or a name longer than this package, wants to copy.
var ErrTooLong = errors.New("segment: value too long")

// Errors of writing.
var (
	// ErrOld is wrapped when a record would refer to one that the next garbage collection may take away.
	ErrOld = errors.New("segment: record of an older generation")
	// ErrTooBig is wrapped when a record does not fit into a segment.
	ErrTooBig = errors.New("segment: record too big")
	// ErrDraft is wrapped when what is to be written is no node, property or map.
	ErrDraft = errors.New("segment: cannot be written")
)

// NotFoundError says that a segment is nowhere. A [Store] returns it.
type NotFoundError struct{ Segment ID }

func (e *NotFoundError) Error() string { return fmt.Sprintf("segment %s: not found", e.Segment) }

// CorruptError reports bytes that no writer of the format leaves behind.
type CorruptError struct {
	Segment ID
	Record  int64 // number of the record the offset is in; -1 if it is in none
	Off     int   // position in the segment
	Reason  string
}

func (e *CorruptError) Error() string {
	if e.Record < 0 {
		return fmt.Sprintf("segment %s, offset %#x: %s", e.Segment, e.Off, e.Reason)
	}
	return fmt.Sprintf("segment %s, record %d, offset %#x: %s", e.Segment, e.Record, e.Off, e.Reason)
}

// corrupt finds out itself which record the position is in, so that reading need not carry it along.
func (s *Segment) corrupt(at uint32, format string, args ...any) error {
	number, start := int64(-1), uint32(0)
	for i := range s.Count() {
		if r := s.row(i); s.position(r) <= at && s.position(r) >= start {
			number, start = int64(r.number()), s.position(r)
		}
	}
	return &CorruptError{s.id, number, int(at), fmt.Sprintf(format, args...)}
}
