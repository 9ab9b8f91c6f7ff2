// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package chain_test

import (
	"strings"
	"testing"

	"github.com/holtdb/holt/cmd/holt/internal/chain"
	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

func open(t *testing.T, disk file.FS) (*alloc.GhostTree, func()) {
	t.Helper()
	s, err := stack.Open("chain.stack", &stack.Options{FS: disk, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	a, err := alloc.OpenGhostTree(s)
	if err != nil {
		t.Fatal(err)
	}
	return a, func() {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func mustOpen(t *testing.T, a alloc.Allocator) *chain.Chain {
	t.Helper()
	c, err := chain.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChain(t *testing.T) {
	disk := file.NewMemory()
	for n := range 120 { // each in a new session
		a, done := open(t, disk)
		c := mustOpen(t, a)
		if c.Last() != uint64(n) || c.Len() != len(c.Regions()) || c.Len() > n {
			t.Fatalf("%d links up to %d, want %d", c.Len(), c.Last(), n)
		}
		if err := c.Add(); err != nil {
			t.Fatal(err)
		}
		if lost, err := a.Reclaim(c.Regions()); err != nil || lost != 0 {
			t.Fatalf("%d bytes were lost, %v", lost, err)
		}
		done()
	}
}

// TestDamage changes single bytes of a file, which Open must notice.
func TestDamage(t *testing.T) {
	a, done := open(t, file.NewMemory())
	defer done()
	c := mustOpen(t, a)
	for range 10 {
		if err := c.Add(); err != nil {
			t.Fatal(err)
		}
	}
	regions := c.Regions()
	last := regions[len(regions)-1]
	for _, off := range []int64{0, 8, last.Off, last.Off + 8, last.Off + 16, last.End() - 1, regions[0].Off + 16} {
		old := make([]byte, 1)
		if err := a.Stack().GetInto(off, old); err != nil {
			t.Fatal(err)
		}
		if err := a.Stack().Set(off, []byte{old[0] + 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := chain.Open(a); err == nil {
			t.Errorf("byte %d is another one, and nobody noticed", off)
		}
		if err := a.Stack().Set(off, old); err != nil {
			t.Fatal(err)
		}
	}
	mustOpen(t, a)
}

// TestMissingLink takes the last link away, and another one.
func TestMissingLink(t *testing.T) {
	a, done := open(t, file.NewMemory())
	defer done()
	c := mustOpen(t, a)
	for range 9 {
		if err := c.Add(); err != nil {
			t.Fatal(err)
		}
	}
	regions := c.Regions()
	point := func(at int64, to alloc.Region) {
		b := to.Bytes()
		if err := a.Stack().Set(at, b[:]); err != nil {
			t.Fatal(err)
		}
	}
	point(regions[5].Off, regions[3])
	if _, err := chain.Open(a); err == nil || !strings.Contains(err.Error(), "link 7 is missing") {
		t.Errorf("error %v", err)
	}
	point(regions[0].Off, regions[5])
	if _, err := chain.Open(a); err == nil || !strings.Contains(err.Error(), "link 1 leads to link 9") {
		t.Errorf("error %v", err)
	}
}
