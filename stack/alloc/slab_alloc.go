// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"fmt"

	"github.com/holtdb/holt/stack"
)

// alloc implements policy.
func (p *slab) alloc(u *stack.Unit, n int64, zero bool) (int64, error) {
	if err := p.load(u); err != nil {
		return 0, err
	}
	need := p.blocks(n)
	if need > 1 || p.head == 0 {
		off, err := u.Extend(need * p.size)
		if err != nil {
			return 0, err
		}
		return off + p.kind.mark, p.claim(u, run{(off - slabArena) / p.size, need})
	}
	off, err := p.pop(u)
	if err != nil {
		return 0, err
	}
	if err := p.claim(u, run{(off - slabArena) / p.size, 1}); err != nil {
		return 0, err
	}
	off += p.kind.mark
	if zero {
		err = u.Zero(off, n)
	}
	return off, err
}

// allocBulk implements policy.
func (p *slab) allocBulk(u *stack.Unit, lens, offs []int64) error {
	return bulk{p}.allocBulk(u, lens, offs)
}

// free implements policy.
func (p *slab) free(u *stack.Unit, r Region) error {
	b, err := p.region(u, r)
	if err != nil {
		return err
	}
	if p.offset(b.end()) == u.Len() && !p.keep {
		return u.Truncate(p.offset(b.first))
	}
	return p.push1(u, b)
}

// freeBulk implements policy.
func (p *slab) freeBulk(u *stack.Unit, rs []Region) error {
	var runs []run
	for _, r := range rs {
		b, err := p.region(u, r)
		if err != nil {
			return err
		}
		runs = join(runs, b)
	}
	return p.release(u, runs)
}

// release frees blocks. They are cut off only if nothing else has to be changed.
func (p *slab) release(u *stack.Unit, runs []run) error {
	if len(runs) == 1 && p.offset(runs[0].end()) == u.Len() && !p.keep {
		return u.Truncate(p.offset(runs[0].first))
	}
	return p.push(u, runs)
}

// realloc implements policy.
func (p *slab) realloc(u *stack.Unit, r Region, n int64, zero bool) (int64, error) {
	b, err := p.region(u, r)
	if err != nil {
		return 0, err
	}
	to := run{b.first, p.blocks(n)}
	if to.n > b.n && p.offset(b.end()) != u.Len() {
		return p.move(u, b, r, n)
	}
	return r.Off, p.fit(u, b, to, r, n, zero)
}

// resize implements policy.
func (p *slab) resize(u *stack.Unit, r Region, before, after int64) error {
	b, err := p.region(u, r)
	if err != nil {
		return err
	}
	n := r.Len + before + after
	to := run{b.first - before/p.size, p.blocks(n)}
	switch {
	case before > 0 || before%p.size != 0:
		return fmt.Errorf("%w: moving the start of %v by %d, with blocks of %d bytes", ErrUnsupported, r, before, p.size)
	case to.end() > b.end() && p.offset(b.end()) != u.Len():
		return fmt.Errorf("%w: no room behind %v for %d bytes", ErrUnsupported, r, after)
	}
	return p.fit(u, b, to, r, n, true)
}

// fit changes the blocks of a region in place: it can lose some at both ends, and win some at the end of the payload.
// n is its new length.
func (p *slab) fit(u *stack.Unit, b, to run, r Region, n int64, zero bool) error {
	if to != b {
		if err := p.claim(u, to); err != nil {
			return err
		}
	}
	if err := p.fitEnds(u, b, to); err != nil {
		return err
	}
	end := min(p.offset(to.first)+p.kind.mark+n, p.offset(b.end())) // what lies behind is zero
	if !zero || end <= r.End() {
		return nil
	}
	return u.Zero(r.End(), end-r.End())
}

func (p *slab) fitEnds(u *stack.Unit, b, to run) error {
	front := run{b.first, to.first - b.first}
	back := run{to.end(), b.end() - to.end()}
	switch {
	case back.n < 0:
		if _, err := u.Extend(-back.n * p.size); err != nil {
			return err
		}
		back.n = 0
	case back.n > 0 && front.n == 0 && p.offset(b.end()) == u.Len() && p.cutIsCheap(to):
		return u.Truncate(p.offset(to.end()))
	}
	switch {
	case front.n > 0 && back.n > 0:
		return p.push(u, []run{front, back})
	case front.n > 0:
		return p.push1(u, front)
	case back.n > 0:
		return p.push1(u, back)
	}
	return nil
}

// cutIsCheap says whether what lies behind the blocks of a region can be cut off now that they are fewer: their mark
// changes.
func (p *slab) cutIsCheap(to run) bool {
	return !p.keep && (p.kind.mark == 0 || to.n*p.size <= cheapCut)
}

// move gives a region new blocks at the end of the payload: they are more than one.
func (p *slab) move(u *stack.Unit, b run, r Region, n int64) (int64, error) {
	need := p.blocks(n)
	off, err := u.Extend(need * p.size)
	if err != nil {
		return 0, err
	}
	if err := p.claim(u, run{(off - slabArena) / p.size, need}); err != nil {
		return 0, err
	}
	off += p.kind.mark
	if p.copied == nil {
		p.copied = make([]byte, 64<<10)
	}
	if err := copyWithin(u, off, r.Off, r.Len, p.copied); err != nil {
		return 0, err
	}
	return off, p.push1(u, b)
}

// copyWithin copies n bytes to a place that does not overlap with theirs, by way of buf.
func copyWithin(u *stack.Unit, to, from, n int64, buf []byte) error {
	for n > 0 {
		piece := buf[:min(n, int64(len(buf)))]
		if _, err := u.ReadAt(piece, from); err != nil {
			return err
		}
		if _, err := u.WriteAt(piece, to); err != nil {
			return err
		}
		k := int64(len(piece))
		to, from, n = to+k, from+k, n-k
	}
	return nil
}
