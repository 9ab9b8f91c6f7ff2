// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// TestAllocatorTurns lets both sides allocate, in turns in the same file.
func TestAllocatorTurns(t *testing.T) {
	eachFormat(t, func(t *testing.T, f *format) {
		eachSeed(t, *histories, func(t *testing.T, seed uint64) {
			s := newSteps(t, f, seed)
			for turn := range 10 {
				s.turn(t, s.sides[(turn+int(seed%2))%2])
			}
		})
	})
}

// turn has a side work on the file.
func (s *steps) turn(t *testing.T, p *process) {
	t.Helper()
	s.open(t, p)
	if s.f.has(p.side, "recover") && p.do(t, "recover") != "ok 0" {
		t.Fatalf("%s finds something to repair", p.name)
	}
	s.h.verify(t, p)
	s.work(t, p, s.many/2)
	s.h.verify(t, p)
	p.do(t, "close")
	s.verifyAtRest(t, true)
}

// few regions make a small file.
const few = 60

func newSteps(t *testing.T, f *format, seed uint64) *steps {
	t.Helper()
	many := few
	if seed%8 == 0 {
		many = 4 * few
	}
	return &steps{
		generator: newGenerator(seed), f: f, path: filepath.Join(scratch(t), f.name),
		h: new(holdings), many: many, sides: []*process{holt.start(t), crate.start(t)},
	}
}

// open has a side open the file. In a new one it fills the bytes that are the program's.
func (s *steps) open(t *testing.T, p *process) {
	t.Helper()
	p.do(t, s.f.openLine(s.path))
	if s.h.reserved == nil && s.f.reserved > 0 {
		s.h.reserved = s.data(s.f.reserved)
		if s.IntN(2) == 0 { // what looks like the header of another
			copy(s.h.reserved[min(16, s.f.reserved):], "ALFF\x00\x01\x04\x00ALSL\x00\x01\x02\x00")
		}
		p.do(t, "write_reserved 0 "+bytesWord(s.h.reserved))
	}
}

func (f *format) openLine(path string) string {
	return fmt.Sprintf("open_allocator %s %d %s", f.name, f.size, path)
}

// verifyAtRest demands of a file at rest, whoever wrote it, that our allocator opens it without a write, finds nothing
// wrong, and finds what it should: nothing but the live regions, unless some bytes may be lost.
func (s *steps) verifyAtRest(t *testing.T, nothingLost bool) {
	t.Helper()
	file := readFile(t, s.path)
	if isArmed(file) || !bytes.HasPrefix(file[headerSize:], s.h.reserved) {
		t.Fatalf("a file at rest that begins with %x", file[:headerSize+s.f.reserved])
	}
	st, err := stack.Open(s.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.f.open(st, s.f.size)
	if err != nil {
		t.Fatal(err)
	}
	if err := check(a); err != nil {
		t.Errorf("check: %v", err)
	}
	s.verifyLayout(t, a, int64(len(file))-headerSize, nothingLost)
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(readFile(t, s.path), file) {
		t.Error("opening a sound file has changed it")
	}
	if s.IntN(3) == 0 { // it takes its time
		s.verifyFree(t)
	}
}

// verifyLayout compares what our allocator finds in a file with what should be there.
func (s *steps) verifyLayout(t *testing.T, a alloc.Allocator, length int64, nothingLost bool) {
	t.Helper()
	spans, err := a.Layout()
	if err != nil {
		t.Fatal(err)
	}
	live := s.h.sorted()
	var end, used, want int64
	blocks := 0
	for _, span := range spans {
		if span.Off != end || span.Len <= 0 {
			t.Fatalf("a %v span of %d bytes at %d, behind one that ends at %d", span.Kind, span.Len, span.Off, end)
		}
		end += span.Len
		if span.Kind == alloc.Used {
			used += span.Len
			blocks++
			for len(live) > 0 && live[0].off >= span.Off && live[0].end() <= end {
				live = live[1:]
			}
		}
	}
	if len(live) > 0 {
		t.Fatalf("region %s is not where something is in use", live[0].words())
	}
	if end != length {
		t.Errorf("the layout ends at %d, the payload at %d", end, length)
	}
	if s.f.block == nil {
		used, want = int64(blocks), int64(len(s.h.list))
	} else {
		for _, r := range s.h.list {
			want += s.f.block(r.n)
		}
	}
	if nothingLost && s.f.room != nil && used != want {
		t.Errorf("%d bytes or blocks in use, want %d", used, want)
	}
}
