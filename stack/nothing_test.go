// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/holtdb/holt/stack"
)

// Calls on a stack of 100 bytes, of which 10 are locked, that have nothing to do. Empty ones do not look at their
// offset.
var nothings = []struct {
	name string
	run  func(s *stack.Stack) (any, error)
	want any
}{
	{"Push", func(s *stack.Stack) (any, error) { return s.Push(nil) }, int64(100)},
	{"Write", func(s *stack.Stack) (any, error) { return s.Write(nil) }, 0},
	{"Extend", func(s *stack.Stack) (any, error) { return s.Extend(0) }, int64(100)},
	{"ExtendSparse", func(s *stack.Stack) (any, error) { return s.ExtendSparse(nil, 0) }, int64(100)},
	{"ExtendPieces", func(s *stack.Stack) (any, error) { return s.ExtendPieces([]stack.Piece{{Off: 7}}, 0) }, int64(100)},
	{"Resize", func(s *stack.Stack) (any, error) { return s.Resize(100) }, int64(100)},
	{"Ensure", func(s *stack.Stack) (any, error) { return s.Ensure(100) }, int64(100)},
	{"Ensure less", func(s *stack.Stack) (any, error) { return s.Ensure(5) }, int64(100)},
	{"Ensure less than nothing", func(s *stack.Stack) (any, error) { return s.Ensure(-5) }, int64(100)},
	{"EnsureFunc", func(s *stack.Stack) (any, error) {
		return s.EnsureFunc(100, func([]byte) error { panic("there is nothing to fill") })
	}, int64(100)},
	{"TryExtend nothing", func(s *stack.Stack) (any, error) { return s.TryExtend(100, nil) }, true},
	{"TryExtend at another length", func(s *stack.Stack) (any, error) { return s.TryExtend(99, text(5, 1)) }, false},
	{"TryExtend nothing at another length", func(s *stack.Stack) (any, error) { return s.TryExtend(99, nil) }, false},
	{"TryExtendZeros nothing", func(s *stack.Stack) (any, error) { return s.TryExtendZeros(100, 0) }, true},
	{"TryExtendZeros at another length", func(s *stack.Stack) (any, error) { return s.TryExtendZeros(101, 5) }, false},
	{"TryExtendPieces at another length", func(s *stack.Stack) (any, error) {
		return s.TryExtendPieces(101, []stack.Piece{{Off: 1, Data: text(2, 1)}}, 5)
	}, false},
	{"TryExtendPieces nothing", func(s *stack.Stack) (any, error) { return s.TryExtendPieces(100, nil, 0) }, true},
	{"Pop", func(s *stack.Stack) (any, error) { return s.Pop(0) }, []byte{}},
	{"PopInto", func(s *stack.Stack) (any, error) { return nil, s.PopInto(nil) }, nil},
	{"Discard", func(s *stack.Stack) (any, error) { return nil, s.Discard(0) }, nil},
	{"TryDiscard", func(s *stack.Stack) (any, error) { return s.TryDiscard(100, 0) }, true},
	{"TryDiscard nothing at another length", func(s *stack.Stack) (any, error) { return s.TryDiscard(99, 0) }, false},
	{"TryDiscard at another length", func(s *stack.Stack) (any, error) { return s.TryDiscard(99, 1000) }, false},
	{"Atrunc", func(s *stack.Stack) (any, error) { return nil, s.Atrunc(0, nil) }, nil},
	{"Splice", func(s *stack.Stack) (any, error) { return s.Splice(0, nil) }, []byte{}},
	{"SpliceInto", func(s *stack.Stack) (any, error) { return nil, s.SpliceInto(nil, nil) }, nil},
	{"Replace", func(s *stack.Stack) (any, error) {
		return nil, s.Replace(0, func(cut []byte) ([]byte, error) { return cut, nil })
	}, nil},

	{"Set", func(s *stack.Stack) (any, error) { return nil, s.Set(1000, nil) }, nil},
	{"Zero", func(s *stack.Stack) (any, error) { return nil, s.Zero(-1, 0) }, nil},
	{"Repeat never", func(s *stack.Stack) (any, error) { return nil, s.Repeat(1000, text(5, 1), 0) }, nil},
	{"Repeat nothing", func(s *stack.Stack) (any, error) { return nil, s.Repeat(1000, nil, math.MaxInt64) }, nil},
	{"Copy", func(s *stack.Stack) (any, error) { return nil, s.Copy(1000, 0, 0) }, nil},
	{"Copy to its place", func(s *stack.Stack) (any, error) { return nil, s.Copy(5, 5, 20) }, nil},
	{"Swap", func(s *stack.Stack) (any, error) { return s.Swap(1000, []byte{}) }, []byte{}},
	{"SwapInto", func(s *stack.Stack) (any, error) { return nil, s.SwapInto(1000, nil) }, nil},
	{"CompareAndSwap nothing", func(s *stack.Stack) (any, error) { return s.CompareAndSwap(1000, nil, nil) }, true},
	{"CompareAndSwap of other lengths", func(s *stack.Stack) (any, error) {
		return s.CompareAndSwap(20, text(100, 0)[20:25], text(4, 1))
	}, false},
	{
		"CompareAndSwap of others",
		func(s *stack.Stack) (any, error) { return s.CompareAndSwap(20, text(4, 1), text(4, 1)) },
		false,
	},
	{"SwapIf of others", func(s *stack.Stack) (any, error) {
		return swapIf(s, 20, stack.Equal(text(4, 1)), 30, text(4, 1))
	}, swapped{}},
	{"SwapIf nothing", func(s *stack.Stack) (any, error) {
		return swapIf(s, 20, stack.Equal(text(100, 0)[20:24]), 1000, nil)
	}, swapped{[]byte{}, true}},
	{"Process", func(s *stack.Stack) (any, error) {
		return nil, s.Process(1000, 1000, func([]byte) error { panic("there is nothing to process") })
	}, nil},
	{"CrossExchange", func(s *stack.Stack) (any, error) { return nil, s.CrossExchange(1000, 1000, 0) }, nil},
	{"SetBatched", func(s *stack.Stack) (any, error) { return nil, s.SetBatched(nil) }, nil},
	{"SetBatched with nothing in it", func(s *stack.Stack) (any, error) {
		return nil, s.SetBatched([]stack.Piece{{Off: 1000}, {Off: -1}})
	}, nil},
	{"Update", func(s *stack.Stack) (any, error) { return nil, s.Update(func(*stack.Unit) error { return nil }) }, nil},
	{"Update there and back", func(s *stack.Stack) (any, error) {
		return nil, s.Update(func(u *stack.Unit) error {
			if _, err := u.Push(text(5, 1)); err != nil {
				return err
			}
			return u.Truncate(100)
		})
	}, nil},
	{"LockUpTo", func(s *stack.Stack) (any, error) { return nil, s.LockUpTo(10) }, nil},
}

