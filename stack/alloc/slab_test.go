// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"fmt"
	"testing"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

func TestSlabOpen(t *testing.T) {
	for _, c := range []struct {
		name    string
		payload func(p []byte) []byte
		size    int64
		want    error // nil for damage, if off is set
		off     int64
	}{
		{"empty, without a size", func([]byte) []byte { return nil }, 0, alloc.ErrRange, 0},
		{"empty, with a small size", func([]byte) []byte { return nil }, 7, alloc.ErrRange, 0},
		{"empty, with a huge size", func([]byte) []byte { return nil }, 1 << 40, alloc.ErrRange, 0},
		{"empty, with a negative size", func([]byte) []byte { return nil }, -8, alloc.ErrRange, 0},
		{"with the size it has", func(p []byte) []byte { return p }, 24, nil, 0},
		{"without a size", func(p []byte) []byte { return p }, 0, nil, 0},
		{"with another size", func(p []byte) []byte { return p }, 32, alloc.ErrFormat, 0},
		{"a later patch of the magic", func(p []byte) []byte { p[30] = 9; return p }, 0, nil, 0},
		{"another magic", func(p []byte) []byte { p[29] = 9; return p }, 0, alloc.ErrFormat, 0},
		{"short", func(p []byte) []byte { return p[:47] }, 0, alloc.ErrFormat, 0},
		{"a wild size", func(p []byte) []byte { p[39] = 0x80; return p }, 0, nil, 32},
		{"a size of zero", func(p []byte) []byte { p[32] = 0; return p }, 0, nil, 32},
		{"half a block", func(p []byte) []byte { return append(p, 1) }, 0, nil, 48},
	} {
		for _, kind := range []struct {
			magic string
			mark  int64
			open  opener
		}{
			{"ALSL", 0, as(func(s *stack.Stack) (*alloc.Slab, error) { return alloc.OpenSlab(s, c.size) })},
			{"ALCK", 8, as(func(s *stack.Stack) (*alloc.CheckedSlab, error) { return alloc.OpenCheckedSlab(s, c.size) })},
		} {
			t.Run(c.name+" "+kind.magic, func(t *testing.T) {
				p := make([]byte, 48)
				copy(p[24:], kind.magic+"\x00\x01")
				le.PutUint64(p[32:], uint64(24+kind.mark))
				w := &slabs{disk: diskOf(t, c.payload(p)), open: kind.open}
				was := raw(t, w.disk)
				err := w.start(w.disk)
				switch {
				case c.off != 0:
					damage(t, err, c.off)
				case c.want != nil:
					refused(t, "opening", err, c.want)
				default:
					check(t, err)
					check(t, w.Stack().Close())
				}
				same(t, "the file", raw(t, w.disk), was)
			})
		}
	}
}

// Regions stay where they are as long as that is possible. What they win is zero, and what they lose is used again.
func TestSlabResizing(t *testing.T) {
	for _, c := range []struct {
		name string
		open opener
		mark int64
	}{{"slab", openSlab, 0}, {"checked slab", openChecked, 8}} {
		t.Run(c.name, func(t *testing.T) {
			w, first := newSlabs(t, c.open), 48+c.mark
			data := 32 - c.mark
			rs := w.alloc(t, data)
			a := at(t, rs[0], nil, first, data)
			a, err := w.Realloc(a, 5)
			check(t, err)
			w.length(t, 48+32)
			a, err = w.Realloc(at(t, a, err, first, 5), 20) // in the block, with bytes of old
			w.holds(t, at(t, a, err, first, 20), first, 5)
			a, err = w.Resize(a, 0, -18)
			check(t, err)
			a, err = w.Realloc(at(t, a, err, first, 2), 70+data) // at the end of the file
			w.holds(t, at(t, a, err, first, 70+data), first, 2)
			w.length(t, 48+4*32)
			a, err = w.Realloc(a, data+32) // back
			w.holds(t, at(t, a, err, first, data+32), first, 2)
			w.length(t, 48+2*32)

			w.fill(t, a)
			rs = w.alloc(t, 1)
			at(t, rs[0], nil, first+2*32, 1)
			_, err = w.Resize(a, 0, 1)
			refused(t, "no room", err, alloc.ErrUnsupported)
			a, err = w.Realloc(a, data+33) // elsewhere
			w.holds(t, at(t, a, err, first+3*32, data+33), first, data+32)
			w.calls(t, 1, first, 1, first+32, 1, first+6*32)
			a, err = w.Realloc(a, 7) // gives two blocks back
			w.holds(t, at(t, a, err, first+3*32, 7), first, 7)
			w.calls(t, 1, first+4*32, 1, first+5*32, 1, first+7*32)
			w.clean(t)
		})
	}
}

