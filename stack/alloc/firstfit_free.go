// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"math"
	"slices"

	"github.com/holtdb/holt/stack"
)

// ffKeepTail is how many bytes may always be written anew to cut something off the end: see worthCutting.
const ffKeepTail = 64 << 10

// free implements policy.
func (p *firstFit) free(u *stack.Unit, r Region) error {
	s, err := p.at(u, r)
	if err != nil {
		return err
	}
	return p.release(u, s)
}

// release makes a block free: it is merged with its neighbours, and cut off if it is at the end then.
func (p *firstFit) release(u *stack.Unit, s spot) error {
	start, end, low := s.start(), s.end(), int64(math.MaxInt64)
	if s.right.free {
		end, low = s.right.end(), lowestLink(s.right)
	}
	if s.left.free {
		start, low = s.left.start(), min(low, lowestLink(s.left))
	}
	for _, b := range [...]ffBlock{s.right, s.left} {
		if b.free {
			if err := p.unlink(u, b.data); err != nil {
				return err
			}
		}
	}
	if end == u.Len() && !p.keep && worthCutting(low, start, end) {
		return p.cut(u, start)
	}
	return p.insert(u, start, end)
}

// worthCutting says whether to cut off what is from start to end when bytes from low on change in the same unit:
// everything from there on has to be written anew then, as the journal knows no other way to change bytes and cut
// others off at once. A free block stays at the end until that is worth it; nothing depends on its not being there.
func worthCutting(low, start, end int64) bool {
	return start-low <= max(ffKeepTail, 2*(end-start))
}

// cut cuts off everything from start on, and what is free before that. There is something only if other programs have
// left free neighbours.
func (p *firstFit) cut(u *stack.Unit, start int64) error {
	if err := u.Truncate(start); err != nil {
		return err
	}
	return p.cutFree(u, func(b ffBlock) bool { return worthCutting(lowestLink(b), b.start(), b.end()) })
}

// cutFree cuts off free blocks at the end as long as they are worth it.
func (p *firstFit) cutFree(u *stack.Unit, worth func(b ffBlock) bool) error {
	for {
		b, err := p.last(u)
		if err != nil || !b.free || !worth(b) {
			return err
		}
		if err := p.unlink(u, b.data); err != nil {
			return err
		}
		if err := u.Truncate(b.start()); err != nil {
			return err
		}
	}
}

// last is the last block if its footer tells, or none.
func (p *firstFit) last(u *stack.Unit) (ffBlock, error) {
	if u.Len() < ffArena+ffSmallest {
		return ffBlock{}, nil
	}
	size, err := p.word(u, u.Len()-ffFooter)
	if err != nil || !ffSane(size) || size > u.Len()-ffFooter-ffFirst {
		return ffBlock{}, err
	}
	b, err := p.header(u, u.Len()-ffFooter-size)
	if b.size != size {
		b = ffBlock{}
	}
	return b, err
}

// trim cuts off free blocks at the end.
func (p *firstFit) trim(u *stack.Unit) (int64, error) {
	was := u.Len()
	err := p.cutFree(u, func(ffBlock) bool { return true })
	return was - u.Len(), err
}

// freeBulk implements policy. From the last on, so that what is at the end is cut off; but if others are to be free
// too, the list changes, and the end is kept unless it is worth it.
func (p *firstFit) freeBulk(u *stack.Unit, rs []Region) error {
	end, all, err := p.tailOf(u, rs)
	if err != nil {
		return err
	}
	defer func(was bool) { p.keep = was }(p.keep)
	p.keep = p.keep || !all && !worthCutting(ffHeadAt, end, u.Len())
	return p.bulk.freeBulk(u, rs)
}

// tailOf looks at how many of the regions are at the end, up to free space, and returns where the first of them begins,
// and whether they are all there.
func (p *firstFit) tailOf(u *stack.Unit, rs []Region) (end int64, all bool, err error) {
	end = u.Len()
	for _, r := range slices.Backward(rs) {
		s, err := p.at(u, r)
		if err != nil {
			return 0, false, err
		}
		if s.end() != end && (!s.right.free || s.right.end() != end) {
			return end, false, nil
		}
		if end = s.start(); s.left.free {
			end = s.left.start()
		}
	}
	return end, true, nil
}