func TestNothingToDo(t *testing.T) {
	for _, c := range nothings {
		t.Run(c.name, func(t *testing.T) {
			s, disk := openWith(t, text(100, 0))
			check(t, s.LockUpTo(10))
			was := disk.Counts().Ops
			got, err := c.run(s)
			check(t, err)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %#v, want %#v", got, c.want)
			}
			s.Rest()
			if now := disk.Counts().Ops; now != was {
				t.Errorf("%d calls to the file system", now-was)
			}
			rests(t, disk, text(100, 0))
		})
	}
}

// Every method that can says so when the stack is closed, with nothing to do as well.
func TestClosed(t *testing.T) {
	s, disk := openWith(t, text(100, 0))
	check(t, s.Close())
	check(t, s.Close())
	was := disk.Counts()
	for _, c := range nothings {
		_, err := c.run(s)
		t.Run(c.name, func(t *testing.T) { refused(t, err, stack.ErrClosed) })
	}
	for _, m := range mutations {
		_, err := m.run(s)
		t.Run(m.name, func(t *testing.T) { refused(t, err, stack.ErrClosed) })
	}
	for what, err := range reads(s) {
		t.Run(what, func(t *testing.T) { refused(t, err, stack.ErrClosed) })
	}
	if now := disk.Counts(); now != was {
		t.Errorf("the file was used: %+v, before %+v", now, was)
	}
}
