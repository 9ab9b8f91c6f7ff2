// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"testing"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// kind is a kind of allocator, and what is true of it.
type kind struct {
	name string
	open func(s *stack.Stack) (alloc.Allocator, error)

	// takes says how many bytes of the payload a live region of n has for itself, at least and at most.
	takes func(n int64) (least, most int64)

	resizes bool // Realloc works for every region, by moving it if need be
	shrinks bool // Resize can move the end of every region towards its beginning
	extends bool // Resize can move the end of a region over free bytes behind it
	reuses  bool // what is freed anywhere is used again
	merges  bool // free neighbours become one block
	apart   bool // the layout tells live regions from each other
	doubles bool // freeing twice is refused
	knows   bool // and so is what has been given out in part, or as a part of something else
	aligned bool // and what begins where no region can
}

// kinds are all of them. The suite runs for each.
var kinds = []kind{
	{
		name: "ghosttree", open: as(alloc.OpenGhostTree),
		takes:   func(n int64) (int64, int64) { n = (n + 31) &^ 31; return n, n },
		resizes: true, shrinks: true, extends: true, reuses: true, merges: true, doubles: true, aligned: true,
	},
	{
		name: "firstfit", open: as(alloc.OpenFirstFit),
		takes:   func(n int64) (int64, int64) { return max(16, (n+7)&^7) + 24, 1 << 40 }, // shrinking gives nothing back
		resizes: true, shrinks: true, extends: true, reuses: true, merges: true,
		apart: true, doubles: true, knows: true, aligned: true,
	},
	{
		name: "slab", open: as(func(s *stack.Stack) (*alloc.Slab, error) { return alloc.OpenSlab(s, 64) }),
		takes:   func(n int64) (int64, int64) { n = (n + 63) / 64 * 64; return n, n },
		resizes: true, shrinks: true, reuses: true, doubles: true, aligned: true,
	},
	{
		name:    "checked-slab",
		open:    as(func(s *stack.Stack) (*alloc.CheckedSlab, error) { return alloc.OpenCheckedSlab(s, 56) }),
		takes:   func(n int64) (int64, int64) { n = (n + 8 + 63) / 64 * 64; return n, n },
		resizes: true, shrinks: true, reuses: true, apart: true, doubles: true, knows: true, aligned: true,
	},
	{
		name: "segregated", open: as(alloc.OpenSegregated),
		takes:   func(n int64) (int64, int64) { n = (n + 8 + 15) &^ 15; return n, n + 496 + 240 }, // the class and a surplus
		resizes: true, shrinks: true, reuses: true, apart: true, doubles: true, knows: true, aligned: true,
	},
	{
		name: "linear", open: as(alloc.OpenLinear),
		takes: func(n int64) (int64, int64) { return n, n },
	},
}

// as makes a constructor one of any allocator.
func as[A alloc.Allocator](open func(s *stack.Stack) (A, error)) func(s *stack.Stack) (alloc.Allocator, error) {
	return func(s *stack.Stack) (alloc.Allocator, error) {
		a, err := open(s)
		if err != nil {
			return nil, err
		}
		return a, nil
	}
}

// forEach runs a test for every kind.
func forEach(t *testing.T, test func(t *testing.T, k *kind)) {
	t.Helper()
	for i := range kinds {
		t.Run(kinds[i].name, func(t *testing.T) { test(t, &kinds[i]) })
	}
}

// forAll runs a test for all kinds at the same time: one that counts nothing.
func forAll(t *testing.T, test func(t *testing.T, k *kind)) {
	t.Helper()
	forEach(t, func(t *testing.T, k *kind) {
		t.Parallel()
		test(t, k)
	})
}
