// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// uses are what can be done with a region that must not be; good is another, which may.
var uses = map[string]func(on operations, bad, good alloc.Region) error{
	"Free":      func(on operations, bad, _ alloc.Region) error { return on.Free(bad) },
	"FreeBulk":  func(on operations, bad, good alloc.Region) error { return on.FreeBulk([]alloc.Region{good, bad}) },
	"Realloc":   func(on operations, bad, _ alloc.Region) error { return second(on.Realloc(bad, bad.Len+50)) },
	"shrinking": func(on operations, bad, _ alloc.Region) error { return second(on.ReallocUninit(bad, 1)) },
	"to 0":      func(on operations, bad, _ alloc.Region) error { return second(on.Realloc(bad, 0)) },
	"Resize":    func(on operations, bad, _ alloc.Region) error { return second(on.Resize(bad, 0, 50)) },
	"WriteAt":   func(on operations, bad, _ alloc.Region) error { return write(on, bad, []byte{1}, 0) },
}

func second[T any](_ T, err error) error { return err }

// refusal is a region that must be refused.
type refusal struct {
	name string
	r    alloc.Region
	want error
	uses []string // nil for all
}

// house is a file with regions of 100 bytes, text in them, one of which was freed.
type house struct {
	*world
	disk  *file.Crash
	rs    []alloc.Region
	freed alloc.Region // between others
}

func newHouse(t rapid.TB, k *kind) *house {
	t.Helper()
	h := &house{disk: newDisk()}
	h.world = newWorld(k, h.disk)
	check(t, h.open())
	for i := range 7 {
		check(t, h.do(t, op{verb: doAlloc, n: 100}))
		check(t, h.do(t, op{verb: doWrite, pick: i, n: 100, seed: byte(i)}))
	}
	for _, p := range h.live {
		h.rs = append(h.rs, p.r)
	}
	h.freed = h.rs[3]
	check(t, h.do(t, op{verb: doFree, pick: 3}))
	return h
}

// untouched runs fn and makes sure that the file is as it was.
func (h *house) untouched(t rapid.TB, what string, fn func()) {
	t.Helper()
	rest(t, h.a.Stack())
	was := raw(t, h.disk)
	fn()
	rest(t, h.a.Stack())
	same(t, what+": the file", raw(t, h.disk), was)
	h.verify(t)
}

func region(off, n int64) alloc.Region { return alloc.Region{Off: off, Len: n} }

// refusals are what any allocator of this kind has to refuse.
func (h *house) refusals(t rapid.TB) []refusal {
	t.Helper()
	k, r, end := h.kind, h.rs[1], h.a.Stack().Len()
	other := newHouse(t, k)
	t.(interface{ Cleanup(f func()) }).Cleanup(func() { check(t, other.close()) })
	list := []refusal{
		{"of another allocator", other.rs[1], alloc.ErrForeign, nil},
		{"beyond the end", region(r.Off, end), alloc.ErrRange, nil},
		{"behind the end", region(end+64, 100), alloc.ErrRange, nil},
		{"negative", region(-64, 100), alloc.ErrRange, nil},
		{"of negative length", region(r.Off, -1), alloc.ErrRange, nil},
		{"overflowing", region(math.MaxInt64-10, 100), alloc.ErrRange, nil},
		{"too large to be read", alloc.RegionFrom([16]byte{15: 0xFF}), alloc.ErrRange, nil},
		{"twice", r, alloc.ErrNotAllocated, []string{"FreeBulk"}},
		{"in part of another", region(r.Off+1, 99), alloc.ErrNotAllocated, []string{"FreeBulk"}},
	}
	changes := []string{"Free", "FreeBulk", "Realloc", "shrinking", "to 0", "Resize"}
	if reserved := h.a.Reserved(); reserved.Len > 0 {
		list = append(list, refusal{"reserved", reserved, alloc.ErrRange, changes})
	}
	if _, arena := h.bounds(t); arena > 0 {
		list = append(list, refusal{"of the header", region(arena-8, 100), alloc.ErrRange, nil})
	}
	if k.doubles {
		list = append(list, refusal{"freed", h.freed, alloc.ErrNotAllocated, changes})
	}
	if k.aligned {
		list = append(list, refusal{"begins too late", region(r.Off+1, 90), alloc.ErrNotAllocated, changes})
	}
	if k.knows {
		list = append(
			list,
			refusal{"part", region(r.Off+16, 64), alloc.ErrNotAllocated, changes},
			refusal{"two", region(r.Off, h.rs[2].End()-r.Off), alloc.ErrNotAllocated, changes},
		)
	}
	return list
}

