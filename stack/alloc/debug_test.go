// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/holtdb/holt/stack/alloc"
)

// Debug sees what the format cannot tell: wherever a region that is not live begins and ends.
func TestDebugRefusals(t *testing.T) {
	d, err := alloc.NewDebug(memoryTree(t))
	if err != nil {
		t.Fatal(err)
	}
	rs, err := d.AllocBulk([]int64{64, 64, 64})
	if err != nil {
		t.Fatal(err)
	}
	at := func(off, n int64) alloc.Region { return alloc.Region{Off: off, Len: n} }
	for name, r := range map[string]alloc.Region{
		"shorter": at(rs[0].Off, 32), "longer": at(rs[0].Off, 65), "two": at(rs[0].Off, 128), "inside": at(rs[1].Off+32, 32),
	} {
		for call, fn := range map[string]func() error{
			"Free":     func() error { return d.Free(r) },
			"FreeBulk": func() error { return d.FreeBulk([]alloc.Region{rs[2], r}) },
			"Realloc":  func() error { _, err := d.Realloc(r, 10); return err },
			"Resize":   func() error { _, err := d.Resize(r, 0, 1); return err },
			"Update":   func() error { return d.Update(func(b *alloc.Batch) error { return b.Free(r) }) },
		} {
			if err := fn(); !errors.Is(err, alloc.ErrNotAllocated) {
				t.Errorf("%s of a region that is %s: %v", call, name, err)
			}
		}
	}
	if !slices.Equal(d.Live(), rs) {
		t.Errorf("live %v, want %v", d.Live(), rs)
	}
}

// Debug follows regions through everything that happens to them, and forgets what did not happen.
func TestDebugFollows(t *testing.T) {
	d, err := alloc.NewDebug(memoryTree(t))
	if err != nil {
		t.Fatal(err)
	}
	var want []alloc.Region
	step := func(r alloc.Region, err error) alloc.Region {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a := step(d.Alloc(10))
	b := step(d.AllocUninit(20))
	a = step(d.Realloc(a, 100))
	b = step(d.ReallocUninit(b, 5))
	b = step(d.Resize(b, 0, 2))
	want = append(want, a, b, step(d.Alloc(1000)))
	boom := errors.New("boom")
	err = d.Update(func(x *alloc.Batch) error {
		if err := x.Free(a); err != nil {
			t.Error(err)
		}
		if err := x.Free(a); !errors.Is(err, alloc.ErrNotAllocated) {
			t.Errorf("freed twice in a batch: %v", err)
		}
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatal(err)
	}
	slices.SortFunc(want, func(x, y alloc.Region) int { return cmp.Compare(x.Off, y.Off) })
	if !slices.Equal(d.Live(), want) {
		t.Fatalf("live %v, want %v", d.Live(), want)
	}
	again, err := alloc.NewDebug(d.Allocator, d.Live()...)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.FreeBulk(want); err != nil || len(again.Live()) != 0 {
		t.Fatalf("%v, live %v", err, again.Live())
	}
	if _, err := alloc.NewDebug(d.Allocator, a, a); !errors.Is(err, alloc.ErrInUse) {
		t.Errorf("the same region twice: %v", err)
	}
}

// An allocator that gives out bytes twice is found out: here one that another allocator of the same file has misled.
func TestDebugInUse(t *testing.T) {
	a := memoryTree(t)
	d, err := alloc.NewDebug(a)
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Free(r); err != nil { // behind its back
		t.Fatal(err)
	}
	if got, err := d.Alloc(100); !errors.Is(err, alloc.ErrInUse) {
		t.Fatalf("Alloc = %v, %v, want %v", got, err, alloc.ErrInUse)
	}
}
