// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// A free list that leads where no free block is: into the header, into the program's reserved bytes, beyond the end,
// between blocks, in circles.
var badLinks = []struct {
	name string
	link func(w *slabs, rs []alloc.Region) uint64
}{
	{"header", func(*slabs, []alloc.Region) uint64 { return 40 }},
	{"reserved", func(*slabs, []alloc.Region) uint64 { return 8 }},
	{"the end", func(w *slabs, _ []alloc.Region) uint64 { return uint64(w.Stack().Len()) }},
	{"beyond the end", func(*slabs, []alloc.Region) uint64 { return 1 << 20 }},
	{"negative", func(*slabs, []alloc.Region) uint64 { return 1<<63 + 48 }},
	{"huge", func(*slabs, []alloc.Region) uint64 { return 1<<64 - 16 }},
	{"between blocks", func(*slabs, []alloc.Region) uint64 { return 49 }},
	{"a circle", func(_ *slabs, rs []alloc.Region) uint64 { return uint64(rs[2].Off) &^ 15 }},
	{"itself", func(_ *slabs, rs []alloc.Region) uint64 { return uint64(rs[0].Off) &^ 15 }},
}

// damagedSlab is a file with two free blocks, the link of the last of which is wrong, and two regions.
func damagedSlab(t *testing.T, open opener, link func(*slabs, []alloc.Region) uint64) (*slabs, []alloc.Region, int64) {
	t.Helper()
	w := newSlabs(t, open)
	rs := w.alloc(t, 20, 21, 22, 23)
	w.free(t, rs[0], rs[2])
	w.set(t, rs[0].Off, link(w, rs))
	return w, rs, rs[0].Off
}

// A Slab refuses all changes then. Reclaim repairs it.
func TestSlabDamagedList(t *testing.T) {
	for _, c := range badLinks {
		t.Run(c.name, func(t *testing.T) {
			w, rs, at := damagedSlab(t, openSlab, c.link)
			check(t, w.reopen(t))
			rs = []alloc.Region{{Off: rs[1].Off, Len: 21}, {Off: rs[3].Off, Len: 23}}
			w.untouched(t, "refused", func() {
				w.dirty(t, at)
				_, err := w.Layout()
				damage(t, err, at)
				_, err = w.Alloc(1)
				damage(t, err, at)
				damage(t, w.Free(rs[0]), at)
				damage(t, w.FreeBulk(rs), at)
				_, err = w.Realloc(rs[0], 1)
				damage(t, err, at)
				_, err = w.Resize(rs[0], 0, 1)
				damage(t, err, at)
				_, err = w.Reclaim([]alloc.Region{{Off: 49, Len: 1}})
				refused(t, "reclaiming", err, alloc.ErrNotAllocated)
				_, err = w.Alloc(1) // nothing has been forgotten
				damage(t, err, at)
			})
			n, err := w.Reclaim(rs)
			check(t, err)
			if n != 64 {
				t.Errorf("%d bytes were reclaimed", n)
			}
			w.clean(t)
			w.calls(t, 1, 48, 1, 48+64, 1, 48+128)
			w.holds(t, rs[0], rs[0].Off, 21)
			w.holds(t, rs[1], rs[1].Off, 23)
		})
	}
}

// It can be damaged behind the back of the allocator, too: that shows when the link is followed.
func TestSlabDamagedLater(t *testing.T) {
	for kind, open := range map[string]opener{"slab": openSlab, "checked": openChecked, "segregated": openSeg} {
		for _, c := range badLinks {
			t.Run(kind+", "+c.name, func(t *testing.T) {
				w, rs, _ := damagedSlab(t, open, c.link)
				var err error
				for i := 0; err == nil; i++ {
					if i == 3 {
						t.Fatal("nobody noticed")
					}
					w.untouchedIf(t, func() error {
						_, err = w.Alloc(20)
						return err
					})
				}
				damage(t, err, -1)
				check(t, second(w.Reclaim([]alloc.Region{rs[1], rs[3]})))
				w.clean(t)
				w.alloc(t, 20, 20, 20)
				w.holds(t, rs[1], rs[1].Off, 21)
				w.holds(t, rs[3], rs[3].Off, 23)
			})
		}
	}
}

// The marks tell what is free: a damaged list is made anew when the file is opened.
func TestSlabRepairedList(t *testing.T) {
	for _, open := range []opener{openChecked, openSeg} {
		for _, c := range badLinks {
			t.Run(c.name, func(t *testing.T) {
				w, rs, _ := damagedSlab(t, open, c.link)
				check(t, w.reopen(t))
				if len(w.Repaired()) != 1 {
					t.Errorf("repaired: %q", w.Repaired())
				}
				w.clean(t)
				w.holds(t, rs[1], rs[1].Off, 21)
				w.holds(t, rs[3], rs[3].Off, 23)
				end := w.Stack().Len()
				check(t, second(w.AllocBulk([]int64{20, 20})))
				w.length(t, end)
				check(t, w.reopen(t))
				if len(w.Repaired()) != 0 {
					t.Errorf("repaired again: %q", w.Repaired())
				}
			})
		}
	}
}

