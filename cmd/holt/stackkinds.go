// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// allocatorKind is a kind of allocator that an empty stack can be given.
type allocatorKind struct {
	name   string
	blocks bool // wants a block size
	open   func(s *stack.Stack, blockSize int64) (alloc.Allocator, error)
}

var allocatorKinds = []allocatorKind{
	{"ghosttree", false, func(s *stack.Stack, _ int64) (alloc.Allocator, error) { return alloc.OpenGhostTree(s) }},
	{"firstfit", false, func(s *stack.Stack, _ int64) (alloc.Allocator, error) { return alloc.OpenFirstFit(s) }},
	{"slab", true, func(s *stack.Stack, size int64) (alloc.Allocator, error) { return alloc.OpenSlab(s, size) }},
	{"checked-slab", true, func(s *stack.Stack, size int64) (alloc.Allocator, error) {
		return alloc.OpenCheckedSlab(s, size)
	}},
	{"segregated", false, func(s *stack.Stack, _ int64) (alloc.Allocator, error) { return alloc.OpenSegregated(s) }},
}

func allocatorNames() []string {
	names := make([]string, len(allocatorKinds))
	for i, k := range allocatorKinds {
		names[i] = k.name
	}
	return names
}

// kindFlags are the flags that choose a kind of allocator.
type kindFlags struct {
	name      string
	blockSize int64
}

func (k *kindFlags) addFlags(cmd *cobra.Command, value, what string) {
	cmd.Flags().StringVar(&k.name, "allocator", value, what+", one of "+strings.Join(allocatorNames(), "|"))
	cmd.Flags().Int64Var(&k.blockSize, "block-size", 0,
		"bytes for data in a block, for allocators whose blocks are all of one size")
	completeWith(cmd, "allocator", allocatorNames())
}

// kind is what the flags choose. It reports flags that do not fit together, for an allocator that is to be created or
// is there already.
func (k *kindFlags) kind(create bool) (allocatorKind, error) {
	i := slices.Index(allocatorNames(), k.name)
	if i < 0 {
		return allocatorKind{}, usagef("unknown allocator %q, use one of %s", k.name, strings.Join(allocatorNames(), "|"))
	}
	switch kind := allocatorKinds[i]; {
	case k.blockSize < 0:
		return kind, usagef("a block size of %d", k.blockSize)
	case !kind.blocks && k.blockSize > 0:
		return kind, usagef("%s has blocks of any size: no --block-size", k.name)
	case kind.blocks && k.blockSize == 0 && create:
		return kind, usagef("%s needs --block-size", k.name)
	default:
		return kind, nil
	}
}

// open opens the allocator of a stack, or creates it in an empty one.
func (k *kindFlags) open(s *stack.Stack) (alloc.Allocator, error) {
	kind, err := k.kind(s.IsEmpty())
	if err != nil {
		return nil, err
	}
	return kind.open(s, k.blockSize)
}
