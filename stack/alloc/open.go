// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"bytes"
	"fmt"

	"github.com/holtdb/holt/stack"
)

// formats are the allocators whose files can be told, in the order in which they are looked for: a reserved region in
// front of one's magic may hold what looks like that of the next.
var formats = []struct {
	magic string // what has to agree of it
	at    int    // where in the payload
	open  func(s *stack.Stack) (Allocator, error)
}{
	{"ALGT\x00\x01", 32, opener(OpenGhostTree)},
	{"ALSL\x00\x01", 24, opener(func(s *stack.Stack) (*Slab, error) { return OpenSlab(s, 0) })},
	{"ALCK\x00\x01", 24, opener(func(s *stack.Stack) (*CheckedSlab, error) { return OpenCheckedSlab(s, 0) })},
	{"ALSG\x00\x02", 24, opener(OpenSegregated)},
	{"ALFF\x00\x01", 16, opener(OpenFirstFit)},
}

// opener is an Open function as one of [Allocator].
func opener[A Allocator](open func(s *stack.Stack) (A, error)) func(s *stack.Stack) (Allocator, error) {
	return func(s *stack.Stack) (Allocator, error) {
		a, err := open(s)
		if err != nil {
			return nil, err
		}
		return a, nil
	}
}

// formatsEnd is where the last magic ends.
const formatsEnd = 40

// Open opens the allocator whose header the payload has. [ErrFormat] if it has none, as an empty payload and that of a
// [Linear].
func Open(s *stack.Stack) (Allocator, error) {
	head := make([]byte, min(s.Len(), formatsEnd))
	if err := s.GetInto(0, head); err != nil {
		return nil, err
	}
	for _, f := range formats {
		if f.at < len(head) && bytes.HasPrefix(head[f.at:], []byte(f.magic)) {
			return f.open(s)
		}
	}
	return nil, fmt.Errorf("%w: %s: no allocator's header", ErrFormat, s.Path())
}

// Name is the name of the kind of allocator: "ghosttree", "firstfit", "slab", "checked-slab", "segregated" or "linear",
// and for others that of the Go type.
func Name(a Allocator) string {
	switch a.(type) {
	case *GhostTree:
		return "ghosttree"
	case *FirstFit:
		return "firstfit"
	case *Slab:
		return "slab"
	case *CheckedSlab:
		return "checked-slab"
	case *Segregated:
		return "segregated"
	case *Linear:
		return "linear"
	}
	return fmt.Sprintf("%T", a)
}
