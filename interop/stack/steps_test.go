// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// steps draws commands for an allocator that has the file open. The file is read for payloads that look like what
// allocators keep.
type steps struct {
	generator
	f    *format
	path string
	h    *holdings

	side  side       // that the step is for
	many  int        // regions: above that it is time to free some
	sides []*process // ours, and bstack
}

// work has a side do n steps.
func (s *steps) work(t *testing.T, p *process, n int) {
	t.Helper()
	for range n {
		s.h.run(t, p, s.next(t, p.side))
	}
}

// next draws a step for a side.
func (s *steps) next(t *testing.T, p side) step {
	t.Helper()
	s.side = p
	for {
		st, ok := s.draw(t)
		if name, _, _ := strings.Cut(st.line, " "); ok && s.f.has(p, name) {
			return st
		}
	}
}

// draw draws a step, unless there is nothing that it could be about.
func (s *steps) draw(t *testing.T) (step, bool) {
	t.Helper()
	r := s.one()
	w := s.IntN(100)
	if len(s.h.list) > s.many {
		w = 60 + w%20
	}
	switch {
	case w < 30:
		return s.alloc(t, "alloc"), true
	case w < 34:
		return s.alloc(t, "alloc_uninit"), true
	case w < 38:
		return s.allocBulk(t), true
	case r == nil:
		return step{}, false
	case w < 60:
		return s.write(t, r), true
	case w < 72:
		return step{line: "free " + r.words(), about: []*holding{r}, after: nothing}, true
	case w < 80:
		return s.freeBulk(), true
	case w < 90:
		return s.realloc(t, "realloc", r), true
	case w < 93:
		return s.realloc(t, "realloc_uninit", r), true
	default:
		return s.resize(t, r), true
	}
}

func nothing([]holding) []*holding { return nil }

// one is a live region, nil if there is none.
func (s *steps) one() *holding {
	if len(s.h.list) == 0 {
		return nil
	}
	if s.IntN(4) == 0 {
		return slices.MaxFunc(s.h.list, func(a, b *holding) int { return int(a.off - b.off) })
	}
	return s.h.list[s.IntN(len(s.h.list))]
}

// length is that of a region: most often small, at times just about what a block holds. In a large file, whose end is
// not worth cutting off each time, there are longer ones.
func (s *steps) length() int64 {
	if s.many > few && s.IntN(4) == 0 {
		return s.Int64N(8 << 10)
	}
	switch s.IntN(8) {
	case 0:
		return s.Int64N(1025)
	case 1:
		return max(8<<s.IntN(7)+s.Int64N(3)-1-8*s.Int64N(2), 0)
	default:
		return s.small()
	}
}

func (s *steps) alloc(t *testing.T, command string) step {
	t.Helper()
	n := s.length()
	return step{line: fmt.Sprint(command, " ", n), after: func(got []holding) []*holding {
		return []*holding{fresh(t, got[0], command == "alloc", n)}
	}}
}

// fresh is a region that was asked for with n bytes.
func fresh(t *testing.T, r holding, zero bool, n int64) *holding {
	t.Helper()
	if r.n != n {
		t.Fatalf("%d bytes asked for, %d given", n, r.n)
	}
	if zero {
		r.data = make([]byte, n)
	}
	return &r
}

func (s *steps) allocBulk(t *testing.T) step {
	t.Helper()
	var lens []int64
	line := "alloc_bulk"
	for range 1 + s.IntN(5) {
		lens = append(lens, s.length())
		line += fmt.Sprint(" ", lens[len(lens)-1])
	}
	return step{line: line, after: func(got []holding) (all []*holding) {
		for i, n := range lens {
			all = append(all, fresh(t, got[i], true, n))
		}
		return all
	}}
}

