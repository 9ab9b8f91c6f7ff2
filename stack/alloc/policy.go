// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import "github.com/holtdb/holt/stack"

// policy is what differs between allocators: a format, and how room is found in it. Its methods are called one at a
// time, inside a unit, and change u, and what the policy has in memory, only when they succeed. An exception is damage
// found half way: the caller rewinds then. Lengths given to them are positive, regions sane, inside the payload and
// behind the header.
type policy interface {
	// mark begins an operation. What it returns is for rewind, which takes back what happened in memory since; several
	// marks are rewound from the last to the first. In a batch bytes at the end are not to be cut off: what else it
	// changes would have to be written anew from the first changed byte on.
	mark(u *stack.Unit, batch bool) int
	rewind(to int)

	// alloc returns where n bytes are. They are zero if zero is set.
	alloc(u *stack.Unit, n int64, zero bool) (off int64, err error)
	// allocBulk is alloc for each of lens, into offs; those of length 0 are left alone.
	allocBulk(u *stack.Unit, lens, offs []int64) error
	// realloc returns where the region is when it has n bytes.
	realloc(u *stack.Unit, r Region, n int64, zero bool) (off int64, err error)
	// resize is Resize; both results of moving the ends are sane and not empty.
	resize(u *stack.Unit, r Region, before, after int64) error
	free(u *stack.Unit, r Region) error
	// freeBulk frees regions, which are sorted by offset and do not overlap.
	freeBulk(u *stack.Unit, rs []Region) error

	// live says whether the bytes may be those of a live region or part of one, as far as can be told without reading.
	live(r Region) error
	// bounds are the reserved region and where the arena begins.
	bounds() (reserved Region, arena int64)

	layout(u *stack.Unit) ([]Span, error)
	check(u *stack.Unit, report func(error))
	// reclaim makes everything free that is not in live, which is sorted, disjoint and not empty regions only.
	reclaim(u *stack.Unit, live []Region) (int64, error)
}