// The start of a region can be moved by whole blocks.
func TestSlabResizeFront(t *testing.T) {
	for _, c := range []struct {
		name string
		open opener
		mark int64
	}{{"slab", openSlab, 0}, {"checked slab", openChecked, 8}} {
		t.Run(c.name, func(t *testing.T) {
			w, first := newSlabs(t, c.open), 48+c.mark
			a := w.alloc(t, 5*32-c.mark)[0]
			for _, by := range []int64{-1, -31, 32, 1} {
				_, err := w.Resize(a, by, 0)
				refused(t, fmt.Sprint("by ", by), err, alloc.ErrUnsupported)
			}
			before, err := w.View(a).Bytes()
			check(t, err)
			a, err = w.Resize(a, -32, 40) // and grows at the end
			a = at(t, a, err, first+32, 4*32-c.mark+40)
			got, err := w.View(a).Bytes()
			check(t, err)
			same(t, "bytes", got, append(before[32:], make([]byte, 40)...))
			w.calls(t, 1, first, 1, first+7*32)
			a, err = w.Resize(a, -64, -70) // both ends
			a = at(t, a, err, first+3*32, 34-c.mark)
			got, err = w.View(a).Bytes()
			check(t, err)
			same(t, "bytes", got, before[3*32:][:34-c.mark])
			w.clean(t)
			w.calls(t, 1, first+32, 1, first+2*32)
			w.free(t, a)
			check(t, w.reopen(t))
			w.clean(t)
		})
	}
}

// What is freed at the end of the file is given back, and nothing is written for it.
func TestSlabTail(t *testing.T) {
	for _, open := range []opener{openSlab, openChecked, openSeg} {
		w := newSlabs(t, open)
		empty := w.Stack().Len()
		rs := w.alloc(t, 10, 100, 3, 70, 20)
		rest(t, w.Stack())
		was := w.disk.Counts()
		w.free(t, rs[4], rs[3])
		check(t, w.FreeBulk([]alloc.Region{rs[1], rs[2], rs[0]}))
		w.length(t, empty)
		if n := w.disk.Counts(); n.DataSyncs-was.DataSyncs != 3 || n.Writes-was.Writes != 3 {
			t.Errorf("%d syncs, %d writes", n.DataSyncs-was.DataSyncs, n.Writes-was.Writes)
		}
		w.clean(t)

		// A large region is not copied to cut something off behind it.
		big := w.alloc(t, 100<<10)[0]
		rest(t, w.Stack())
		wrote := w.disk.Counts().WriteBytes
		big, err := w.Realloc(big, 99<<10)
		check(t, err)
		rest(t, w.Stack())
		if n := w.disk.Counts().WriteBytes - wrote; n > 4<<10 {
			t.Errorf("wrote %d bytes", n)
		}
		w.holds(t, big, big.Off, 99<<10)
		w.clean(t)
	}
}

// Issues of allocators of this kind: a block freed twice, or written to after it was freed; in bulk, too.
func TestSlabFreedTwice(t *testing.T) {
	for _, open := range []opener{openSlab, openChecked} {
		w := newSlabs(t, open)
		rs := w.alloc(t, 10, 100, 20)
		w.free(t, rs[0], rs[1])
		for range 2 { // the second time the list has not been read
			w.untouched(t, "refused", func() {
				first, last := alloc.RegionFrom(rs[0].Bytes()), alloc.RegionFrom(rs[2].Bytes())
				inner := alloc.Region{Off: rs[1].Off + 32, Len: 5}
				for _, r := range []alloc.Region{first, inner, {Off: rs[1].Off, Len: 100}, {Off: last.Off - 32, Len: 50}} {
					refused(t, "freeing", w.Free(r), alloc.ErrNotAllocated)
					refused(t, "freeing in bulk", w.FreeBulk([]alloc.Region{r}), alloc.ErrNotAllocated)
					refused(t, "freeing with another", w.FreeBulk([]alloc.Region{first, last}), alloc.ErrNotAllocated)
					_, err := w.View(r).WriteAt([]byte{1}, 0)
					refused(t, "writing", err, alloc.ErrNotAllocated)
				}
			})
			check(t, w.reopen(t))
		}
		w.clean(t)
	}
}

// More is asked for in bulk than is on the list: what remains comes from the end of the file.
func TestSlabBulkRemainder(t *testing.T) {
	for _, open := range []opener{openSlab, openChecked, openSeg} {
		w := newSlabs(t, open)
		base := w.Stack().Len()
		rs := w.alloc(t, 20, 20, 20)
		w.free(t, rs[0], rs[1])
		all, err := w.AllocBulk([]int64{20, 0, 20, 100, 20, 5})
		check(t, err)
		for i, want := range []int64{1, -1, 0, 3} {
			if want < 0 {
				if !all[i].IsEmpty() {
					t.Errorf("%d: %v", i, all[i])
				}
				continue
			}
			if got := (all[i].Off - base) / 32; got != want {
				t.Errorf("%d: %v, block %d, want %d", i, all[i], got, want)
			}
			w.holds(t, all[i], 0, 0)
		}
		w.clean(t)
		check(t, w.FreeBulk(append(all, rs[2])))
		w.length(t, base)
	}
}

// No number in a file or of a caller makes the file grow that much.
func TestSlabWildLengths(t *testing.T) {
	for _, open := range []opener{openSlab, openChecked, openSeg} {
		w := newSlabs(t, open)
		r := w.alloc(t, 10, 20)[0]
		w.untouched(t, "refused", func() {
			for _, n := range []int64{-1, 1<<63 - 1<<40, 1<<63 - 1} {
				if _, err := w.Alloc(n); err == nil {
					t.Errorf("allocated %d bytes", n)
				}
				if _, err := w.Realloc(r, n); err == nil {
					t.Errorf("reallocated to %d bytes", n)
				}
				refused(t, "freeing", w.Free(alloc.Region{Off: r.Off, Len: n}), alloc.ErrRange)
				if _, err := w.AllocBulk([]int64{1, n, n}); err == nil {
					t.Errorf("allocated %d bytes twice", n)
				}
			}
		})
		w.clean(t)
	}
}
