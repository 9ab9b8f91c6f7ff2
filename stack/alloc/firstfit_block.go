// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/holtdb/holt/stack"
)

// word reads a number.
func (p *firstFit) word(u *stack.Unit, off int64) (int64, error) {
	if _, err := u.ReadAt(p.in[:8], off); err != nil {
		return 0, err
	}
	return int64(le.Uint64(p.in[:8])), nil
}

func (p *firstFit) putWord(u *stack.Unit, off, word int64) error {
	var b [8]byte
	le.PutUint64(b[:], uint64(word))
	_, err := u.WriteAt(b[:], off)
	return err
}

// put writes the marks of a block.
func (p *firstFit) put(u *stack.Unit, b ffBlock) error {
	var h [ffHeader + ffLinks]byte
	if _, err := u.WriteAt(b.appendHeader(h[:0]), b.start()); err != nil {
		return err
	}
	return p.putWord(u, b.footer(), b.size)
}

// header reads the block whose data is at a place where there can be one.
func (p *firstFit) header(u *stack.Unit, data int64) (ffBlock, error) {
	h := p.in[:ffHeader+ffLinks]
	if _, err := u.ReadAt(h, data-ffHeader); err != nil {
		return ffBlock{}, err
	}
	return ffParse(data, h), nil
}

// spot is a live block between its neighbours.
type spot struct {
	ffBlock
	left, right ffBlock // if they are free, with footers that say the same; otherwise none
}

// errNoBlock says that some bytes are not a block, or a damaged one.
var errNoBlock = errors.New("alloc: no block")

// at finds the live block of a region.
func (p *firstFit) at(u *stack.Unit, r Region) (spot, error) {
	if !ffPlace(r.Off, u.Len()) {
		return spot{}, fmt.Errorf("%w: no block of a payload of %d bytes begins at %d", ErrNotAllocated, u.Len(), r.Off)
	}
	s, err := p.look(u, r.Off)
	if errors.Is(err, errNoBlock) {
		s, err = p.lookCloser(u, r)
	}
	switch {
	case err != nil:
		return spot{}, err
	case s.free:
		return spot{}, fmt.Errorf("%w: the block at %d is free", ErrNotAllocated, r.Off)
	case r.Len > s.size:
		return spot{}, fmt.Errorf("%w: %v has more than the %d bytes of its block", ErrNotAllocated, r, s.size)
	}
	return s, nil
}

// look reads the marks of a block and its neighbours, in three calls. They must all agree.
func (p *firstFit) look(u *stack.Unit, data int64) (s spot, err error) {
	h := p.in[:ffFooter+ffHeader+ffLinks] // the footer of the left neighbour may be the last word of the file's header
	if _, err := u.ReadAt(h, data-ffHeader-ffFooter); err != nil {
		return s, err
	}
	leftSize := int64(le.Uint64(h))
	if s.ffBlock = ffParse(data, h[ffFooter:]); !s.sane(u.Len()) {
		return s, errNoBlock
	}
	var whole bool
	if s.right, whole, err = p.behind(u, s.ffBlock); err != nil || !whole {
		return s, cmp.Or(err, errNoBlock)
	}
	if data == ffFirst {
		return s, nil
	}
	left := ffBlock{data: data - ffOverhead - leftSize, size: leftSize}
	if !ffSane(leftSize) || left.data < ffFirst {
		return s, errNoBlock
	}
	if s.left, err = p.header(u, left.data); err != nil || s.left.size != leftSize {
		return s, cmp.Or(err, errNoBlock)
	}
	if !s.left.free {
		s.left = ffBlock{}
	}
	return s, nil
}

// behind reads the footer of a block and the header behind it. It returns the neighbour if that is free, and whether
// both are as they should be.
func (p *firstFit) behind(u *stack.Unit, b ffBlock) (right ffBlock, whole bool, err error) {
	n := min(ffFooter+ffHeader+ffLinks, u.Len()-b.footer())
	h := p.in[:n]
	if _, err := u.ReadAt(h, b.footer()); err != nil {
		return ffBlock{}, false, err
	}
	whole = int64(le.Uint64(h)) == b.size
	if n == ffFooter {
		return ffBlock{}, whole, nil
	}
	if n < ffFooter+ffHeader+ffLinks {
		return ffBlock{}, false, nil
	}
	right = ffParse(b.end()+ffHeader, h[ffFooter:])
	if !right.sane(u.Len()) {
		return ffBlock{}, false, nil
	}
	if !right.free {
		return ffBlock{}, whole, nil
	}
	// One whose footer says something else is not merged with, but it is there: older programs leave such footers.
	size, err := p.word(u, right.footer())
	if size != right.size {
		right = ffBlock{}
	}
	return right, whole, err
}

// lookCloser finds out why the marks around a region do not agree. Headers tell where blocks are, from the first on: if
// one of them leads there, then footers are wrong. Those of live blocks do no harm, and older programs leave such. It
// returns a neighbour only if what is between them agrees.
func (p *firstFit) lookCloser(u *stack.Unit, r Region) (s spot, err error) {
	found := false
	err = p.walk(u, func(b ffBlock, _ int64) error {
		if b.data >= r.Off {
			s.ffBlock, found = b, b.data == r.Off
			return errNoBlock
		}
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, errNoBlock):
		return s, err
	case !found:
		return s, fmt.Errorf("%w: there is no block at %d", ErrNotAllocated, r.Off)
	}
	if !s.free {
		return s, p.trust(u, &s)
	}
	return s, nil
}

// trust makes sure that the size of a block is right although footers near it are not: the header behind it has to be
// one. It finds the free neighbour on the right.
func (p *firstFit) trust(u *stack.Unit, s *spot) (err error) {
	s.right, _, err = p.behind(u, s.ffBlock)
	if err != nil || s.end() == u.Len() {
		return err
	}
	if !ffPlace(s.end()+ffHeader, u.Len()) {
		return p.corrupt(s.end(), "the payload ends inside a block")
	}
	right, err := p.header(u, s.end()+ffHeader)
	if err == nil && !right.sane(u.Len()) {
		err = p.corrupt(right.start(), "block of %d bytes behind that at %d", right.size, s.start())
	}
	return err
}
