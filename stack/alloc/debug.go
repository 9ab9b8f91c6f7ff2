// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// Debug is an allocator that knows every live region, in memory: it refuses to free or resize anything else, with
// [ErrNotAllocated], and reports an allocator that gives out bytes twice, with [ErrInUse]. For tests: its operations
// run one at a time, and each copies the list of live regions.
type Debug struct {
	Allocator

	mu   sync.Mutex
	live regionSet // guarded by mu
}

// NewDebug wraps an allocator. Regions that are live already have to be named. [ErrInUse] if they overlap.
func NewDebug(a Allocator, live ...Region) (*Debug, error) {
	d := &Debug{Allocator: a}
	return d, d.live.addAll(live)
}

// Live returns the live regions by offset.
func (d *Debug) Live() []Region {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.live)
}

// Update implements [Allocator].
func (d *Debug) Update(fn func(b *Batch) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	live := slices.Clone(d.live)
	err := d.Allocator.Update(func(b *Batch) error {
		b.live = &live
		return fn(b)
	})
	if err == nil {
		d.live = live
	}
	return err
}

// Alloc implements [Allocator].
func (d *Debug) Alloc(n int64) (Region, error) {
	return d.one(func(b *Batch) (Region, error) { return b.Alloc(n) })
}

// AllocUninit implements [Allocator].
func (d *Debug) AllocUninit(n int64) (Region, error) {
	return d.one(func(b *Batch) (Region, error) { return b.AllocUninit(n) })
}

// AllocBulk implements [Allocator].
func (d *Debug) AllocBulk(lens []int64) (rs []Region, err error) {
	err = d.Update(func(b *Batch) (err error) {
		rs, err = b.AllocBulk(lens)
		return err
	})
	return rs, err
}

// Realloc implements [Allocator].
func (d *Debug) Realloc(r Region, n int64) (Region, error) {
	return d.one(func(b *Batch) (Region, error) { return b.Realloc(r, n) })
}

// ReallocUninit implements [Allocator].
func (d *Debug) ReallocUninit(r Region, n int64) (Region, error) {
	return d.one(func(b *Batch) (Region, error) { return b.ReallocUninit(r, n) })
}

// Resize implements [Allocator].
func (d *Debug) Resize(r Region, before, after int64) (Region, error) {
	return d.one(func(b *Batch) (Region, error) { return b.Resize(r, before, after) })
}

// Free implements [Allocator].
func (d *Debug) Free(r Region) error { return d.Update(func(b *Batch) error { return b.Free(r) }) }

// FreeBulk implements [Allocator].
func (d *Debug) FreeBulk(rs []Region) error {
	return d.Update(func(b *Batch) error { return b.FreeBulk(rs) })
}

// Reclaim implements [Allocator].
func (d *Debug) Reclaim(live []Region) (int64, error) {
	var set regionSet
	if err := set.addAll(live); err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.Allocator.Reclaim(live)
	if err == nil {
		d.live = set
	}
	return n, err
}

// one is Update for an operation with one region as its result.
func (d *Debug) one(fn func(b *Batch) (Region, error)) (r Region, err error) {
	err = d.Update(func(b *Batch) (err error) {
		r, err = fn(b)
		return err
	})
	if err != nil {
		return Region{}, err
	}
	return r, nil
}

// regionSet is a set of regions that do not overlap, none of them empty, by offset. A nil *regionSet knows nothing, and
// is content with everything.
type regionSet []Region

// find is the index of the region that begins at off, or of the first one behind.
func (s regionSet) find(off int64) (int, bool) {
	return slices.BinarySearchFunc(s, off, func(r Region, off int64) int { return cmp.Compare(r.Off, off) })
}

func (s *regionSet) addAll(rs []Region) error {
	for _, r := range rs {
		if err := s.add(r); err != nil {
			return err
		}
	}
	return nil
}

// add says that a region is live now.
func (s *regionSet) add(r Region) error {
	if s == nil || r.IsEmpty() {
		return nil
	}
	i, _ := s.find(r.Off)
	for _, k := range []int{i - 1, i} {
		if k >= 0 && k < len(*s) && (*s)[k].Off < r.End() && r.Off < (*s)[k].End() {
			return fmt.Errorf("%w: %v overlaps %v", ErrInUse, r, (*s)[k])
		}
	}
	*s = slices.Insert(*s, i, r)
	return nil
}

// has says whether a region is live, as it is.
func (s *regionSet) has(r Region) error {
	if s == nil || r.IsEmpty() {
		return nil
	}
	i, ok := s.find(r.Off)
	switch {
	case ok && (*s)[i].Len == r.Len:
		return nil
	case ok:
		return fmt.Errorf("%w: %v, the one that begins there is %v", ErrNotAllocated, r, (*s)[i])
	case i > 0 && (*s)[i-1].End() > r.Off:
		return fmt.Errorf("%w: %v begins inside %v", ErrNotAllocated, r, (*s)[i-1])
	}
	return fmt.Errorf("%w: %v", ErrNotAllocated, r)
}

// remove says that a region is no longer live.
func (s *regionSet) remove(r Region) {
	if s == nil || r.IsEmpty() {
		return
	}
	if i, ok := s.find(r.Off); ok {
		*s = slices.Delete(*s, i, i+1)
	}
}

// hasAll is has for all, each of which may be named once.
func (s *regionSet) hasAll(rs []Region) error {
	for _, r := range rs {
		if err := s.has(r); err != nil {
			return err
		}
	}
	return nil
}
