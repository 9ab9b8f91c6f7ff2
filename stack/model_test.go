// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/internal/fixture"
	"github.com/holtdb/holt/stack"
)

// A stack, and what it should hold: a slice of bytes.
type machine struct {
	disk   *file.Crash
	s      *stack.Stack
	p      []byte // the payload
	locked int
}

func newMachine(t *rapid.T) *machine {
	m := &machine{disk: file.NewCrash()}
	m.disk.SetSector(blockSize)
	m.open(t)
	return m
}

func (m *machine) open(t *rapid.T) {
	s, err := stack.OpenFS(m.disk, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.s, m.locked = s, 0
}

// Check is the invariant.
func (m *machine) Check(t *rapid.T) {
	got, err := m.s.Peek(0)
	if err != nil || !bytes.Equal(got, m.p) || m.s.Len() != int64(len(m.p)) {
		t.Fatalf("holds %d bytes, %v, want %d; they differ from %d on", len(got), err, len(m.p), agree(got, m.p))
	}
}

// expect makes sure that a call was refused if it had to be, and says whether it was made.
func expect(t *rapid.T, err, want error) bool {
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Fatalf("got error %v, want %v", err, want)
	}
	return err == nil
}

// data draws bytes to write.
func data(t *rapid.T, label string) []byte {
	n := rapid.SampledFrom([]int{0, 1, 2, 5, 30, 255, 256, 300}).Draw(t, label)
	return text(n, rapid.Byte().Draw(t, label+" seed"))
}

// offset draws one that is mostly inside the payload, or near a limit of a block.
func (m *machine) offset(t *rapid.T, label string) int {
	return rapid.OneOf(rapid.IntRange(-1, len(m.p)+2), rapid.SampledFrom([]int{223, 224, 225, 480})).Draw(t, label)
}

// size draws how many bytes are meant.
func (m *machine) size(t *rapid.T, label string) int {
	return rapid.OneOf(rapid.IntRange(-1, 10), rapid.IntRange(0, len(m.p)+2)).Draw(t, label)
}

// inRange is the error of a range, and inPlace that of a change there.
func (m *machine) inRange(off, n int) error {
	if off < 0 || n < 0 || off+n > len(m.p) {
		return stack.ErrRange
	}
	return nil
}

func (m *machine) inPlace(off, n int) error {
	if err := m.inRange(off, n); err != nil || off >= m.locked {
		return err
	}
	return stack.ErrPrefix
}

// cuts is the error of cutting n bytes off.
func (m *machine) cuts(n int) error {
	switch {
	case n < 0 || n > len(m.p):
		return stack.ErrRange
	case n > 0 && len(m.p)-n < m.locked:
		return stack.ErrPrefix
	}
	return nil
}

func (m *machine) Push(t *rapid.T) {
	d := data(t, "data")
	off, err := m.s.Push(d)
	if expect(t, err, nil) && off != int64(len(m.p)) {
		t.Fatalf("pushed at %d", off)
	}
	m.p = append(m.p, d...)
}

func (m *machine) Resize(t *rapid.T) {
	n := m.size(t, "n") + rapid.IntRange(0, 300).Draw(t, "more")
	call := rapid.SampledFrom([]string{"Extend", "Resize", "Ensure", "ExtendSparse"}).Draw(t, "call")
	was := int64(len(m.p))
	to, d := n, []byte(nil)
	var err, want error
	switch call {
	case "Extend":
		to = len(m.p) + n
		_, err = m.s.Extend(int64(n))
	case "Ensure":
		to = max(n, len(m.p))
		_, err = m.s.Ensure(int64(n))
	case "Resize":
		want = m.cuts(max(len(m.p)-n, 0))
		was, err = m.s.Resize(int64(n))
	case "ExtendSparse":
		to, d = len(m.p)+n, data(t, "data")
		if len(d) > n {
			want = stack.ErrRange
		}
		was, err = m.s.ExtendSparse(d, int64(n))
	}
	if n < 0 && call != "Ensure" {
		want = stack.ErrRange
	}
	if !expect(t, err, want) {
		return
	}
	if was != int64(len(m.p)) {
		t.Fatalf("the length was %d", was)
	}
	start := len(m.p)
	m.p = append(m.p, zeros[:max(to-len(m.p), 0)]...)[:to]
	over(m.p, min(start, to), d)
}

