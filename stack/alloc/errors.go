// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"errors"
	"fmt"

	"github.com/holtdb/holt/stack"
)

// What calls are refused with. Nothing has been changed then. Damage found on the way is a *stack.CorruptError, and
// what the stack refuses has its errors.
var (
	// ErrForeign is for a region of another open allocator.
	ErrForeign = errors.New("alloc: a region of another allocator")

	// ErrNotAllocated is for a region that was freed already, is free in part, or was never given out.
	ErrNotAllocated = errors.New("alloc: not an allocated region")

	// ErrRange is for a length that is negative or too great, and for a place outside a region or the payload.
	ErrRange = errors.New("alloc: out of range")

	// ErrUnsupported is from Resize, and for what an allocator cannot do.
	ErrUnsupported = errors.New("alloc: not possible for this region")

	// ErrInUse is from Debug.
	ErrInUse = errors.New("alloc: bytes given out twice")

	// ErrFormat is from the Open functions.
	ErrFormat = errors.New("alloc: not the file of this allocator")
)

// payloadAt is the offset of the payload in the file.
const payloadAt = 32

// corruptAt is damage at an offset of the payload.
func corruptAt(path string, off int64, format string, args ...any) error {
	return &stack.CorruptError{Path: path, Off: payloadAt + off, Reason: fmt.Sprintf(format, args...)}
}
