// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import "github.com/holtdb/holt/stack"

// ffCopy is how many bytes are copied at once.
const ffCopy = 64 << 10

// realloc implements policy. A block that is large enough stays as it is: a region that becomes shorter gives nothing
// back.
func (p *firstFit) realloc(u *stack.Unit, r Region, n int64, zero bool) (int64, error) {
	s, err := p.at(u, r)
	if err != nil {
		return 0, err
	}
	if !s.reaches(ffSize(n), u.Len()) {
		return p.move(u, r, n, zero)
	}
	return r.Off, p.stretch(u, s, r, n, zero)
}

// room is how many bytes the block of s has when it absorbs its right neighbour, and where that ends.
func (s spot) room() (size, end int64) {
	if s.right.free {
		return s.size + ffOverhead + s.right.size, s.right.end()
	}
	return s.size, s.end()
}

// reaches says whether a block can be made that long where it is.
func (s spot) reaches(need, length int64) bool {
	room, end := s.room()
	return need <= room || end == length
}

// stretch gives a region n bytes where it is. The block reaches that far.
func (p *firstFit) stretch(u *stack.Unit, s spot, r Region, n int64, zero bool) error {
	stale := min(n, u.Len()-r.Off) - r.Len // what lies behind the payload's end is zero
	if need := ffSize(n); need > s.size {
		if err := p.grow(u, s, need); err != nil {
			return err
		}
	}
	if !zero || stale <= 0 {
		return nil
	}
	return u.Zero(r.End(), stale)
}

// grow makes a block longer: over its free right neighbour, what is left of which becomes a free block, or the end.
func (p *firstFit) grow(u *stack.Unit, s spot, need int64) error {
	size, end := s.room()
	low := s.start()
	if size < need { // first, as it may be refused
		if _, err := lengthen(u, need-size); err != nil {
			return err
		}
		size = need
	}
	if s.right.free {
		low = min(low, lowestLink(s.right))
		if err := p.unlink(u, s.right.data); err != nil {
			return err
		}
	}
	b := ffBlock{data: s.data, size: size}
	if size < need+ffSmallest {
		return p.put(u, b)
	}
	b.size = need
	if err := p.put(u, b); err != nil {
		return err
	}
	if end == u.Len() && !p.keep && worthCutting(low, b.end(), end) {
		return u.Truncate(b.end())
	}
	return p.insert(u, b.end(), end)
}

// move copies a region to another block, which is free or new, and frees its own.
func (p *firstFit) move(u *stack.Unit, r Region, n int64, zero bool) (int64, error) {
	b, fresh, err := p.obtain(u, ffSize(n))
	if err != nil {
		return 0, err
	}
	if err := p.copy(u, b.data, r); err != nil {
		return 0, err
	}
	if zero && !fresh {
		if err := u.Zero(b.data+r.Len, b.size-r.Len); err != nil {
			return 0, err
		}
	}
	return b.data, p.free(u, r) // its neighbours may not be what they were
}

func (p *firstFit) copy(u *stack.Unit, to int64, r Region) error {
	if p.copied == nil {
		p.copied = make([]byte, ffCopy)
	}
	for at := int64(0); at < r.Len; at += ffCopy {
		b := p.copied[:min(ffCopy, r.Len-at)]
		if _, err := u.ReadAt(b, r.Off+at); err != nil {
			return err
		}
		if _, err := u.WriteAt(b, to+at); err != nil {
			return err
		}
	}
	return nil
}
