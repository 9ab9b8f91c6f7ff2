// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// Mutations in place. None of them changes the length; empty ones do nothing and do not look at their offset.

// Set replaces len(data) bytes at off.
func (s *Stack) Set(off int64, data []byte) error {
	if len(data) == 0 {
		return s.alive()
	}
	return s.run(false, func(u *Unit) error { return u.set(off, data) })
}

// alive is the error of a stack that is closed.
func (s *Stack) alive() error {
	_, err := s.end()
	return err
}

// set is WriteAt without a copy.
func (u *Unit) set(off int64, data []byte) error {
	if err := u.s.checkChange(off, int64(len(data)), u.length); err != nil {
		return err
	}
	u.write(off, data)
	return nil
}

// Zero sets n bytes at off to zero.
func (s *Stack) Zero(off, n int64) error { return s.Repeat(off, []byte{0}, n) }

// Repeat fills the bytes at off with pattern, count times.
func (s *Stack) Repeat(off int64, pattern []byte, count int64) error {
	if len(pattern) == 0 || count == 0 {
		return s.alive()
	}
	n := int64(len(pattern)) * count
	if count < 0 || n/count != int64(len(pattern)) {
		return fmt.Errorf("%w: %d times %d bytes", ErrRange, count, len(pattern))
	}
	if n > largeChange {
		return s.doAlone(func() error { return s.repeat(off, pattern, count) })
	}
	return s.run(false, func(u *Unit) error {
		if err := u.s.checkChange(off, n, u.length); err != nil {
			return err
		}
		u.write(off, bytes.Repeat(pattern, int(count)))
		return nil
	})
}

// Copy copies n bytes from one place to another, which may overlap.
func (s *Stack) Copy(from, to, n int64) error {
	if n == 0 || from == to && n > 0 {
		return s.alive()
	}
	disjoint := from+n <= to || to+n <= from
	if n > largeChange && disjoint {
		return s.doAlone(func() error { return s.copy(from, to, n) })
	}
	return s.run(false, func(u *Unit) error {
		if err := s.checkRange(from, n, u.length); err != nil {
			return err
		}
		if err := s.checkChange(to, n, u.length); err != nil {
			return err
		}
		p := make([]byte, n)
		if err := u.read(p, from); err != nil {
			return err
		}
		u.write(to, p)
		return nil
	})
}

// Swap replaces len(data) bytes at off and returns those that were there.
func (s *Stack) Swap(off int64, data []byte) (old []byte, err error) {
	old = bytes.Clone(data)
	if err := s.SwapInto(off, old); err != nil {
		return nil, err
	}
	return old, nil
}

// SwapInto replaces len(p) bytes at off by those of p, and p by those that were there.
func (s *Stack) SwapInto(off int64, p []byte) error {
	if len(p) == 0 {
		return s.alive()
	}
	data := bytes.Clone(p)
	return s.run(false, func(u *Unit) error {
		if err := s.checkChange(off, int64(len(p)), u.length); err != nil {
			return err
		}
		if err := u.read(p, off); err != nil {
			return err
		}
		u.write(off, data)
		return nil
	})
}

// CompareAndSwap replaces the bytes at off by data if they equal old, and says whether they did. It does not if the
// lengths of old and data differ.
func (s *Stack) CompareAndSwap(off int64, old, data []byte) (ok bool, err error) {
	if len(old) != len(data) || len(old) == 0 {
		return len(old) == len(data), s.alive()
	}
	_, ok, err = s.SwapIf(off, Equal(old), off, data)
	return ok, err
}

// Condition compares bytes of the payload with others.
type Condition struct {
	want, mask []byte
	differ     bool
}

// Equal holds for bytes that equal want.
func Equal(want []byte) Condition { return Condition{want: want} }

// NotEqual holds for bytes that do not equal want.
func NotEqual(want []byte) Condition { return Condition{want: want, differ: true} }

// MaskedEqual holds for bytes that equal want in the bits that mask, which is as long, has set.
func MaskedEqual(want, mask []byte) Condition { return Condition{want: want, mask: mask} }

// MaskedNotEqual holds for bytes that do not equal want in the bits that mask, which is as long, has set.
func MaskedNotEqual(want, mask []byte) Condition {
	return Condition{want: want, mask: mask, differ: true}
}

func (c Condition) holds(got []byte) bool {
	equal := true
	for i, b := range got {
		m := byte(0xFF)
		if c.mask != nil {
			m = c.mask[i]
		}
		if b&m != c.want[i]&m {
			equal = false
			break
		}
	}
	return equal != c.differ
}

