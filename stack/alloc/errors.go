// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"errors"
	"fmt"

	"github.com/holtdb/holt/stack"
)

// What calls are refused with. Nothing has been changed then. Damage found on the way is a *stack.CorruptError, and what
// the stack refuses has its errors.
var (
	ErrForeign      = errors.New("alloc: a region of another allocator")
	ErrNotAllocated = errors.New("alloc: not an allocated region")        // freed already, in part free, or never given out
	ErrRange        = errors.New("alloc: out of range")                   // a length that is negative or too great, or a place outside a region
	ErrUnsupported  = errors.New("alloc: not possible for this region")   // from Resize, and from what an allocator has not
	ErrInUse        = errors.New("alloc: bytes given out twice")          // from Debug
	ErrFormat       = errors.New("alloc: not the file of this allocator") // from the Open functions
)

// payloadAt is the offset of the payload in the file.
const payloadAt = 32

// corruptAt is damage at an offset of the payload.
func corruptAt(path string, off int64, format string, args ...any) error {
	return &stack.CorruptError{Path: path, Off: payloadAt + off, Reason: fmt.Sprintf(format, args...)}
}
