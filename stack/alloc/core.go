// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/holtdb/holt/stack"
)

// maxLen bounds lengths, so that no offset overflows.
const maxLen = math.MaxInt64 - 1<<40

// core is what all allocators have in common: it checks what it is given, and runs the policy inside units of the
// stack.
type core struct {
	stack  *stack.Stack
	owner  owner
	policy policy

	repaired []string
}

func newCore(s *stack.Stack, p policy) core { return core{stack: s, owner: newOwner(), policy: p} }

// Stack implements [Allocator].
func (c *core) Stack() *stack.Stack { return c.stack }

// Repaired implements [Allocator].
func (c *core) Repaired() []string { return slices.Clone(c.repaired) }

// Reserved implements [Allocator].
func (c *core) Reserved() Region {
	r, _ := c.policy.bounds()
	r.owner = c.owner
	return r
}

// Alloc implements [Allocator].
func (c *core) Alloc(n int64) (Region, error) { return c.allocate(n, true) }

// AllocUninit implements [Allocator].
func (c *core) AllocUninit(n int64) (Region, error) { return c.allocate(n, false) }

func (c *core) allocate(n int64, zero bool) (Region, error) {
	if n == 0 {
		return Region{}, nil
	}
	q := c.request(opAlloc)
	q.n, q.zero = n, zero
	return q.do()
}

// AllocBulk implements [Allocator].
func (c *core) AllocBulk(lens []int64) (rs []Region, err error) {
	if !slices.ContainsFunc(lens, func(n int64) bool { return n != 0 }) {
		return make([]Region, len(lens)), nil
	}
	q := c.request(opAllocBulk)
	q.lens = lens
	q.rs = make([]Region, len(lens))
	rs = q.rs
	if _, err := q.do(); err != nil {
		return nil, err
	}
	return rs, nil
}

// Realloc implements [Allocator].
func (c *core) Realloc(r Region, n int64) (Region, error) { return c.reallocate(r, n, true) }

// ReallocUninit implements [Allocator].
func (c *core) ReallocUninit(r Region, n int64) (Region, error) { return c.reallocate(r, n, false) }

func (c *core) reallocate(r Region, n int64, zero bool) (Region, error) {
	q := c.request(opRealloc)
	q.r, q.n, q.zero = r, n, zero
	return q.do()
}

// Resize implements [Allocator].
func (c *core) Resize(r Region, before, after int64) (Region, error) {
	q := c.request(opResize)
	q.r, q.n, q.m = r, before, after
	return q.do()
}

// Free implements [Allocator].
func (c *core) Free(r Region) error {
	if r.IsEmpty() {
		return nil
	}
	q := c.request(opFree)
	q.r = r
	_, err := q.do()
	return err
}

// FreeBulk implements [Allocator].
func (c *core) FreeBulk(rs []Region) error {
	if !slices.ContainsFunc(rs, func(r Region) bool { return !r.IsEmpty() }) {
		return nil
	}
	q := c.request(opFreeBulk)
	q.rs = rs
	_, err := q.do()
	return err
}

// Update implements [Allocator].
func (c *core) Update(fn func(b *Batch) error) error {
	q := c.request(opUpdate)
	q.fn = fn
	return q.doOnce()
}

// Check implements [Allocator].
func (c *core) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		var found []error
		err := c.inspect(func(u *stack.Unit) error {
			c.policy.check(u, func(err error) { found = append(found, err) })
			return nil
		})
		if err != nil {
			found = append(found, err)
		}
		for _, err := range found {
			if !yield(err) {
				return
			}
		}
	}
}

// Stats implements [Allocator].
func (c *core) Stats() (Stats, error) {
	spans, err := c.Layout()
	return statsOf(spans), err
}

// Layout implements [Allocator].
func (c *core) Layout() (spans []Span, err error) {
	err = c.inspect(func(u *stack.Unit) (err error) {
		spans, err = c.policy.layout(u)
		return err
	})
	return spans, err
}

// Reclaim implements [Allocator].
func (c *core) Reclaim(live []Region) (n int64, err error) {
	q := c.request(opReclaim)
	q.rs = live
	r, err := q.do()
	return r.Len, err
}

// inspect runs fn in its turn, when nothing else is under way.
func (c *core) inspect(fn func(u *stack.Unit) error) error {
	return c.stack.View(func(u *stack.Unit) error {
		c.policy.mark(u, false)
		return fn(u)
	})
}

// checkLen says whether a region can be that long.
func checkLen(n int64) error {
	if n < 0 || n > maxLen {
		return fmt.Errorf("%w: a region of %d bytes", ErrRange, n)
	}
	return nil
}

// checkRegion says whether r may be a region that c gave out, in a payload of this length.
func (c *core) checkRegion(r Region, length int64) error {
	if r.owner != 0 && r.owner != c.owner {
		return fmt.Errorf("%w: %v", ErrForeign, r)
	}
	_, arena := c.policy.bounds()
	if !r.sane() || r.Off < arena || r.End() > length {
		return fmt.Errorf("%w: %v of %d bytes, the first %d of which are not given out", ErrRange, r, length, arena)
	}
	return nil
}

// checkRegions is checkRegion for several, which must not overlap. It returns those that are not empty by offset, in
// memory of its own.
func (c *core) checkRegions(rs []Region, length int64) ([]Region, error) {
	sorted := make([]Region, 0, len(rs))
	for _, r := range rs {
		if r.IsEmpty() {
			continue
		}
		if err := c.checkRegion(r, length); err != nil {
			return nil, err
		}
		sorted = append(sorted, r)
	}
	slices.SortFunc(sorted, func(a, b Region) int { return cmp.Compare(a.Off, b.Off) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Off < sorted[i-1].End() {
			return nil, fmt.Errorf("%w: %v and %v overlap", ErrNotAllocated, sorted[i-1], sorted[i])
		}
	}
	return sorted, nil
}