func (m *machine) Cut(t *rapid.T) {
	n := m.size(t, "n")
	want := m.cuts(n)
	if rapid.Bool().Draw(t, "pop") {
		got, err := m.s.Pop(int64(n))
		if expect(t, err, want) && !bytes.Equal(got, m.p[len(m.p)-n:]) {
			t.Fatalf("popped %x", got)
		}
	} else {
		expect(t, m.s.Discard(int64(n)), want)
	}
	if want == nil {
		m.p = m.p[:len(m.p)-n]
	}
}

func (m *machine) Splice(t *rapid.T) {
	n, d := m.size(t, "n"), data(t, "data")
	cut, err := m.s.Splice(int64(n), d)
	if !expect(t, err, m.cuts(n)) {
		return
	}
	if !bytes.Equal(cut, m.p[len(m.p)-n:]) {
		t.Fatalf("cut %x", cut)
	}
	m.p = append(m.p[:len(m.p)-n], d...)
}

func (m *machine) Try(t *rapid.T) {
	at := len(m.p) + rapid.IntRange(-1, 1).Draw(t, "off by")
	d := data(t, "data")
	ok, err := m.s.TryExtend(int64(at), d)
	if expect(t, err, nil) && ok != (at == len(m.p)) {
		t.Fatalf("extended: %v", ok)
	}
	if ok {
		m.p = append(m.p, d...)
	}
}

func (m *machine) Set(t *rapid.T) {
	off, d := m.offset(t, "off"), data(t, "data")
	var want error
	if len(d) > 0 {
		want = m.inPlace(off, len(d))
	}
	if rapid.Bool().Draw(t, "swap") {
		old, err := m.s.Swap(int64(off), d)
		if expect(t, err, want) && len(d) > 0 && !bytes.Equal(old, m.p[off:off+len(d)]) {
			t.Fatalf("there was %x", old)
		}
	} else {
		expect(t, m.s.Set(int64(off), d), want)
	}
	if want == nil && len(d) > 0 {
		over(m.p, off, d)
	}
}

func (m *machine) CompareAndSwap(t *rapid.T) {
	off, d := m.offset(t, "off"), data(t, "data")
	if len(d) == 0 {
		return
	}
	want := m.inPlace(off, len(d))
	was := bytes.Repeat([]byte{0}, len(d))
	if m.inRange(off, len(d)) == nil {
		copy(was, m.p[off:])
	}
	same := rapid.Bool().Draw(t, "same")
	if !same {
		was[len(was)-1]++
	}
	ok, err := m.s.CompareAndSwap(int64(off), was, d)
	if !expect(t, err, want) {
		return
	}
	if ok != same {
		t.Fatalf("swapped: %v", ok)
	}
	if ok {
		over(m.p, off, d)
	}
}

func (m *machine) Repeat(t *rapid.T) {
	off, pattern := m.offset(t, "off"), text(rapid.IntRange(1, 5).Draw(t, "pattern"), 7)
	count := m.size(t, "count") / len(pattern)
	var want error
	if count != 0 {
		want = m.inPlace(off, count*len(pattern))
	}
	if expect(t, m.s.Repeat(int64(off), pattern, int64(count)), want) && count > 0 {
		over(m.p, off, bytes.Repeat(pattern, count))
	}
}

