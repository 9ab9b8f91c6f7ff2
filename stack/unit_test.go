// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/holtdb/holt/stack"
)

// inUnit runs fn in a unit that is given up in the end, on 100 bytes of which 10 are locked.
func inUnit(t *testing.T, fn func(u *stack.Unit)) {
	t.Helper()
	s, disk := openWith(t, text(100, 0))
	check(t, s.LockUpTo(10))
	refused(t, s.Update(func(u *stack.Unit) error {
		fn(u)
		return errOwn
	}), errOwn)
	holds(t, s, text(100, 0))
	s.Rest()
	rests(t, disk, text(100, 0))
}

// shows makes sure that a unit sees this payload, by reads of many ranges.
func shows(t *testing.T, u *stack.Unit, want []byte) {
	t.Helper()
	if u.Len() != int64(len(want)) {
		t.Fatalf("%d bytes long, want %d", u.Len(), len(want))
	}
	for start := 0; start <= len(want); start += 7 {
		for end := start; end <= len(want); end += 11 {
			p := bytes.Repeat([]byte{0xEE}, end-start)
			n, err := u.ReadAt(p, int64(start))
			check(t, err)
			same(t, p[:n], want[start:end])
		}
	}
}

func TestUnitSeesItsChanges(t *testing.T) {
	inUnit(t, func(u *stack.Unit) {
		want := text(100, 0)
		shows(t, u, want)
		for i, off := range []int{20, 25, 18, 30, 22, 10, 95, 19} { // across each other
			_, err := u.WriteAt(text(5, byte(i+1)), int64(off))
			check(t, err)
			shows(t, u, over(want, off, text(5, byte(i+1))))
		}
		off, err := u.Push(text(30, 9))
		check(t, err)
		if off != 100 {
			t.Errorf("pushed at %d", off)
		}
		want = append(want, text(30, 9)...)
		shows(t, u, want)
		check(t, u.Zero(90, 20))
		shows(t, u, over(want, 90, zeros[:20]))
		check(t, u.Truncate(50))
		want = want[:50]
		shows(t, u, want)
		off, err = u.Extend(100)
		check(t, err)
		if off != 50 {
			t.Errorf("extended at %d", off)
		}
		want = append(bytes.Clone(want), zeros[:100]...)
		shows(t, u, want)
		_, err = u.WriteAt(text(40, 8), 40)
		check(t, err)
		shows(t, u, over(want, 40, text(40, 8)))
		p := make([]byte, 80)
		check(t, u.Pop(p))
		same(t, p, want[70:])
		shows(t, u, want[:70])
	})
}

func TestUnitRefusals(t *testing.T) {
	inUnit(t, func(u *stack.Unit) {
		read := func(off int64, n int) error {
			_, err := u.ReadAt(make([]byte, n), off)
			return err
		}
		write := func(off int64, n int) error {
			_, err := u.WriteAt(make([]byte, n), off)
			return err
		}
		extend := func(n int64) error {
			_, err := u.Extend(n)
			return err
		}
		for i, c := range []struct{ err, want error }{
			{read(96, 5), stack.ErrRange},
			{read(-1, 5), stack.ErrRange},
			{read(101, 0), stack.ErrRange},
			{read(math.MaxInt64, 5), stack.ErrRange},
			{write(96, 5), stack.ErrRange},
			{write(-1, 5), stack.ErrRange},
			{write(9, 2), stack.ErrPrefix},
			{u.Zero(96, 5), stack.ErrRange},
			{u.Zero(50, -1), stack.ErrRange},
			{u.Zero(50, math.MaxInt64), stack.ErrRange},
			{u.Zero(9, 2), stack.ErrPrefix},
			{u.Truncate(101), stack.ErrRange},
			{u.Truncate(-1), stack.ErrRange},
			{u.Truncate(9), stack.ErrPrefix},
			{u.Pop(make([]byte, 101)), stack.ErrRange},
			{u.Pop(make([]byte, 91)), stack.ErrPrefix},
			{extend(-1), stack.ErrRange},
			{extend(math.MaxInt64), stack.ErrRange},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("case %d: %v, want %v", i, c.err, c.want)
			}
		}
		check(t, write(1000, 0))
		check(t, u.Zero(-5, 0))
		check(t, u.Truncate(100))
		shows(t, u, text(100, 0))
	})
}

// What a unit cut and what came back are zeros, not the bytes that are still in the file.
func TestUnitComesBackZeroed(t *testing.T) {
	s, _ := openWith(t, text(100, 0))
	check(t, s.Update(func(u *stack.Unit) error {
		if err := u.Truncate(40); err != nil {
			return err
		}
		_, err := u.Extend(60)
		return err
	}))
	holds(t, s, append(text(40, 0), zeros[:60]...))
}

func TestConditions(t *testing.T) {
	s, _ := openWith(t, []byte{0x0F, 0xF0, 0xAA})
	for _, c := range []struct {
		name string
		c    stack.Condition
		want bool
	}{
		{"equal", stack.Equal([]byte{0x0F, 0xF0}), true},
		{"equal to others", stack.Equal([]byte{0x0F, 0xF1}), false},
		{"equal to nothing", stack.Equal(nil), true},
		{"not equal", stack.NotEqual([]byte{0x0F, 0xF0}), false},
		{"not equal to others", stack.NotEqual([]byte{0x1F, 0xF0}), true},
		{"not equal to nothing", stack.NotEqual(nil), false},
		{"equal but for masked bits", stack.MaskedEqual([]byte{0xFF, 0xFF}, []byte{0x0F, 0xF0}), true},
		{"equal in no bits", stack.MaskedEqual([]byte{0x12, 0x34}, []byte{0, 0}), true},
		{"equal to others in bits that count", stack.MaskedEqual([]byte{0xFF, 0xFF}, []byte{0x0F, 0xF1}), false},
		{"not equal but for masked bits", stack.MaskedNotEqual([]byte{0xFF, 0xFF}, []byte{0x0F, 0xF0}), false},
		{"not equal to others in bits that count", stack.MaskedNotEqual([]byte{0xFF, 0xFF}, []byte{0x1F, 0xF0}), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, ok, err := s.SwapIf(0, c.c, 2, []byte{0xAA})
			check(t, err)
			if ok != c.want || (old != nil) != c.want || ok && old[0] != 0xAA {
				t.Errorf("swapped: %v, old: %v", ok, old)
			}
		})
	}
}