// write changes bytes that are known, and those behind them.
func (s *steps) write(t *testing.T, r *holding) step {
	t.Helper()
	at := s.Int64N(int64(len(r.data)) + 1)
	if s.IntN(2) == 0 {
		at = 0
	}
	data := s.payload(t, r.n-at)
	return step{
		line:  fmt.Sprintf("write %s %d %s", r.words(), at, bytesWord(data)),
		about: []*holding{r},
		after: func([]holding) []*holding {
			known := max(at+int64(len(data)), int64(len(r.data)))
			after := slices.Grow(bytes.Clone(r.data), int(r.n))[:known]
			copy(after[at:], data)
			return []*holding{{r.off, r.n, after, r.stale}}
		},
	}
}

// payload is up to n bytes. Often it is a copy of what the file has somewhere, so that it looks like what the allocator
// keeps.
func (s *steps) payload(t *testing.T, n int64) []byte {
	t.Helper()
	if s.IntN(5) > 0 {
		n = s.Int64N(n + 1)
	}
	if s.IntN(2) == 0 {
		return s.data(n)
	}
	file, err := os.Open(s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // only read
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, n)
	at := headerSize + s.Int64N(max(info.Size()-headerSize, 0)/8+1)*8
	if _, err := file.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return b
}

func (s *steps) realloc(t *testing.T, command string, r *holding) step {
	t.Helper()
	n := s.length()
	return step{
		line:    fmt.Sprintf("%s %s %d", command, r.words(), n),
		about:   []*holding{r},
		refused: !s.f.moves,
		after: func(got []holding) []*holding {
			after := fresh(t, got[0], false, n)
			after.data = bytes.Clone(r.data[:min(int64(len(r.data)), n)])
			if command == "realloc" && int64(len(r.data)) == r.n && n > r.n && !r.stale {
				after.data = append(after.data, make([]byte, n-r.n)...)
			}
			after.stale = r.stale && after.off == r.off
			return []*holding{after}
		},
	}
}

// resize moves the ends of a region.
func (s *steps) resize(t *testing.T, r *holding) step {
	t.Helper()
	side, before, after := s.side, s.delta(r.n/2), s.delta(r.n/2)
	switch s.IntN(4) {
	case 0:
		before = 0
	case 1:
		after = 0
	case 2:
		before, after = -up(max(-before, 0), 8), min(after, 0)
	}
	return step{
		line:    fmt.Sprintf("resize_region %s %d %d", r.words(), before, after),
		about:   []*holding{r},
		refused: true,
		after: func(got []holding) []*holding {
			n := r.n + before + after
			if n == 0 {
				return nil
			}
			moved := fresh(t, got[0], false, n)
			if moved.off != r.off-before {
				t.Fatalf("resized to begin at %d, want %d", moved.off, r.off-before)
			}
			moved.data = resized(r, before, after)
			moved.stale = r.stale || s.f.stale && side.name != holt.name && after < 0
			return []*holding{moved}
		},
	}
}

// delta is by how much an end is moved, by not more than shrink inwards.
func (s *steps) delta(shrink int64) int64 {
	if s.IntN(3) == 0 {
		return s.Int64N(200)
	}
	return -s.Int64N(shrink + 1)
}

// resized is what is known when the ends of a region have been moved. New bytes are zero.
func resized(r *holding, before, after int64) []byte {
	known := r.data
	if after > 0 && int64(len(known)) == r.n && !r.stale {
		known = append(bytes.Clone(known), make([]byte, after)...)
	}
	if before > 0 {
		known = append(make([]byte, before), known...)
	} else {
		known = known[min(-before, int64(len(known))):]
	}
	return bytes.Clone(known[:min(int64(len(known)), r.n+before+after)])
}

func (s *steps) freeBulk() step {
	about := slices.Clone(s.h.list)
	s.Shuffle(len(about), func(i, j int) { about[i], about[j] = about[j], about[i] })
	about = about[:1+s.IntN(min(len(about), 5))]
	line := "free_bulk"
	for _, r := range about {
		line += " " + r.words()
	}
	return step{line: line, about: about, after: nothing}
}