// bounds are the length of the reserved region and where the arena begins.
func (w *world) bounds(t rapid.TB) (reserved, arena int64) {
	t.Helper()
	spans, err := w.a.Layout()
	check(t, err)
	for _, sp := range spans {
		switch sp.Kind {
		case alloc.Reserved:
			reserved = sp.Len
		case alloc.Header:
			arena = sp.Off + sp.Len
		}
	}
	return reserved, arena
}

// What cannot be a region of the allocator is refused with the right error, and nothing is touched: alone, and in a
// batch, which goes on.
func TestRefusals(t *testing.T) {
	forEach(t, func(t *testing.T, k *kind) {
		h := newHouse(t, k)
		for _, c := range h.refusals(t) {
			if c.uses == nil {
				for name := range uses {
					c.uses = append(c.uses, name)
				}
			}
			for _, use := range c.uses {
				what := fmt.Sprintf("%s, %s, %v", use, c.name, c.r)
				h.untouched(t, what, func() { refused(t, what, uses[use](h.a, c.r, h.rs[1]), c.want) })
				h.untouched(t, what+" in a batch", func() {
					err := h.a.Update(func(b *alloc.Batch) error {
						refused(t, what, uses[use](b, c.r, h.rs[1]), c.want)
						return nil
					})
					if use == "FreeBulk" && err != nil {
						refused(t, what, err, c.want) // the batch does not know how far it came
					} else {
						check(t, err)
					}
				})
			}
		}
		check(t, h.close())
	})
}

// A batch in which something was refused half way fails, whatever its function makes of it.
func TestBatchThatFailsHalfWay(t *testing.T) {
	forEach(t, func(t *testing.T, k *kind) {
		if !k.doubles {
			t.Skip("nothing is refused half way")
		}
		h := newHouse(t, k)
		h.untouched(t, "FreeBulk", func() {
			err := h.a.Update(func(b *alloc.Batch) error {
				refused(t, "FreeBulk", b.FreeBulk([]alloc.Region{h.rs[1], h.freed, h.rs[5]}), alloc.ErrNotAllocated)
				return nil
			})
			refused(t, "Update", err, alloc.ErrNotAllocated)
		})
		check(t, h.do(t, op{verb: doAlloc, n: 100}))
		h.verify(t)
		check(t, h.close())
	})
}

// Lengths that no region can have are refused, and places that it has not.
func TestRefusalsOfLengths(t *testing.T) {
	forEach(t, func(t *testing.T, k *kind) {
		h := newHouse(t, k)
		r := h.rs[6]
		for name, call := range map[string]func(on operations) error{
			"Alloc":         func(on operations) error { return second(on.Alloc(-1)) },
			"AllocUninit":   func(on operations) error { return second(on.AllocUninit(math.MaxInt64)) },
			"Alloc, much":   func(on operations) error { return second(on.Alloc(math.MaxInt64)) },
			"AllocBulk":     func(on operations) error { return second(on.AllocBulk([]int64{5, -1})) },
			"AllocBulk sum": func(on operations) error { return second(on.AllocBulk([]int64{1 << 62, 1 << 62})) },
			"Realloc":       func(on operations) error { return second(on.Realloc(r, -1)) },
			"Realloc, much": func(on operations) error { return second(on.Realloc(r, math.MaxInt64)) },
			"of nothing":    func(on operations) error { return second(on.Realloc(alloc.Region{}, -5)) },
			"Resize":        func(on operations) error { return second(on.Resize(r, -60, -60)) },
			"Resize, much":  func(on operations) error { return second(on.Resize(r, 0, math.MaxInt64)) },
			"Resize, less":  func(on operations) error { return second(on.Resize(r, math.MinInt64, 0)) },
			"write before":  func(on operations) error { return write(on, r, []byte{1}, -1) },
			"write behind":  func(on operations) error { return write(on, r, []byte{1}, r.Len) },
			"write too far": func(on operations) error { return write(on, r, make([]byte, 101), 0) },
			"read too far":  func(on operations) error { return rangeOf(on, r) },
		} {
			h.untouched(t, name, func() { refused(t, name, call(h.a), alloc.ErrRange) })
			h.untouched(t, name, func() {
				check(t, h.a.Update(func(b *alloc.Batch) error {
					refused(t, name, call(b), alloc.ErrRange)
					return nil
				}))
			})
		}
		check(t, h.close())
	})
}

