// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"
	"testing/iotest"

	"github.com/holtdb/holt/stack"
)

// reads makes every kind of read of some bytes that a stack of 100 has.
func reads(s *stack.Stack) map[string]error {
	errs := map[string]error{}
	_, errs["Get"] = s.Get(10, 20)
	errs["GetInto"] = s.GetInto(10, make([]byte, 5))
	_, errs["Peek"] = s.Peek(50)
	errs["PeekInto"] = s.PeekInto(10, make([]byte, 5))
	_, errs["GetBatched"] = s.GetBatched([]stack.Range{{Start: 1, End: 2}})
	errs["GetBatchedInto"] = s.GetBatchedInto([]stack.Read{{Off: 10, P: make([]byte, 5)}})
	errs["GetBatchedFunc"] = s.GetBatchedFunc(inTurn(stack.Read{Off: 10, P: make([]byte, 5)}))
	_, errs["ReadAt"] = s.ReadAt(make([]byte, 5), 10)
	_, errs["Reader"] = s.NewReader(0).Read(make([]byte, 5))
	return errs
}

// inTurn is a source for GetBatchedFunc.
func inTurn(all ...stack.Read) func() (stack.Read, bool) {
	return func() (stack.Read, bool) {
		if len(all) == 0 {
			return stack.Read{}, false
		}
		r := all[0]
		all = all[1:]
		return r, true
	}
}

func TestReads(t *testing.T) {
	want := text(100, 0)
	s, disk := openWith(t, want)
	was := disk.Counts().Ops
	for _, r := range []stack.Range{{0, 100}, {0, 0}, {100, 100}, {99, 100}, {0, 1}, {30, 70}} {
		p, err := s.Get(r.Start, r.End)
		check(t, err)
		same(t, p, want[r.Start:r.End])
		into := make([]byte, r.End-r.Start)
		check(t, s.GetInto(r.Start, into))
		same(t, into, want[r.Start:r.End])
		check(t, s.PeekInto(r.Start, into))
		same(t, into, want[r.Start:r.End])
		p, err = s.Peek(r.Start)
		check(t, err)
		same(t, p, want[r.Start:])
	}
	got, err := s.GetBatched([]stack.Range{{90, 100}, {0, 3}, {5, 5}})
	check(t, err)
	if len(got) != 3 {
		t.Fatalf("%d results", len(got))
	}
	same(t, bytes.Join(got, nil), append(bytes.Clone(want[90:]), want[:3]...))
	a, b := make([]byte, 10), make([]byte, 3)
	check(t, s.GetBatchedInto([]stack.Read{{90, a}, {0, b}, {100, nil}}))
	same(t, append(a, b...), append(bytes.Clone(want[90:]), want[:3]...))
	if now := disk.Counts().Ops; now != was {
		t.Errorf("reads made %d changing calls", now-was)
	}
}

// The source of GetBatchedFunc sees what a read found before it is asked for the next.
func TestReadsThatFollowEachOther(t *testing.T) {
	s, _ := openWith(t, []byte{3, 0, 0, 5, 0, 42})
	next, hops := make([]byte, 1), 0
	check(t, s.GetBatchedFunc(func() (stack.Read, bool) {
		hops++
		return stack.Read{Off: int64(next[0]), P: next}, hops <= 3
	}))
	if next[0] != 42 {
		t.Errorf("arrived at %d", next[0])
	}
}

func TestReadsThatAreRefused(t *testing.T) {
	s, _ := openWith(t, text(100, 0))
	for _, r := range []stack.Range{
		{0, 101},
		{101, 101},
		{60, 50},
		{-1, 5},
		{-2, -1},
		{math.MaxInt64, math.MaxInt64},
		{5, math.MaxInt64},
		{5, math.MinInt64},
	} {
		_, err := s.Get(r.Start, r.End)
		refused(t, err, stack.ErrRange)
		_, err = s.GetBatched([]stack.Range{{1, 2}, r})
		refused(t, err, stack.ErrRange)
	}
	for _, off := range []int64{96, 101, -1, math.MaxInt64, math.MinInt64} {
		p := make([]byte, 5)
		refused(t, s.GetInto(off, p), stack.ErrRange)
		refused(t, s.PeekInto(off, p), stack.ErrRange)
		refused(t, s.GetBatchedInto([]stack.Read{{Off: off, P: p}}), stack.ErrRange)
		refused(t, s.GetBatchedFunc(inTurn(stack.Read{Off: 1, P: p}, stack.Read{Off: off, P: p})), stack.ErrRange)
	}
	for _, off := range []int64{101, -1, math.MaxInt64, math.MinInt64} {
		_, err := s.Peek(off)
		refused(t, err, stack.ErrRange)
	}
	_, err := s.ReadAt(make([]byte, 5), -1)
	refused(t, err, stack.ErrRange)
}

