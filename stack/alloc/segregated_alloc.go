// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"fmt"

	"github.com/holtdb/holt/stack"
)

// alloc implements policy.
func (p *segregated) alloc(u *stack.Unit, n int64, zero bool) (int64, error) {
	if err := p.readHeads(u); err != nil {
		return 0, err
	}
	return p.allocate(u, n, zero)
}

func (p *segregated) allocate(u *stack.Unit, n int64, zero bool) (int64, error) {
	size, list := segSize(n)
	b, err := p.take(u, list, size)
	if err != nil {
		return 0, err
	}
	if b.size == 0 {
		off, err := u.Extend(size)
		if err != nil {
			return 0, err
		}
		return off + segMark, p.claim(u, segBlock{off, size})
	}
	if b.size-size >= segMinSplit {
		if err := p.carve(u, segBlock{b.off + size, b.size - size}); err != nil {
			return 0, err
		}
		b.size = size
	}
	if err := p.claim(u, b); err != nil {
		return 0, err
	}
	if zero {
		err = u.Zero(b.off+segMark, n)
	}
	return b.off + segMark, err
}

// allocBulk implements policy.
func (p *segregated) allocBulk(u *stack.Unit, lens, offs []int64) error {
	return bulk{p}.allocBulk(u, lens, offs)
}

// free implements policy.
func (p *segregated) free(u *stack.Unit, r Region) error {
	b, err := p.region(u, r)
	if err != nil {
		return err
	}
	if b.end() == u.Len() && !p.keep {
		return u.Truncate(b.off)
	}
	return p.release(u, b)
}

func (p *segregated) release(u *stack.Unit, b segBlock) error {
	if err := p.readHeads(u); err != nil {
		return err
	}
	return p.carve(u, b) // one, but for blocks of lengths that this package does not make
}

// freeBulk implements policy.
func (p *segregated) freeBulk(u *stack.Unit, rs []Region) error {
	blocks := make([]segBlock, 0, len(rs))
	contiguous := true
	for k, r := range rs {
		b, err := p.region(u, r)
		if err != nil {
			return err
		}
		contiguous = contiguous && (k == 0 || blocks[k-1].end() == b.off)
		blocks = append(blocks, b)
	}
	if contiguous && blocks[len(blocks)-1].end() == u.Len() && !p.keep { // otherwise cutting would be costly, see cheapCut
		return u.Truncate(blocks[0].off)
	}
	if err := p.readHeads(u); err != nil {
		return err
	}
	for _, b := range blocks {
		if err := p.carve(u, b); err != nil {
			return err
		}
	}
	return nil
}

// realloc implements policy.
func (p *segregated) realloc(u *stack.Unit, r Region, n int64, zero bool) (int64, error) {
	b, err := p.region(u, r)
	if err != nil {
		return 0, err
	}
	if size, _ := segSize(n); size > b.size && b.end() != u.Len() {
		return p.move(u, b, r, n, zero)
	}
	return r.Off, p.fit(u, b, r, n, zero)
}

// resize implements policy.
func (p *segregated) resize(u *stack.Unit, r Region, before, after int64) error {
	b, err := p.region(u, r)
	if err != nil {
		return err
	}
	size, _ := segSize(r.Len + after)
	if before != 0 || size > b.size && b.end() != u.Len() {
		return fmt.Errorf("%w: moving the ends of %v by %d and %d", ErrUnsupported, r, before, after)
	}
	return p.fit(u, b, r, r.Len+after, true)
}

// fit changes the size of a block in place, if a region of n bytes needs that.
func (p *segregated) fit(u *stack.Unit, b segBlock, r Region, n int64, zero bool) error {
	size, _ := segSize(n)
	if err := p.fitEnd(u, b, size, n < r.Len); err != nil {
		return err
	}
	end := min(r.Off+n, b.end()) // what lies behind is zero
	if !zero || end <= r.End() {
		return nil
	}
	return u.Zero(r.End(), end-r.End())
}

func (p *segregated) fitEnd(u *stack.Unit, b segBlock, size int64, shrink bool) error {
	to := segBlock{b.off, size}
	switch surplus := b.size - size; {
	case surplus < 0:
		if _, err := u.Extend(-surplus); err != nil {
			return err
		}
		return p.claim(u, to)
	case !shrink || surplus < segMinSplit:
		return nil
	}
	if err := p.claim(u, to); err != nil {
		return err
	}
	if b.end() == u.Len() && size <= cheapCut && !p.keep {
		return u.Truncate(to.end())
	}
	return p.release(u, segBlock{to.end(), b.size - size})
}

// move gives a region another block.
func (p *segregated) move(u *stack.Unit, b segBlock, r Region, n int64, zero bool) (int64, error) {
	if err := p.readHeads(u); err != nil {
		return 0, err
	}
	off, err := p.allocate(u, n, false)
	if err != nil {
		return 0, err
	}
	if p.copied == nil {
		p.copied = make([]byte, 64<<10)
	}
	if err := copyWithin(u, off, r.Off, r.Len, p.copied); err != nil {
		return 0, err
	}
	if zero {
		if err := u.Zero(off+r.Len, n-r.Len); err != nil {
			return 0, err
		}
	}
	return off, p.carve(u, b)
}
