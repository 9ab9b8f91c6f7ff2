// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"fmt"

	"github.com/holtdb/holt/stack"
)

// Linear is the allocator that appends. It keeps nothing in the file, and only the last region can be resized or given
// back: freeing another does nothing, resizing it is refused with [ErrUnsupported].
type Linear struct{ core }

// OpenLinear makes an allocator of a stack. Whatever the payload holds is taken for regions.
func OpenLinear(s *stack.Stack) (*Linear, error) {
	return &Linear{newCore(s, linear{})}, nil
}

// linear is the policy of [Linear].
type linear struct{}

func (linear) mark(*stack.Unit, bool) int     { return 0 }
func (linear) rewind(int)                     {}
func (linear) live(Region) error              { return nil }
func (linear) bounds() (Region, int64)        { return Region{}, 0 }
func (linear) check(*stack.Unit, func(error)) {} // any payload will do

func (linear) alloc(u *stack.Unit, n int64, _ bool) (int64, error) { return u.Extend(n) }

// allocBulk needs room for the sum, which fits: the caller has added it up.
func (linear) allocBulk(u *stack.Unit, lens, offs []int64) error {
	var total int64
	for _, n := range lens {
		total += n
	}
	off, err := u.Extend(total)
	if err != nil {
		return err
	}
	for i, n := range lens {
		if n > 0 {
			offs[i] = off
		}
		off += n
	}
	return nil
}

func (l linear) realloc(u *stack.Unit, r Region, n int64, _ bool) (int64, error) {
	return r.Off, l.resize(u, r, 0, n-r.Len)
}

// resize grows and shrinks with new bytes of zero.
func (linear) resize(u *stack.Unit, r Region, before, after int64) (err error) {
	switch {
	case before != 0 || r.End() != u.Len():
		return fmt.Errorf("%w: %v of %d bytes: only the end of the last region can be moved", ErrUnsupported, r, u.Len())
	case after > 0:
		_, err = u.Extend(after)
	case after < 0:
		err = u.Truncate(u.Len() + after)
	}
	return err
}

func (linear) free(u *stack.Unit, r Region) error {
	if r.End() != u.Len() {
		return nil
	}
	return u.Truncate(r.Off)
}

func (linear) freeBulk(u *stack.Unit, rs []Region) error {
	end := u.Len()
	for i := len(rs) - 1; i >= 0 && rs[i].End() == end; i-- {
		end = rs[i].Off
	}
	return u.Truncate(end)
}

// layout cannot tell regions apart.
func (linear) layout(u *stack.Unit) ([]Span, error) {
	if u.Len() == 0 {
		return nil, nil
	}
	return []Span{{0, u.Len(), Used}}, nil
}

// reclaim cuts off what lies behind the last live region; there is no way to use what lies between.
func (linear) reclaim(u *stack.Unit, live []Region) (int64, error) {
	var end int64
	if len(live) > 0 {
		end = live[len(live)-1].End()
	}
	n := u.Len() - end
	return n, u.Truncate(end)
}
