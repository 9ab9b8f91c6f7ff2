// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"iter"

	"github.com/holtdb/holt/stack"
)

// Allocator hands out regions of a payload. Lengths are in bytes.
//
// Regions to be freed or resized must be whole, as they were given out or last resized. Others get [ErrForeign],
// [ErrNotAllocated] or [ErrRange] before anything is touched, as far as the format lets the allocator know:
// [GhostTree], [Slab] and [Linear] keep nothing about live regions and see only what cannot be one. [Debug] sees
// everything.
type Allocator interface {
	// Alloc returns a region of n zero bytes; the null region for 0.
	Alloc(n int64) (Region, error)
	// AllocUninit is Alloc with bytes of any value, which may save writing them.
	AllocUninit(n int64) (Region, error)
	// AllocBulk allocates several regions, all or none.
	AllocBulk(lens []int64) ([]Region, error)

	// Realloc makes the region n bytes long, elsewhere if it must. Bytes that it had stay, new ones are zero. The null
	// region is allocated, and n = 0 frees.
	Realloc(r Region, n int64) (Region, error)
	// ReallocUninit is Realloc with new bytes of any value.
	ReallocUninit(r Region, n int64) (Region, error)
	// Resize moves the ends of the region and none of its bytes: the result is from r.Off-before to r.End()+after. Both
	// may be negative; new bytes are zero. [ErrUnsupported] if there is no room, or the format cannot.
	Resize(r Region, before, after int64) (Region, error)

	// Free gives the region back. The null region is fine.
	Free(r Region) error
	// FreeBulk frees several regions, all or none.
	FreeBulk(rs []Region) error

	// Update runs fn, and makes durable at once what it did through b. If fn returns an error or does not return,
	// nothing has happened. fn must not call the allocator or the stack. Bytes at the end of the file that become free
	// are not cut off.
	Update(fn func(b *Batch) error) error

	// View gives access to the bytes of a region. What cannot be live, as far as the allocator knows, is not written to.
	View(r Region) View
	// Reserved is some bytes at the beginning of the payload that are the program's, to store its first region there:
	// 16 or more, as FORMAT.md says. [Linear] has none.
	Reserved() Region

	// Check yields everything that is wrong with the file: nothing if it is sound.
	Check() iter.Seq[error]
	// Stats counts used and free space.
	Stats() (Stats, error)
	// Layout lists what the payload consists of, from its beginning to its end.
	Layout() ([]Span, error)
	// Reclaim makes everything free that is not in live, and returns how many bytes that were not free before are now.
	// It finds what a program has lost: all regions that it knows have to be named.
	Reclaim(live []Region) (int64, error)

	// Repaired says in words what opening the file has set right, because a crash or another program had left it half
	// done: nothing for a sound file.
	Repaired() []string

	// Stack is the stack the allocator owns. Its payload must not be changed otherwise.
	Stack() *stack.Stack
}

// Span is a part of the payload.
type Span struct {
	Off, Len int64
	Kind     Kind
}

// Kind says what a span is.
type Kind uint8

// What spans are.
const (
	Header   Kind = iota // of the allocator
	Reserved             // for the program
	Used                 // live, with the allocator's marks: a block, or several where the format does not tell
	Free                 // one free block
)

func (k Kind) String() string {
	return [...]string{"header", "reserved", "used", "free"}[k]
}
