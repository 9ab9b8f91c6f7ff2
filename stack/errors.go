// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"fmt"
)

// What calls are refused with. Nothing has been changed then.
var (
	ErrClosed   = errors.New("stack: closed")                                    // from every method after Close
	ErrRange    = errors.New("stack: out of range")                              // a range beyond the payload
	ErrPrefix   = errors.New("stack: the locked prefix cannot be changed")       // a change below LockedLen
	ErrOverlap  = errors.New("stack: ranges overlap")                            // where they must not
	ErrReadOnly = errors.New("stack: opened read-only")                          // from mutations, also of a Unit of View
	ErrLocked   = errors.New("stack: the file is in use")                        // from Open
	ErrNotSized = errors.New("stack: an in-place unit cannot change the length") // from a Unit of UpdateInPlace
)

// ErrFailed is wrapped by what mutations return after one of them failed in such a way that nobody knows what is on the
// disk. Close the stack and open it again: recovery then decides.
var ErrFailed = errors.New("stack: takes no more changes until it is reopened")

// VersionError reports a file of another generation of the format.
type VersionError struct {
	Path    string
	Version string // such as "0.1"
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("stack: %s is a file of format version %s", e.Path, e.Version)
}

// CorruptError reports bytes that no version of the format could have left.
type CorruptError struct {
	Path   string
	Off    int64 // in the file
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("stack: %s, offset %d: %s", e.Path, e.Off, e.Reason)
}