func (m *machine) Copy(t *rapid.T) {
	from, to, n := m.offset(t, "from"), m.offset(t, "to"), m.size(t, "n")
	var want error
	if n != 0 && (from != to || n < 0) {
		want = cmp.Or(m.inRange(from, n), m.inPlace(to, n))
	}
	if expect(t, m.s.Copy(int64(from), int64(to), int64(n)), want) && n > 0 && from != to {
		copy(m.p[to:to+n], m.p[from:from+n])
	}
}

func (m *machine) CrossExchange(t *rapid.T) {
	a, b, n := m.offset(t, "a"), m.offset(t, "b"), m.size(t, "n")
	var want error
	switch {
	case n > 0 && a < b+n && b < a+n:
		want = stack.ErrOverlap
	case n != 0:
		want = cmp.Or(m.inPlace(a, n), m.inPlace(b, n))
	}
	if expect(t, m.s.CrossExchange(int64(a), int64(b), int64(n)), want) && n > 0 {
		at := bytes.Clone(m.p[a : a+n])
		copy(m.p[a:a+n], m.p[b:b+n])
		over(m.p, b, at)
	}
}

func (m *machine) SetBatched(t *rapid.T) {
	var pieces []stack.Piece
	after := bytes.Clone(m.p)
	touched := map[int]bool{}
	var overlap bool
	errs := map[error]bool{}
	for range rapid.IntRange(0, 5).Draw(t, "pieces") {
		off, d := m.offset(t, "off"), text(rapid.IntRange(0, 40).Draw(t, "n"), rapid.Byte().Draw(t, "seed"))
		pieces = append(pieces, stack.Piece{Off: int64(off), Data: d})
		if len(d) == 0 {
			continue
		}
		err := m.inPlace(off, len(d))
		if errs[err] = true; err == nil {
			over(after, off, d)
		}
		for i := range d {
			overlap = overlap || touched[off+i]
			touched[off+i] = true
		}
	}
	err := m.s.SetBatched(pieces)
	switch {
	case err == nil:
		if overlap || errs[stack.ErrRange] || errs[stack.ErrPrefix] {
			t.Fatal("not refused")
		}
		m.p = after
	case errors.Is(err, stack.ErrOverlap):
		expect(t, err, stack.ErrOverlap)
		if !overlap {
			t.Fatal(err)
		}
	case !errs[stack.ErrRange] && !errs[stack.ErrPrefix]:
		t.Fatal(err)
	}
}

// Update makes a unit of random changes, some of which are refused, and gives it up sometimes.
func (m *machine) Update(t *rapid.T) {
	was := m.p
	m.p = bytes.Clone(m.p)
	giveUp := rapid.IntRange(0, 4).Draw(t, "give up") == 0
	err := m.s.Update(func(u *stack.Unit) error {
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			m.change(t, u)
			got := make([]byte, len(m.p))
			if _, err := u.ReadAt(got, 0); err != nil || !bytes.Equal(got, m.p) || u.Len() != int64(len(m.p)) {
				t.Fatalf("the unit shows %d bytes, %v, want %d; they differ from %d on", len(got), err, len(m.p), agree(got, m.p))
			}
		}
		if giveUp {
			return errOwn
		}
		return nil
	})
	if giveUp {
		expect(t, err, errOwn)
		m.p = was
	} else {
		expect(t, err, nil)
	}
}

