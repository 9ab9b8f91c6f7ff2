// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"errors"
	"fmt"

	"github.com/holtdb/holt/stack"
)

// Batch collects operations that become durable together or not at all. Its methods see what it has collected, and are
// those of [Allocator]. It is valid during the call of the function that it was given to, in that goroutine.
//
// An operation that is refused has done nothing, and fn may go on. One that failed half way, in bulk or because of
// damage, makes the batch fail.
type Batch struct {
	core   *core
	u      *stack.Unit
	failed error
	live   *regionSet // of Debug, nil otherwise
}

// refusals are errors of operations that have done nothing.
var refusals = [...]error{ErrForeign, ErrNotAllocated, ErrRange, ErrUnsupported}

// note remembers an operation that failed half way.
func (b *Batch) note(err error) error {
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return err
		}
	}
	return b.fail(err)
}

// fail is note of an operation that may have done a part of what was asked, whatever the error.
func (b *Batch) fail(err error) error {
	if err != nil && b.failed == nil {
		b.failed = err
	}
	return err
}

// Alloc returns a region of n zero bytes; the null region for 0.
func (b *Batch) Alloc(n int64) (Region, error) { return b.allocate(n, true) }

// AllocUninit is Alloc with bytes of any value.
func (b *Batch) AllocUninit(n int64) (Region, error) { return b.allocate(n, false) }

func (b *Batch) allocate(n int64, zero bool) (Region, error) {
	if err := checkLen(n); err != nil || n == 0 {
		return Region{}, err
	}
	off, err := b.core.policy.alloc(b.u, n, zero)
	if err != nil {
		return Region{}, b.note(err)
	}
	r := Region{off, n, b.core.owner}
	return r, b.fail(b.live.add(r))
}

// AllocBulk allocates several regions.
func (b *Batch) AllocBulk(lens []int64) ([]Region, error) {
	rs := make([]Region, len(lens))
	if err := b.allocBulk(lens, rs); err != nil {
		return nil, err
	}
	return rs, nil
}

func (b *Batch) allocBulk(lens []int64, rs []Region) error {
	var total int64
	for _, n := range lens {
		if err := checkLen(n); err != nil {
			return err
		}
		if n > maxLen-total {
			return fmt.Errorf("%w: regions of %d bytes and more", ErrRange, total)
		}
		total += n
	}
	if total == 0 {
		return nil
	}
	offs := make([]int64, len(lens))
	if err := b.core.policy.allocBulk(b.u, lens, offs); err != nil {
		return b.fail(err)
	}
	for i, n := range lens {
		if n > 0 {
			rs[i] = Region{offs[i], n, b.core.owner}
		}
	}
	return b.fail(b.live.addAll(rs))
}

// Realloc makes the region n bytes long, elsewhere if it must. New bytes are zero.
func (b *Batch) Realloc(r Region, n int64) (Region, error) { return b.reallocate(r, n, true) }

// ReallocUninit is Realloc with new bytes of any value.
func (b *Batch) ReallocUninit(r Region, n int64) (Region, error) { return b.reallocate(r, n, false) }

func (b *Batch) reallocate(r Region, n int64, zero bool) (Region, error) {
	switch {
	case r.IsEmpty():
		return b.allocate(n, zero)
	case n == 0:
		return Region{}, b.Free(r)
	}
	if err := checkLen(n); err != nil {
		return Region{}, err
	}
	if err := b.known(r); err != nil {
		return Region{}, err
	}
	off, err := b.core.policy.realloc(b.u, r, n, zero)
	if err != nil {
		return Region{}, b.note(err)
	}
	return b.replace(r, Region{off, n, b.core.owner})
}

// replace notes that a region has become another.
func (b *Batch) replace(r, by Region) (Region, error) {
	b.live.remove(r)
	return by, b.fail(b.live.add(by))
}

// known says whether r may be a live region.
func (b *Batch) known(r Region) error {
	if err := b.core.checkRegion(r, b.u.Len()); err != nil {
		return err
	}
	return b.live.has(r)
}

// Resize moves the ends of the region and none of its bytes.
func (b *Batch) Resize(r Region, before, after int64) (Region, error) {
	if r.IsEmpty() {
		return Region{}, fmt.Errorf("%w: an empty region", ErrUnsupported)
	}
	if err := b.known(r); err != nil {
		return Region{}, err
	}
	if before < -r.Len || after < -r.Len || before > maxLen || after > maxLen ||
		r.Len+before < -after || r.Len+before+after > maxLen {
		return Region{}, fmt.Errorf("%w: moving the ends of %v by %d and %d", ErrRange, r, before, after)
	}
	n := r.Len + before + after
	if n == 0 || before > r.Off {
		return Region{}, fmt.Errorf("%w: moving the ends of %v by %d and %d", ErrUnsupported, r, before, after)
	}
	if before != 0 || after != 0 {
		if err := b.core.policy.resize(b.u, r, before, after); err != nil {
			return Region{}, b.note(err)
		}
	}
	return b.replace(r, Region{r.Off - before, n, b.core.owner})
}

// Free gives the region back.
func (b *Batch) Free(r Region) error {
	if r.IsEmpty() {
		return nil
	}
	if err := b.known(r); err != nil {
		return err
	}
	if err := b.core.policy.free(b.u, r); err != nil {
		return b.note(err)
	}
	b.live.remove(r)
	return nil
}

// FreeBulk frees several regions, all or none.
func (b *Batch) FreeBulk(rs []Region) error {
	sorted, err := b.core.checkRegions(rs, b.u.Len())
	if err != nil || len(sorted) == 0 {
		return err
	}
	if err := b.live.hasAll(sorted); err != nil {
		return err
	}
	for _, r := range sorted {
		b.live.remove(r)
	}
	return b.fail(b.core.policy.freeBulk(b.u, sorted))
}

func (b *Batch) reclaim(live []Region) (int64, error) {
	sorted, err := b.core.checkRegions(live, b.u.Len())
	if err != nil {
		return 0, err
	}
	n, err := b.core.policy.reclaim(b.u, sorted)
	return n, b.note(err)
}

// WriteAt puts p at off of the region. [ErrRange] if it does not fit.
func (b *Batch) WriteAt(r Region, p []byte, off int64) error {
	at, err := b.part(r, off, int64(len(p)))
	if err != nil {
		return err
	}
	_, err = b.u.WriteAt(p, at.Off)
	return b.note(err)
}

// Zero sets n bytes at off of the region to zero.
func (b *Batch) Zero(r Region, off, n int64) error {
	at, err := b.part(r, off, n)
	if err != nil {
		return err
	}
	return b.note(b.u.Zero(at.Off, n))
}

// ReadAt fills p with the bytes at off of the region.
func (b *Batch) ReadAt(r Region, p []byte, off int64) error {
	at, err := b.part(r, off, int64(len(p)))
	if err != nil {
		return err
	}
	_, err = b.u.ReadAt(p, at.Off)
	return b.note(err)
}

// part is a part of a region that may be read or written.
func (b *Batch) part(r Region, off, n int64) (Region, error) {
	at, err := r.part(off, n)
	if err != nil {
		return Region{}, err
	}
	return at, b.core.accessible(r, b.u.Len())
}

// accessible says whether the bytes of r are the program's.
func (c *core) accessible(r Region, length int64) error {
	reserved, _ := c.policy.bounds()
	if r.sane() && r.Off >= reserved.Off && r.End() <= min(reserved.End(), length) {
		return nil
	}
	if err := c.checkRegion(r, length); err != nil {
		return err
	}
	return c.policy.live(r)
}