// SwapIf replaces the bytes at off by data if the condition holds for those at, and says whether it did. It returns the
// bytes that were replaced, nil if none were.
func (s *Stack) SwapIf(at int64, c Condition, off int64, data []byte) (old []byte, ok bool, err error) {
	if c.mask != nil && len(c.mask) != len(c.want) {
		return nil, false, fmt.Errorf("%w: a mask of %d bytes for %d", ErrRange, len(c.mask), len(c.want))
	}
	err = s.run(false, func(u *Unit) error {
		old, ok = nil, false
		got := make([]byte, len(c.want))
		if _, err := u.ReadAt(got, at); err != nil {
			return err
		}
		if err := s.checkChange(off, int64(len(data)), u.length); err != nil && len(data) > 0 {
			return err
		}
		if ok = c.holds(got); !ok {
			return nil
		}
		old = make([]byte, len(data))
		if len(data) == 0 {
			return nil
		}
		if err := u.read(old, off); err != nil {
			return err
		}
		u.write(off, data)
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return old, ok, nil
}

// Process replaces the bytes from start up to end by what fn makes of them in place.
func (s *Stack) Process(start, end int64, fn func(p []byte) error) error {
	if end == start {
		return s.alive()
	}
	return s.run(true, func(u *Unit) error {
		if err := s.checkChange(start, end-start, u.length); err != nil {
			return err
		}
		p := make([]byte, end-start)
		if err := u.read(p, start); err != nil {
			return err
		}
		if err := fn(p); err != nil {
			return err
		}
		u.write(start, p)
		return nil
	})
}

// CrossExchange exchanges the n bytes at a with those at b. [ErrOverlap] if they overlap.
func (s *Stack) CrossExchange(a, b, n int64) error {
	if n == 0 {
		return s.alive()
	}
	if n > 0 && a < b+n && b < a+n {
		return fmt.Errorf("%w: %d bytes at %d and at %d", ErrOverlap, n, a, b)
	}
	return s.run(false, func(u *Unit) error {
		if err := s.checkChange(a, n, u.length); err != nil {
			return err
		}
		if err := s.checkChange(b, n, u.length); err != nil {
			return err
		}
		at, bt := make([]byte, n), make([]byte, n)
		if err := u.read(at, a); err != nil {
			return err
		}
		if err := u.read(bt, b); err != nil {
			return err
		}
		u.write(a, bt)
		u.write(b, at)
		return nil
	})
}

// SetBatched replaces the bytes of all pieces, at once. They must not overlap: [ErrOverlap].
func (s *Stack) SetBatched(pieces []Piece) error {
	blocks, err := arrange(pieces, maxLength)
	if err != nil {
		return err
	}
	if len(blocks) == 0 {
		return s.alive()
	}
	return s.run(false, func(u *Unit) error {
		for _, b := range blocks {
			if err := s.checkChange(b.off, int64(len(b.data)), u.length); err != nil {
				return err
			}
		}
		for _, b := range blocks {
			u.write(b.off, b.data)
		}
		return nil
	})
}

// arrange sorts pieces, leaves empty ones out, and makes sure that they fit into length and do not overlap.
func arrange(pieces []Piece, length int64) ([]block, error) {
	if length < 0 {
		return nil, fmt.Errorf("%w: %d bytes", ErrRange, length)
	}
	blocks := make([]block, 0, len(pieces))
	for _, p := range pieces {
		if len(p.Data) == 0 {
			continue
		}
		if n := int64(len(p.Data)); p.Off < 0 || n > length || p.Off > length-n {
			return nil, fmt.Errorf("%w: %d bytes at %d of %d", ErrRange, n, p.Off, length)
		}
		blocks = append(blocks, block{p.Off, p.Data})
	}
	slices.SortFunc(blocks, func(a, b block) int { return cmp.Compare(a.off, b.off) })
	for i := 1; i < len(blocks); i++ {
		if blocks[i].off < blocks[i-1].end() {
			return nil, fmt.Errorf("%w: at %d", ErrOverlap, blocks[i].off)
		}
	}
	return blocks, nil
}

// Update runs fn, and makes all changes that it made through u, at once. If fn returns an error or does not return none
// of them is made. fn must not call the stack itself. The payload may grow and shrink in a unit; if it ends shorter
// than it began while bytes that stay were changed, everything from the first of those on is written anew.
func (s *Stack) Update(fn func(u *Unit) error) error { return s.run(true, fn) }

// UpdateInPlace is Update with a unit that refuses to change the length, with [ErrNotSized].
func (s *Stack) UpdateInPlace(fn func(u *Unit) error) error {
	return s.run(true, func(u *Unit) error {
		u.inPlace = true
		return fn(u)
	})
}
