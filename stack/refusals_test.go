// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"errors"
	"math"
	"testing"

	"github.com/holtdb/holt/stack"
)

var errOwn = errors.New("the caller's own")

// Calls on a stack of 100 bytes, of which 10 are locked, that are refused.
var refusals = []struct {
	name string
	run  func(s *stack.Stack) error
	want error
}{
	{"Extend by less than nothing", only(func(s *stack.Stack) (int64, error) { return s.Extend(-1) }), stack.ErrRange},
	{"Extend by too much", only(func(s *stack.Stack) (int64, error) { return s.Extend(math.MaxInt64) }), stack.ErrRange},
	{
		"ExtendSparse with too much data",
		only(func(s *stack.Stack) (int64, error) { return s.ExtendSparse(text(5, 1), 4) }),
		stack.ErrRange,
	},
	{
		"ExtendSparse to nothing",
		only(func(s *stack.Stack) (int64, error) { return s.ExtendSparse(text(5, 1), 0) }),
		stack.ErrRange,
	},
	{
		"ExtendSparse by too much",
		only(func(s *stack.Stack) (int64, error) { return s.ExtendSparse(text(5, 1), math.MaxInt64) }),
		stack.ErrRange,
	},
	{
		"ExtendSparse by less than nothing",
		only(func(s *stack.Stack) (int64, error) { return s.ExtendSparse(nil, -1) }),
		stack.ErrRange,
	},
	{"ExtendPieces behind the end", pieces(9, stack.Piece{Off: 8, Data: text(2, 1)}), stack.ErrRange},
	{"ExtendPieces before the beginning", pieces(9, stack.Piece{Off: -1, Data: text(2, 1)}), stack.ErrRange},
	{"ExtendPieces overflowing", pieces(9, stack.Piece{Off: math.MaxInt64, Data: text(2, 1)}), stack.ErrRange},
	{
		"ExtendPieces overlapping",
		pieces(9, stack.Piece{Off: 3, Data: text(3, 1)}, stack.Piece{Off: 0, Data: text(4, 1)}),
		stack.ErrOverlap,
	},
	{"TryExtendPieces, wrong and at another length", only(func(s *stack.Stack) (bool, error) {
		return s.TryExtendPieces(7, []stack.Piece{{Off: 1, Data: text(2, 1)}}, 2)
	}), stack.ErrRange},
	{"Resize to less than nothing", only(func(s *stack.Stack) (int64, error) { return s.Resize(-1) }), stack.ErrRange},
	{"Resize into the prefix", only(func(s *stack.Stack) (int64, error) { return s.Resize(9) }), stack.ErrPrefix},
	{"Resize to too much", only(func(s *stack.Stack) (int64, error) { return s.Resize(math.MaxInt64) }), stack.ErrRange},
	{"Ensure too much", only(func(s *stack.Stack) (int64, error) { return s.Ensure(math.MaxInt64) }), stack.ErrRange},
	{"EnsureFunc too much", only(func(s *stack.Stack) (int64, error) {
		return s.EnsureFunc(math.MaxInt64, func([]byte) error { return nil })
	}), stack.ErrRange},
	{"EnsureFunc with an error", only(func(s *stack.Stack) (int64, error) {
		return s.EnsureFunc(200, func([]byte) error { return errOwn })
	}), errOwn},

	{"Pop too much", only(func(s *stack.Stack) ([]byte, error) { return s.Pop(101) }), stack.ErrRange},
	{"Pop enormously much", only(func(s *stack.Stack) ([]byte, error) { return s.Pop(math.MaxInt64) }), stack.ErrRange},
	{"Pop less than nothing", only(func(s *stack.Stack) ([]byte, error) { return s.Pop(-1) }), stack.ErrRange},
	{"Pop the prefix", only(func(s *stack.Stack) ([]byte, error) { return s.Pop(91) }), stack.ErrPrefix},
	{"PopInto too much", func(s *stack.Stack) error { return s.PopInto(make([]byte, 101)) }, stack.ErrRange},
	{"PopInto the prefix", func(s *stack.Stack) error { return s.PopInto(make([]byte, 91)) }, stack.ErrPrefix},
	{"Discard too much", func(s *stack.Stack) error { return s.Discard(101) }, stack.ErrRange},
	{"Discard less than nothing", func(s *stack.Stack) error { return s.Discard(-1) }, stack.ErrRange},
	{"Discard the prefix", func(s *stack.Stack) error { return s.Discard(91) }, stack.ErrPrefix},
	{"TryDiscard too much", only(func(s *stack.Stack) (bool, error) { return s.TryDiscard(100, 101) }), stack.ErrRange},
	{"TryDiscard the prefix", only(func(s *stack.Stack) (bool, error) { return s.TryDiscard(100, 91) }), stack.ErrPrefix},
	{"Atrunc too much", func(s *stack.Stack) error { return s.Atrunc(101, nil) }, stack.ErrRange},
	{"Atrunc less than nothing", func(s *stack.Stack) error { return s.Atrunc(-1, text(5, 1)) }, stack.ErrRange},
	{
		"Atrunc the prefix, with the same length",
		func(s *stack.Stack) error { return s.Atrunc(91, text(91, 1)) },
		stack.ErrPrefix,
	},
	{
		"Splice too much",
		only(func(s *stack.Stack) ([]byte, error) { return s.Splice(math.MaxInt64, nil) }),
		stack.ErrRange,
	},
	{"Splice less than nothing", only(func(s *stack.Stack) ([]byte, error) { return s.Splice(-1, nil) }), stack.ErrRange},
	{
		"Splice the prefix",
		only(func(s *stack.Stack) ([]byte, error) { return s.Splice(91, text(100, 1)) }),
		stack.ErrPrefix,
	},
	{"SpliceInto too much", func(s *stack.Stack) error { return s.SpliceInto(make([]byte, 101), nil) }, stack.ErrRange},
	{"Replace too much", replaceWith(101, nil), stack.ErrRange},
	{"Replace less than nothing", replaceWith(-1, nil), stack.ErrRange},
	{"Replace the prefix", replaceWith(91, nil), stack.ErrPrefix},
	{"Replace with an error", replaceWith(10, errOwn), errOwn},

	{"Set behind the end", func(s *stack.Stack) error { return s.Set(99, text(2, 1)) }, stack.ErrRange},
	{"Set before the beginning", func(s *stack.Stack) error { return s.Set(-1, text(2, 1)) }, stack.ErrRange},
	{"Set overflowing", func(s *stack.Stack) error { return s.Set(math.MaxInt64, text(2, 1)) }, stack.ErrRange},
	{"Set the prefix", func(s *stack.Stack) error { return s.Set(9, text(2, 1)) }, stack.ErrPrefix},
	{"Zero behind the end", func(s *stack.Stack) error { return s.Zero(99, 2) }, stack.ErrRange},
	{"Zero less than nothing", func(s *stack.Stack) error { return s.Zero(50, -1) }, stack.ErrRange},
	{"Zero too much", func(s *stack.Stack) error { return s.Zero(50, math.MaxInt64) }, stack.ErrRange},
	{"Zero the prefix", func(s *stack.Stack) error { return s.Zero(9, 2) }, stack.ErrPrefix},
	{
		"Repeat overflowing",
		func(s *stack.Stack) error { return s.Repeat(50, text(3, 1), math.MaxInt64/2) },
		stack.ErrRange,
	},
	{"Repeat less than nothing", func(s *stack.Stack) error { return s.Repeat(50, text(3, 1), -1) }, stack.ErrRange},
	{"Repeat too much", func(s *stack.Stack) error { return s.Repeat(50, text(3, 1), 17) }, stack.ErrRange},
	{"Copy from behind the end", func(s *stack.Stack) error { return s.Copy(99, 10, 2) }, stack.ErrRange},
	{"Copy to behind the end", func(s *stack.Stack) error { return s.Copy(10, 99, 2) }, stack.ErrRange},
	{"Copy less than nothing", func(s *stack.Stack) error { return s.Copy(10, 30, -2) }, stack.ErrRange},
	{"Copy less than nothing to its place", func(s *stack.Stack) error { return s.Copy(10, 10, -2) }, stack.ErrRange},
	{"Copy overflowing", func(s *stack.Stack) error { return s.Copy(math.MaxInt64, 10, math.MaxInt64) }, stack.ErrRange},
	{"Copy much from behind the end", func(s *stack.Stack) error { return s.Copy(1<<40, 10, large) }, stack.ErrRange},
	{"Copy much to behind the end", func(s *stack.Stack) error { return s.Copy(0, 1<<40, large) }, stack.ErrRange},
	{"Copy to the prefix", func(s *stack.Stack) error { return s.Copy(50, 9, 2) }, stack.ErrPrefix},
	{"Swap behind the end", only(func(s *stack.Stack) ([]byte, error) { return s.Swap(99, text(2, 1)) }), stack.ErrRange},
	{"Swap the prefix", only(func(s *stack.Stack) ([]byte, error) { return s.Swap(9, text(2, 1)) }), stack.ErrPrefix},
	{"SwapInto behind the end", func(s *stack.Stack) error { return s.SwapInto(99, text(2, 1)) }, stack.ErrRange},
	{"CompareAndSwap behind the end", only(func(s *stack.Stack) (bool, error) {
		return s.CompareAndSwap(99, text(2, 1), text(2, 2))
	}), stack.ErrRange},
	{"CompareAndSwap the prefix", only(func(s *stack.Stack) (bool, error) {
		return s.CompareAndSwap(9, text(2, 1), text(2, 2))
	}), stack.ErrPrefix},
	{"SwapIf on what is behind the end", onCondition(99, stack.Equal(text(2, 1)), 20), stack.ErrRange},
	{"SwapIf behind the end, on what does not hold", onCondition(0, stack.Equal(text(2, 9)), 99), stack.ErrRange},
	{"SwapIf the prefix", onCondition(0, stack.NotEqual(text(2, 9)), 9), stack.ErrPrefix},
	{"SwapIf with a wrong mask", onCondition(0, stack.MaskedEqual(text(2, 1), text(3, 1)), 20), stack.ErrRange},
	{"SwapIf with another wrong mask", onCondition(0, stack.MaskedNotEqual(text(2, 1), text(1, 1)), 20), stack.ErrRange},
	{"Process behind the end", process(99, 101, nil), stack.ErrRange},
	{"Process backwards", process(60, 50, nil), stack.ErrRange},
	{"Process the prefix", process(9, 11, nil), stack.ErrPrefix},
	{"Process with an error", process(50, 60, errOwn), errOwn},
	{"CrossExchange behind the end", func(s *stack.Stack) error { return s.CrossExchange(10, 99, 2) }, stack.ErrRange},
	{
		"CrossExchange from behind the end",
		func(s *stack.Stack) error { return s.CrossExchange(99, 10, 2) },
		stack.ErrRange,
	},
	{"CrossExchange less than nothing", func(s *stack.Stack) error { return s.CrossExchange(10, 20, -2) }, stack.ErrRange},
	{
		"CrossExchange overflowing",
		func(s *stack.Stack) error { return s.CrossExchange(10, math.MaxInt64, 2) },
		stack.ErrRange,
	},
	{"CrossExchange overlapping", func(s *stack.Stack) error { return s.CrossExchange(10, 14, 5) }, stack.ErrOverlap},
	{"CrossExchange with itself", func(s *stack.Stack) error { return s.CrossExchange(10, 10, 5) }, stack.ErrOverlap},
	{"CrossExchange the prefix", func(s *stack.Stack) error { return s.CrossExchange(50, 9, 5) }, stack.ErrPrefix},
	{
		"SetBatched behind the end",
		batched(stack.Piece{Off: 50, Data: text(5, 1)}, stack.Piece{Off: 99, Data: text(2, 1)}),
		stack.ErrRange,
	},
	{"SetBatched before the beginning", batched(stack.Piece{Off: -1, Data: text(5, 1)}), stack.ErrRange},
	{
		"SetBatched overlapping",
		batched(stack.Piece{Off: 50, Data: text(5, 1)}, stack.Piece{Off: 46, Data: text(5, 1)}),
		stack.ErrOverlap,
	},
	{
		"SetBatched the prefix",
		batched(stack.Piece{Off: 50, Data: text(5, 1)}, stack.Piece{Off: 9, Data: text(2, 1)}),
		stack.ErrPrefix,
	},

	{"Update with an error", func(s *stack.Stack) error {
		return s.Update(func(u *stack.Unit) error {
			_, err := u.Push(text(5, 1))
			return errors.Join(err, u.Zero(20, 5), errOwn)
		})
	}, errOwn},
	{"UpdateInPlace pushing", func(s *stack.Stack) error {
		return s.UpdateInPlace(func(u *stack.Unit) error {
			_, err := u.Push(text(5, 1))
			return err
		})
	}, stack.ErrNotSized},
	{"UpdateInPlace extending", func(s *stack.Stack) error {
		return s.UpdateInPlace(func(u *stack.Unit) error {
			_, err := u.Extend(5)
			return err
		})
	}, stack.ErrNotSized},
	{"UpdateInPlace truncating", func(s *stack.Stack) error {
		return s.UpdateInPlace(func(u *stack.Unit) error { return errors.Join(u.Zero(20, 5), u.Truncate(50)) })
	}, stack.ErrNotSized},
	{"UpdateInPlace popping", func(s *stack.Stack) error {
		return s.UpdateInPlace(func(u *stack.Unit) error { return u.Pop(make([]byte, 5)) })
	}, stack.ErrNotSized},

	{"LockUpTo behind the end", func(s *stack.Stack) error { return s.LockUpTo(101) }, stack.ErrRange},
	{"LockUpTo less", func(s *stack.Stack) error { return s.LockUpTo(9) }, stack.ErrRange},
}