// A list that names a region is not believed.
func TestSlabListNamesRegion(t *testing.T) {
	for _, open := range []opener{openChecked, openSeg} {
		w := newSlabs(t, open)
		rs := w.alloc(t, 20, 21, 22)
		w.free(t, rs[0])
		w.set(t, rs[0].Off, uint64(rs[1].Off-8))
		w.dirty(t, rs[1].Off-8)
		check(t, w.reopen(t))
		w.clean(t)
		more := w.calls(t, 20, rs[0].Off)
		w.alloc(t, 20)
		w.holds(t, rs[1], rs[1].Off, 21)
		w.holds(t, more[0], 0, 0)
	}
}

// A crash of another program leaves free blocks that are on no list, and zeros at the end.
func unsoundFiles(t *testing.T) map[string]*slabs {
	t.Helper()
	files := map[string]*slabs{}
	for name, open := range map[string]opener{"checked": openChecked, "segregated": openSeg} {
		w := newSlabs(t, open)
		rs := w.alloc(t, 20, 21, 22, 23, 24)
		w.free(t, rs[1], rs[3])
		w.set(t, rs[3].Off, 0) // the first is not on the list any more
		files[name+", lost"] = w

		w = newSlabs(t, open)
		rs = w.alloc(t, 20, 21, 22)
		w.free(t, rs[1])
		check(t, second(w.Stack().Extend(64)))
		files[name+", extended"] = w

		w = newSlabs(t, open)
		rs = w.alloc(t, 20, 21, 22)
		w.free(t, rs[1])
		w.set(t, rs[1].Off, 3)
		files[name+", damaged"] = w
	}
	return files
}

func TestSlabRecovery(t *testing.T) {
	for name, w := range unsoundFiles(t) {
		t.Run(name, func(t *testing.T) {
			found := 0
			for err := range w.Check() {
				damage(t, err, -1)
				found++
			}
			check(t, w.reopen(t))
			if found != 1 || len(w.Repaired()) != 1 {
				t.Errorf("found %d errors, repaired %q", found, w.Repaired())
			}
			w.clean(t)
		})
	}
}

// The power is cut at each call of an opening that repairs.
func TestSlabRecoveryCrash(t *testing.T) {
	for name, w := range unsoundFiles(t) {
		t.Run(name, func(t *testing.T) {
			rest(t, w.Stack())
			base := w.disk.AfterCutKeeping(file.KeepAll)
			for call := 1; ; call++ {
				disk := base.Clone()
				disk.CutAt(call)
				again := &slabs{disk: disk, open: w.open}
				if err := again.start(disk); err == nil {
					check(t, again.Stack().Close())
				} else if !disk.IsCut() {
					t.Fatal(err)
				}
				fates(disk, 10, func(what string, left *file.Crash) {
					after := &slabs{disk: left, open: w.open}
					if err := after.start(left); err != nil {
						t.Fatalf("cut at call %d, %s: %v", call, what, err)
					}
					after.clean(t)
					after.alloc(t, 1, 1, 1, 1, 1)
					for off, n := range map[int64]int64{0: 20, 64: 22} {
						r := alloc.Region{Off: after.first() + off, Len: n}
						after.holds(t, r, r.Off, n)
					}
					check(t, after.Stack().Close())
				})
				if !disk.IsCut() {
					return
				}
			}
		})
	}
}

// first is where the first region lies.
func (w *slabs) first() int64 {
	if _, ok := w.Allocator.(*alloc.Segregated); ok {
		return 304 + 8
	}
	return 48 + 8
}

// Marks that make no sense: nothing is taken for free that may be a region's, and what is on the lists can be used.
func TestSlabUnknownMarks(t *testing.T) {
	for _, open := range []opener{openChecked, openSeg} {
		for _, mark := range []uint64{1 << 63, 1<<63 | 1<<40, 1<<64 - 1, 3 << 40, 1<<63 | 20} {
			t.Run(fmt.Sprintf("%#x", mark), func(t *testing.T) {
				w := newSlabs(t, open)
				rs := w.alloc(t, 20, 21, 22, 23, 24)
				w.free(t, rs[3])
				w.set(t, rs[1].Off-8, mark)
				check(t, w.reopen(t))
				w.untouched(t, "looking", func() {
					w.dirty(t, rs[1].Off-8)
					refused(t, "freeing", w.Free(alloc.RegionFrom(rs[1].Bytes())), alloc.ErrNotAllocated)
				})
				w.calls(t, 20, rs[3].Off)
				w.alloc(t, 20)
				for i, r := range []int64{20, 21, 22} {
					w.holds(t, rs[i], rs[i].Off, r)
				}
				n, err := w.Reclaim([]alloc.Region{{Off: rs[0].Off, Len: 20}, {Off: rs[4].Off, Len: 24}})
				check(t, err)
				if n != 4*32 {
					t.Errorf("%d bytes were reclaimed", n)
				}
				w.clean(t)
				check(t, w.reopen(t))
				w.clean(t)
			})
		}
	}
}

