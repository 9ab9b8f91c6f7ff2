// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"slices"
	"testing"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// A format is an allocator that both sides have.
type format struct {
	name  string
	size  int64 // of the blocks, for those that are told
	open  func(s *stack.Stack, size int64) (alloc.Allocator, error)
	lacks []string // commands that bstack does not have for it
	older bool     // bstack 0.2 has it

	reserved int64               // bytes for the program at the beginning
	block    func(n int64) int64 // the size of the block of a region, where that is certain
	room     func(n int64) int64 // the longest region that fits into a free block of n bytes
	moves    bool                // regions can be resized wherever they are
	stale    bool                // bstack leaves what it cuts off a region in place, and shows it when that grows again
	merges   bool                // bstack merges free blocks when it opens a file
	bound    int64               // bstack looks at only some of the free blocks that are longer; 0 if at all
}

var formats = []*format{
	{
		name:  "linear",
		open:  func(s *stack.Stack, _ int64) (alloc.Allocator, error) { return alloc.OpenLinear(s) },
		lacks: []string{"alloc_uninit", "realloc_uninit", "recover"},
		older: true,
	},
	{
		name: "firstfit", moves: true, older: true, reserved: 16,
		open:  func(s *stack.Stack, _ int64) (alloc.Allocator, error) { return alloc.OpenFirstFit(s) },
		lacks: []string{"alloc_bulk", "free_bulk", "recover"},
		room:  func(n int64) int64 { return n - 24 },
	},
	{
		name: "ghosttree", moves: true, older: true, reserved: 32, merges: true, stale: true,
		open:  func(s *stack.Stack, _ int64) (alloc.Allocator, error) { return alloc.OpenGhostTree(s) },
		lacks: []string{"recover"},
		block: func(n int64) int64 { return max(32, up(n, 32)) },
		room:  func(n int64) int64 { return n },
	},
	{
		name: "slab", size: 64, moves: true, older: true, reserved: 24,
		open:  func(s *stack.Stack, size int64) (alloc.Allocator, error) { return alloc.OpenSlab(s, size) },
		lacks: []string{"recover", "resize_region"},
		block: func(n int64) int64 { return up(n, 64) },
		room:  func(n int64) int64 { return n },
	},
	{
		name: "checkedslab", size: 56, moves: true, older: true, reserved: 24,
		open:  func(s *stack.Stack, size int64) (alloc.Allocator, error) { return alloc.OpenCheckedSlab(s, size) },
		lacks: []string{"resize_region"},
		block: func(n int64) int64 { return up(n+8, 64) },
		room:  func(n int64) int64 { return n - 8 },
	},
	{
		name: "segregated", moves: true, reserved: 24, bound: 4096,
		open: func(s *stack.Stack, _ int64) (alloc.Allocator, error) { return alloc.OpenSegregated(s) },
		room: func(n int64) int64 { return n - 8 },
	},
}

// up rounds up.
func up(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

func formatNamed(name string) *format {
	return formats[slices.IndexFunc(formats, func(f *format) bool { return f.name == name })]
}

// has says whether a side knows a command.
func (f *format) has(p side, command string) bool {
	switch p.name {
	case holt.name:
		return true
	case old.name:
		return !slices.Contains(f.lacks, command) && !slices.Contains(newer, command) &&
			(command != "alloc_bulk" && command != "free_bulk" || f.size == 0)
	}
	return !slices.Contains(f.lacks, command)
}

// newer are commands that bstack 0.2 has for no allocator.
var newer = []string{"alloc_uninit", "realloc_uninit", "resize_region"}

// eachFormat runs a test for each format.
func eachFormat(t *testing.T, test func(t *testing.T, f *format)) {
	t.Helper()
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) { test(t, f) })
	}
}