// only makes a call of which only the error counts.
func only[T any](run func(s *stack.Stack) (T, error)) func(s *stack.Stack) error {
	return func(s *stack.Stack) error {
		_, err := run(s)
		return err
	}
}

func pieces(n int64, all ...stack.Piece) func(s *stack.Stack) error {
	return only(func(s *stack.Stack) (int64, error) { return s.ExtendPieces(all, n) })
}

func batched(all ...stack.Piece) func(s *stack.Stack) error {
	return func(s *stack.Stack) error { return s.SetBatched(all) }
}

func replaceWith(n int64, err error) func(s *stack.Stack) error {
	return func(s *stack.Stack) error {
		return s.Replace(n, func([]byte) ([]byte, error) { return text(3, 1), err })
	}
}

func onCondition(at int64, c stack.Condition, off int64) func(s *stack.Stack) error {
	return func(s *stack.Stack) error {
		_, _, err := s.SwapIf(at, c, off, text(2, 1))
		return err
	}
}

func process(start, end int64, err error) func(s *stack.Stack) error {
	return func(s *stack.Stack) error {
		return s.Process(start, end, func(p []byte) error {
			clear(p)
			return err
		})
	}
}

// A refused call changes nothing, and does not even touch the file.
func TestRefusals(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			s, disk := openWith(t, text(100, 0))
			check(t, s.LockUpTo(10))
			was := disk.Counts().Ops
			refused(t, c.run(s), c.want)
			s.Rest()
			if now := disk.Counts().Ops; now != was {
				t.Errorf("%d calls to the file system", now-was)
			}
			holds(t, s, text(100, 0))
			rests(t, disk, text(100, 0))
			if s.LockedLen() != 10 {
				t.Errorf("%d bytes are locked", s.LockedLen())
			}
			_, err := s.Push(text(3, 1))
			check(t, err)
		})
	}
}

// Large changes look at their ranges as small ones do.
func TestLargeRefusals(t *testing.T) {
	s, disk := openWith(t, text(2*large, 0))
	check(t, s.LockUpTo(10))
	refused(t, s.Copy(large, 9, large), stack.ErrPrefix)
	refused(t, s.Copy(0, large+1, large), stack.ErrRange)
	refused(t, s.Copy(large+1, 10, large), stack.ErrRange)
	refused(t, s.Zero(9, large), stack.ErrPrefix)
	refused(t, s.Zero(large+1, large), stack.ErrRange)
	s.Rest()
	rests(t, disk, text(2*large, 0))
}