// A mark that claims a free block is not believed.
func TestSlabMarkOverFreeBlock(t *testing.T) {
	for units, open := range map[uint64]opener{3: openChecked, 6: openSeg} {
		w := newSlabs(t, open)
		rs := w.alloc(t, 20, 21, 22, 23)
		w.free(t, rs[2])
		w.set(t, rs[0].Off-8, 1<<63|units)
		check(t, w.reopen(t))
		w.dirty(t, rs[0].Off-8)
		w.calls(t, 20, rs[2].Off)
		w.holds(t, rs[3], rs[3].Off, 23)
	}
}

// What looks free and is on no list may be a region's when other marks make no sense. Reclaim knows.
func TestSlabLostAmongUnknown(t *testing.T) {
	for _, open := range []opener{openChecked, openSeg} {
		w := newSlabs(t, open)
		rs := w.alloc(t, 20, 21, 22)
		w.set(t, rs[1].Off-8, 1<<64-1)
		w.set(t, rs[0].Off-8, w.word(t, rs[0].Off-8)&^(1<<63|1)) // 0 blocks, 2 units
		check(t, w.reopen(t))
		w.untouched(t, "looking", func() {
			n := 0
			for err := range w.Check() {
				damage(t, err, -1)
				n++
			}
			if n != 2 {
				t.Errorf("%d errors", n)
			}
		})
		w.calls(t, 20, rs[2].Off+32)
		w.holds(t, rs[0], rs[0].Off, 20)
		n, err := w.Reclaim([]alloc.Region{{Off: rs[2].Off, Len: 22}})
		check(t, err)
		w.clean(t)
		if n != 3*32 {
			t.Errorf("%d bytes were reclaimed", n)
		}
	}
}

// Both the marks and the list are damaged: the file does not open, and stays as it is.
func TestSlabDamagedTwice(t *testing.T) {
	for _, open := range []opener{openChecked, openSeg} {
		w := newSlabs(t, open)
		rs := w.alloc(t, 20, 21, 22)
		w.free(t, rs[1])
		w.set(t, rs[0].Off-8, 1<<64-1)
		w.set(t, rs[1].Off, 1)
		w.untouched(t, "opening", func() { damage(t, w.reopen(t), rs[1].Off) })
	}
}

// Every byte of a small file is changed, in two ways. Whatever comes of it, nothing panics or goes on for ever; and
// if nothing is reported, then what is given out next is no part of a region.
func TestSlabFlips(t *testing.T) {
	for name, open := range map[string]opener{"slab": openSlab, "checked": openChecked, "segregated": openSeg} {
		t.Run(name, func(t *testing.T) {
			w := newSlabs(t, open)
			rs := w.alloc(t, 20, 40, 22, 23, 100, 24)
			w.free(t, rs[1], rs[3])
			live := []alloc.Region{rs[0], rs[2], rs[4], rs[5]}
			payload, err := w.Stack().Peek(0)
			check(t, err)
			for i := range payload {
				for _, by := range []byte{1, 0xFF} {
					payload[i] ^= by
					what := fmt.Sprintf("byte %d changed by %#x", i, by)
					flipped(t, what, diskOf(t, payload), open, live)
					payload[i] ^= by
				}
			}
		})
	}
}

func flipped(t *testing.T, what string, disk *file.Crash, open opener, live []alloc.Region) {
	t.Helper()
	w := &slabs{disk: disk, open: open}
	if err := w.start(disk); err != nil {
		if _, ok := errors.AsType[*stack.CorruptError](err); !ok && !errors.Is(err, alloc.ErrFormat) {
			t.Fatalf("%s: %v", what, err)
		}
		return
	}
	defer func() { check(t, w.Stack().Close()) }()
	sound := len(slices.Collect(w.Check())) == 0
	_, err := w.Layout()
	if sound {
		check(t, err)
	}
	for _, n := range []int64{20, 40, 20, 100, 20} {
		r, err := w.Alloc(n)
		if err != nil {
			damage(t, err, -1)
			continue
		}
		for _, l := range live {
			if r.Off < l.End() && l.Off < r.End() && w.marked() {
				t.Fatalf("%s: %v was given out, which overlaps %v", what, r, l)
			}
		}
	}
	for _, l := range live {
		_ = w.Free(alloc.RegionFrom(l.Bytes())) // whatever it says
	}
	if _, err := w.Reclaim(nil); err == nil {
		w.clean(t)
	}
}

// marked says whether blocks have marks. Without them a link to a region looks like one to a free block.
func (w *slabs) marked() bool { _, ok := w.Allocator.(*alloc.Slab); return !ok }
