// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// verifyFree demands that both sides can use the free space that our layout shows, and find no more.
func (s *steps) verifyFree(t *testing.T) {
	t.Helper()
	if s.f.room == nil {
		return // without free space
	}
	ours := s.freeBlocks(t)
	theirs := ours
	if s.f.merges {
		theirs = merged(ours)
	}
	if s.f.bound > 0 {
		theirs = slices.DeleteFunc(slices.Clone(ours), func(span alloc.Span) bool { return span.Len > s.f.bound })
	}
	s.drain(t, s.sides[0], ours)
	s.drain(t, s.sides[1], theirs)
}

// freeBlocks are those that our side finds, by offset.
func (s *steps) freeBlocks(t *testing.T) []alloc.Span {
	t.Helper()
	st, err := stack.Open(s.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()         //nolint:errcheck // only read
	a, err := alloc.Open(st) // which finds out what it is
	if err != nil {
		t.Fatal(err)
	}
	spans, err := a.Layout()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(spans, func(span alloc.Span) bool { return span.Kind != alloc.Free })
}

func merged(free []alloc.Span) (all []alloc.Span) {
	for _, span := range free {
		if n := len(all); n > 0 && all[n-1].Off+all[n-1].Len == span.Off {
			all[n-1].Len += span.Len
		} else {
			all = append(all, span)
		}
	}
	return all
}

// drain has a side allocate all that is free in a copy of the file, block by block, and then a byte more.
func (s *steps) drain(t *testing.T, p *process, free []alloc.Span) {
	t.Helper()
	path := filepath.Join(scratch(t), "copy")
	writeFile(t, path, readFile(t, s.path))
	p.do(t, s.f.openLine(path))
	length := p.do(t, "len")
	slices.SortStableFunc(free, func(a, b alloc.Span) int { return int(b.Len - a.Len) })
	for _, span := range free {
		place := strings.TrimPrefix(p.do(t, fmt.Sprint("alloc ", s.f.room(span.Len))), "ok ")
		if strings.Trim(strings.TrimPrefix(p.do(t, "read "+place), "ok "), "0") != "" {
			t.Fatalf("%s allocates bytes at %s that are not zero", p.name, place)
		}
		if got := p.do(t, "len"); got != length {
			t.Fatalf("%s does not find the free block of %d bytes at %d: length %s, was %s",
				p.name, span.Len, span.Off, got, length)
		}
	}
	p.do(t, "alloc 1")
	if p.do(t, "len") == length {
		t.Fatalf("%s finds more free space than %v", p.name, free)
	}
	p.do(t, "close")
}
