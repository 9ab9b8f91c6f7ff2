// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"fmt"

	"github.com/holtdb/holt/content/segment"
)

// What calls are refused with.
var (
	ErrClosed   = errors.New("archive: closed")                                            // after Close
	ErrReadOnly = errors.New("archive: opened read-only")                                  // from what would change something
	ErrLocked   = errors.New("archive: the store is in use")                               // from Open
	ErrConflict = errors.New("archive: the head has moved")                                // from SetHead
	ErrHead     = errors.New("archive: only a node can be a head")                         // from SetHead and ReplaceJournal
	ErrFull     = errors.New("archive: the archive would become too long")                 // from Append
	ErrFailed   = errors.New("archive: takes no more changes until the store is reopened") // after a failed sync, say
)

// ErrNoHead is returned when a store has segments and no line of its journal leads to one of them.
var ErrNoHead = errors.New("archive: no line of the journal leads to a segment that is there: " +
	"the head is unknown (holt content recover-journal looks for it)")

// ErrNoStore is returned for a directory with nothing of a store in it, by what would not make a new one there.
var ErrNoStore = errors.New("archive: no content store: no archives, no journal.log, no manifest are there")

// VersionError reports a store of another generation of the format.
type VersionError struct {
	Dir    string
	Reason string
}

func (e *VersionError) Error() string { return fmt.Sprintf("archive: %s: %s", e.Dir, e.Reason) }

// CorruptError reports bytes that no version of the format leaves behind.
type CorruptError struct {
	Path    string     // the file
	Segment segment.ID // the zero id if it is none in particular
	Off     int64      // in the file
	Err     error      // what is wrong; of a segment's content, a [segment.CorruptError]
}

func (e *CorruptError) Error() string {
	if e.Segment == (segment.ID{}) {
		return fmt.Sprintf("archive: %s, offset %d: %v", e.Path, e.Off, e.Err)
	}
	return fmt.Sprintf("archive: %s, offset %d, segment %s: %v", e.Path, e.Off, e.Segment, e.Err)
}

// Unwrap returns what is wrong.
func (e *CorruptError) Unwrap() error { return e.Err }

// damage is an error at an offset, of a file that the caller names.
type damage struct {
	off    int
	reason string
}

func (d *damage) Error() string { return d.reason }

func damaged(off int, format string, args ...any) *damage {
	return &damage{off, fmt.Sprintf(format, args...)}
}

// in names the file of an error, if it is one of its bytes.
func in(path string, err error) error {
	if d, ok := errors.AsType[*damage](err); ok {
		return &CorruptError{Path: path, Off: int64(d.off), Err: d}
	}
	return err
}