// change makes one change in a unit.
func (m *machine) change(t *rapid.T, u *stack.Unit) {
	switch rapid.SampledFrom([]string{"write", "zero", "push", "extend", "truncate", "pop"}).Draw(t, "change") {
	case "write":
		off, d := m.offset(t, "off"), data(t, "data")
		if len(d) == 0 {
			return
		}
		if _, err := u.WriteAt(d, int64(off)); expect(t, err, m.inPlace(off, len(d))) {
			over(m.p, off, d)
		}
	case "zero":
		off, n := m.offset(t, "off"), m.size(t, "n")
		if n == 0 {
			return
		}
		if expect(t, u.Zero(int64(off), int64(n)), m.inPlace(off, n)) {
			clear(m.p[off : off+n])
		}
	case "push":
		d := data(t, "data")
		if off, err := u.Push(d); expect(t, err, nil) && off != int64(len(m.p)) {
			t.Fatalf("pushed at %d", off)
		}
		m.p = append(m.p, d...)
	case "extend":
		n := m.size(t, "n")
		var want error
		if n < 0 {
			want = stack.ErrRange
		}
		if _, err := u.Extend(int64(n)); expect(t, err, want) {
			m.p = append(m.p, zeros[:n]...)
		}
	case "truncate":
		n := m.size(t, "n")
		want := m.cuts(len(m.p) - n)
		if n < 0 {
			want = stack.ErrRange
		}
		if expect(t, u.Truncate(int64(n)), want) {
			m.p = m.p[:n]
		}
	case "pop":
		n := max(m.size(t, "n"), 0)
		d := make([]byte, n)
		if expect(t, u.Pop(d), m.cuts(n)) {
			if !bytes.Equal(d, m.p[len(m.p)-n:]) {
				t.Fatalf("popped %x", d)
			}
			m.p = m.p[:len(m.p)-n]
		}
	}
}

func (m *machine) Get(t *rapid.T) {
	off, n := m.offset(t, "off"), m.size(t, "n")
	got, err := m.s.Get(int64(off), int64(off+n))
	if expect(t, err, m.inRange(off, n)) && !bytes.Equal(got, m.p[off:off+n]) {
		t.Fatalf("got %x", got)
	}
}

func (m *machine) Read(t *rapid.T) {
	off, size := max(m.offset(t, "off"), 0), rapid.IntRange(1, 100).Draw(t, "at once")
	r := m.s.NewReader(int64(off))
	got, err := io.ReadAll(struct{ io.Reader }{io.MultiReader(io.LimitReader(r, int64(size)), r)})
	if expect(t, err, nil) && !bytes.Equal(got, m.p[min(off, len(m.p)):]) {
		t.Fatalf("read %x", got)
	}
}

func (m *machine) LockUpTo(t *rapid.T) {
	n := min(m.size(t, "n"), m.locked+10) // leaves something to change
	var want error
	if n < m.locked || n > len(m.p) {
		want = stack.ErrRange
	}
	if expect(t, m.s.LockUpTo(int64(n)), want) {
		m.locked = n
	}
}

// Large changes the stack by what is not staged byte by byte.
func (m *machine) Large(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "seldom") > 0 {
		return
	}
	start := len(m.p)
	_, err := m.s.Extend(2 * large)
	expect(t, err, nil)
	m.p = append(m.p, zeros[:2*large]...)
	expect(t, m.s.Repeat(int64(start+5), text(100, 3), large/100), nil)
	over(m.p, start+5, bytes.Repeat(text(100, 3), large/100))
	expect(t, m.s.Copy(int64(start), int64(start+large), large), nil)
	over(m.p, start+large, m.p[start:start+large])
	m.Check(t)
	expect(t, m.s.Discard(2*large-300), nil)
	m.p = slices.Clip(m.p[:start+300])
}

func (m *machine) Reopen(t *rapid.T) {
	if err := m.s.Close(); err != nil {
		t.Fatal(err)
	}
	m.open(t)
}

// Crash cuts the power while nothing is under way but what comes after an acknowledgement.
func (m *machine) Crash(t *rapid.T) {
	after := m.disk.AfterCut(rapid.Uint64().Draw(t, "fate"))
	m.disk.Cut()
	_ = m.s.Close() // without power it fails as everything else
	m.disk = after
	m.open(t)
}

func model(t *rapid.T) {
	m := newMachine(t)
	defer func() { _ = m.s.Close() }()
	t.Repeat(rapid.StateMachineActions(m))
}

func TestModel(t *testing.T) { rapid.Check(t, model) }

func FuzzModel(f *testing.F) {
	fixture.Draws(f)
	f.Fuzz(rapid.MakeFuzz(model))
}
