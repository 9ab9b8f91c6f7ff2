// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"fmt"

	"github.com/holtdb/holt/stack"
)

// ffLeastTrim is by how much the front of a region can be moved back at least: a free block takes its place.
const ffLeastTrim = ffSmallest

// ffLeastPrepend is by how much it can be moved forward at least: so that old marks and new ones do not overlap, which
// other programs need.
const ffLeastPrepend = ffOverhead

// resize implements policy. New bytes are zero.
func (p *firstFit) resize(u *stack.Unit, r Region, before, after int64) error {
	s, err := p.at(u, r)
	if err != nil {
		return err
	}
	if why := s.cannot(r, before, after, u.Len()); why != "" {
		return fmt.Errorf("%w: moving the ends of %v by %d and %d: %s", ErrUnsupported, r, before, after, why)
	}
	if after > 0 {
		if err := p.stretch(u, s, r, r.Len+after, true); err != nil {
			return err
		}
	}
	switch {
	case before < 0:
		return p.trimFront(u, s, -before)
	case before > 0:
		return p.prepend(u, r, before)
	}
	return nil
}

// cannot says why the ends of a region cannot be moved. The block has to be there still, with room for all the bytes.
func (s spot) cannot(r Region, before, after, length int64) string {
	switch {
	case before > 0 && after < 0 || before < 0 && after > 0:
		return "both in the same direction"
	case before%ffUnit != 0:
		return "blocks begin at multiples of 8"
	case before < 0 && (-before < ffLeastTrim || s.size+before < ffLeast):
		return "what is cut off, or what is left, is no block"
	case before > 0 && !s.left.free:
		return "what is before it is not free"
	case before > 0 && (before < ffLeastPrepend || s.left.size-before < ffLeast && s.left.size-before != -ffOverhead):
		return "what is taken from the free block before it, or what is left, is too little"
	case after > 0 && !s.reaches(ffSize(r.Len+after), length):
		return "there is no room behind it"
	}
	return ""
}

// trimFront makes the first n bytes of a block a free one.
func (p *firstFit) trimFront(u *stack.Unit, s spot, n int64) error {
	start := s.start()
	if s.left.free {
		start = s.left.start()
		if err := p.unlink(u, s.left.data); err != nil {
			return err
		}
	}
	if err := p.insert(u, start, s.start()+n); err != nil {
		return err
	}
	return p.put(u, ffBlock{data: s.data + n, size: s.size - n})
}

// prepend takes n bytes from the end of the free block before a block, or all of it.
func (p *firstFit) prepend(u *stack.Unit, r Region, n int64) error {
	s, err := p.at(u, r) // again: the list may have changed
	if err != nil {
		return err
	}
	if rest := s.left.size - n; rest >= ffLeast {
		err = p.shorten(u, s.left, rest)
	} else {
		err = p.unlink(u, s.left.data)
	}
	if err != nil {
		return err
	}
	if err := p.put(u, ffBlock{data: s.data - n, size: s.size + n}); err != nil {
		return err
	}
	return u.Zero(s.data-n, n)
}

// shorten makes a free block shorter, which keeps its place in the list.
func (p *firstFit) shorten(u *stack.Unit, b ffBlock, size int64) error {
	if err := p.putWord(u, b.start(), size); err != nil {
		return err
	}
	return p.putWord(u, b.data+size, size)
}