// rangeOf reads what a region has not.
func rangeOf(on operations, r alloc.Region) error {
	if b, ok := on.(*alloc.Batch); ok {
		return b.ReadAt(r, make([]byte, 5), r.Len-4)
	}
	return second(on.(alloc.Allocator).View(r).Slice(0, r.Len+1))
}

// Nothing is asked of the disk for nothing.
func TestEmptyRegions(t *testing.T) {
	forEach(t, func(t *testing.T, k *kind) {
		h := newHouse(t, k)
		rest(t, h.a.Stack())
		was := h.disk.Counts().Ops
		h.untouched(t, "nothing", func() {
			empty := func(r alloc.Region, err error) {
				t.Helper()
				check(t, err)
				if r != (alloc.Region{}) {
					t.Errorf("%v", r)
				}
			}
			empty(h.a.Alloc(0))
			empty(h.a.AllocUninit(0))
			empty(h.a.Realloc(alloc.Region{}, 0))
			check(t, h.a.Free(alloc.Region{}))
			check(t, h.a.FreeBulk(nil))
			check(t, h.a.FreeBulk(make([]alloc.Region, 3)))
			check(t, write(h.a, h.rs[0], nil, 5))
			rs, err := h.a.AllocBulk(make([]int64, 3))
			check(t, err)
			if len(rs) != 3 || rs[0] != (alloc.Region{}) {
				t.Errorf("%v", rs)
			}
			_, err = h.a.Resize(alloc.Region{}, 1, 1)
			refused(t, "Resize", err, alloc.ErrUnsupported)
			check(t, h.a.Update(func(b *alloc.Batch) error {
				empty(b.Alloc(0))
				check(t, b.Free(alloc.Region{}))
				check(t, b.FreeBulk(nil))
				return second(b.AllocBulk(make([]int64, 2)))
			}))
		})
		if n := h.disk.Counts().Ops - was; n != 0 {
			t.Errorf("%d calls", n)
		}
		check(t, h.close())
	})
}

// A region that was freed twice does not come to be used twice.
func TestDoubleFree(t *testing.T) {
	forEach(t, func(t *testing.T, k *kind) {
		if !k.doubles {
			t.Skip("the format cannot tell")
		}
		for _, what := range []string{"at once", "reopened", "at the end"} {
			h := newHouse(t, k)
			r := h.freed
			switch what {
			case "reopened":
				check(t, h.do(t, op{verb: doReopen}))
				r = alloc.RegionFrom(r.Bytes())
			case "at the end":
				r = h.rs[6]
				check(t, h.do(t, op{verb: doFree, pick: len(h.live) - 1}))
			}
			h.untouched(t, what, func() {
				want := alloc.ErrNotAllocated
				if r.End() > h.a.Stack().Len() { // it was cut off
					want = alloc.ErrRange
				}
				refused(t, what, h.a.Free(r), want)
			})
			for range 6 {
				check(t, h.do(t, op{verb: doAlloc, n: 100}))
			}
			h.verify(t)
			check(t, h.close())
		}
	})
}

// After Close everything is refused.
func TestRefusalsAfterClose(t *testing.T) {
	forEach(t, func(t *testing.T, k *kind) {
		h := newHouse(t, k)
		check(t, h.close())
		for name, use := range uses {
			refused(t, name, use(h.a, h.rs[0], h.rs[1]), stack.ErrClosed)
		}
		refused(t, "Alloc", second(h.a.Alloc(1)), stack.ErrClosed)
		refused(t, "Layout", second(h.a.Layout()), stack.ErrClosed)
		refused(t, "Bytes", second(h.a.View(h.rs[0]).Bytes()), stack.ErrClosed)
		for err := range h.a.Check() {
			refused(t, "Check", err, stack.ErrClosed)
		}
	})
}

// On a read-only stack regions can be read and looked at, and not changed.
func TestRefusalsOfReadOnly(t *testing.T) {
	forEach(t, func(t *testing.T, k *kind) {
		h := newHouse(t, k)
		check(t, h.close())
		was := raw(t, h.disk)
		h.opts.ReadOnly = true
		check(t, h.open())
		h.verify(t)
		for name, use := range uses {
			refused(t, name, use(h.a, alloc.RegionFrom(h.rs[0].Bytes()), alloc.RegionFrom(h.rs[1].Bytes())), stack.ErrReadOnly)
		}
		refused(t, "Alloc", second(h.a.Alloc(1)), stack.ErrReadOnly)
		check(t, h.close())
		same(t, "the file", raw(t, h.disk), was)
	})
}