func TestReadAt(t *testing.T) {
	want := text(100, 0)
	s, _ := openWith(t, want)
	for _, c := range []struct {
		off  int64
		n    int
		want []byte
		err  error
	}{
		{0, 100, want, nil},
		{95, 5, want[95:], nil},
		{95, 6, want[95:], io.EOF},
		{100, 1, nil, io.EOF},
		{100, 0, nil, nil},
		{math.MaxInt64, 1, nil, io.EOF},
	} {
		p := make([]byte, c.n)
		n, err := s.ReadAt(p, c.off)
		if n != len(c.want) || !errors.Is(err, c.err) {
			t.Errorf("%d bytes at %d: %d, %v", c.n, c.off, n, err)
		}
		same(t, p[:n], c.want)
	}
	check(t, iotest.TestReader(io.NewSectionReader(s, 0, 100), want))
}

func TestReader(t *testing.T) {
	want := text(100, 0)
	s, _ := openWith(t, want)
	check(t, iotest.TestReader(s.NewReader(0), want))
	r := s.NewReader(98)
	got, err := io.ReadAll(r)
	check(t, err)
	same(t, got, want[98:])
	if r.Position() != 100 {
		t.Errorf("position %d", r.Position())
	}
	_, err = s.Push(text(5, 1)) // the length is that at the time of the call
	check(t, err)
	got, err = io.ReadAll(r)
	check(t, err)
	same(t, got, text(5, 1))
	check(t, s.Discard(50))
	n, err := r.Read(make([]byte, 5))
	if n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("behind the end: %d, %v", n, err)
	}
}

func TestSeek(t *testing.T) {
	s, _ := openWith(t, text(100, 0))
	r := s.NewReader(10)
	for _, c := range []struct {
		off    int64
		whence int
		want   int64
	}{
		{5, io.SeekStart, 5},
		{-3, io.SeekCurrent, 2},
		{0, io.SeekCurrent, 2},
		{-100, io.SeekEnd, 0},
		{0, io.SeekEnd, 100},
		{1 << 40, io.SeekEnd, 100 + 1<<40},
	} {
		got, err := r.Seek(c.off, c.whence)
		check(t, err)
		if got != c.want || r.Position() != c.want {
			t.Errorf("seeking %d from %d: %d, at %d", c.off, c.whence, got, r.Position())
		}
	}
	for _, c := range []struct {
		off    int64
		whence int
	}{{-1, io.SeekStart}, {-101, io.SeekEnd}, {math.MaxInt64, io.SeekCurrent}, {0, 3}, {0, -1}} {
		_, err := r.Seek(c.off, c.whence)
		refused(t, err, stack.ErrRange)
		if r.Position() != 100+1<<40 {
			t.Errorf("a failed Seek moved to %d", r.Position())
		}
	}
}

func TestWriter(t *testing.T) {
	s, disk := openWith(t, nil)
	n, err := io.Copy(s, iotest.OneByteReader(bytes.NewReader(text(20, 0))))
	check(t, err)
	if n != 20 {
		t.Errorf("%d bytes", n)
	}
	s.Rest()
	rests(t, disk, text(20, 0))
}

// Readers are not locked out while a change waits for the disk, and see nothing of it before it is durable.
func TestReadersDoNotWaitForSyncs(t *testing.T) {
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			disk, gate := gated(diskWith(t, m.before()))
			s := open(t, disk, nil)
			if !s.IsEmpty() {
				gate.Allow(1)
				warm(t, s)
			}
			done := make(chan error)
			go func() {
				_, err := m.run(s)
				done <- err
			}()
			for range m.cost.acked {
				gate.Await()
				holds(t, s, m.before())
				gate.Allow(1)
			}
			check(t, <-done)
			holds(t, s, m.after(m.before()))
			gate.Open()
			check(t, s.Close())
		})
	}
}
