// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"testing"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

const segInUse = uint64(1) << 63

func TestSegregatedOpen(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p []byte) []byte
		want   error // nil for damage, if off is set
		off    int64
	}{
		{"as it is", func(p []byte) []byte { return p }, nil, 0},
		{"a later patch of the magic", func(p []byte) []byte { p[30] = 9; return p }, nil, 0},
		{"the first version", func(p []byte) []byte { p[29] = 1; return p }, alloc.ErrFormat, 0},
		{"short", func(p []byte) []byte { return p[:303] }, alloc.ErrFormat, 0},
		{"half a block", func(p []byte) []byte { return append(p, 1) }, nil, 304},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := make([]byte, 304)
			copy(p[24:], "ALSG\x00\x02")
			w := &slabs{disk: diskOf(t, c.change(p)), open: openSeg}
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

// What the reference implementation does with the same calls, as observed: at the end of the file.
func TestSegregatedResizing(t *testing.T) {
	w := newSlabs(t, openSeg)
	a := w.alloc(t, 4000)[0]
	for _, c := range []struct{ n, block, length int64 }{
		{3700, 256, 4400}, // still needs a block of 4096 bytes
		{100, 7, 416},     // cut
		{240, 16, 560},
		{90, 16, 560},     // a surplus below 256 stays
		{5000, 313, 5312}, // grown
		{5100, 320, 5424},
		{2100, 160, 2864},
	} {
		kept := min(a.Len, c.n)
		w.fill(t, a)
		var err error
		if c.n == 5100 || c.n == 2100 {
			a, err = w.Resize(a, 0, c.n-a.Len)
		} else {
			a, err = w.Realloc(a, c.n)
		}
		at(t, a, err, 312, c.n)
		w.length(t, c.length)
		if mark := w.word(t, 304); mark != segInUse|uint64(c.block) {
			t.Fatalf("%d bytes: the mark is %#x, want %d", c.n, mark, c.block)
		}
		w.holds(t, a, 312, kept)
		w.clean(t)
	}
	_, err := w.Resize(a, 16, 0)
	refused(t, "moving the start", err, alloc.ErrUnsupported)
	_, err = w.Resize(a, -16, 0)
	refused(t, "moving the start", err, alloc.ErrUnsupported)
}

// The same, inside the file: what is given back becomes blocks of the sizes there are lists for.
func TestSegregatedCarving(t *testing.T) {
	w := newSlabs(t, openSeg)
	rs := w.alloc(t, 4000, 1)
	a, err := w.Realloc(rs[0], 100)
	at(t, a, err, 312, 100)
	for off, want := range map[int64]uint64{
		304: segInUse | 7, 416: 224, 4000: 24, 4384: 1, 40: 4384, 176: 4000, 280: 416,
	} {
		if got := w.word(t, off); got != want {
			t.Errorf("at %d: %#x, want %#x", off, got, want)
		}
	}
	a, err = w.Realloc(a, 105) // does not fit any more
	w.holds(t, at(t, a, err, 4424, 105), 312, 100)
	_, err = w.Resize(rs[1], 0, 100)
	refused(t, "no room", err, alloc.ErrUnsupported)
	a, err = w.Realloc(a, 3000)
	w.holds(t, at(t, a, err, 4424, 3000), 312, 100)
	w.calls(t, 3500, 424, 100, 312, 370, 4008)
	w.clean(t)
	check(t, w.reopen(t))
	w.clean(t)
}

// A long block is taken from the first free one that is long enough, with a surplus below 256.
func TestSegregatedLarge(t *testing.T) {
	w := newSlabs(t, openSeg)
	rs := w.calls(t, 6000, 312, 1, 6328, 5000, 6344, 1, 11352)
	w.free(t, rs[0], rs[2]) // of 6016 and 5008 bytes; the second is the first on the list
	more := w.calls(t, 5001, 312, 4900, 6344)
	if mark := w.word(t, 6336); mark != segInUse|313 {
		t.Errorf("the mark is %#x: the surplus should stay", mark)
	}
	r, err := w.Realloc(more[1], 5000)
	at(t, r, err, 6344, 5000)
	w.clean(t)
}

// A block of a length that there is no list for, which only others leave, never loses bytes.
func TestSegregatedOddBlocks(t *testing.T) {
	w := newSlabs(t, openSeg)
	rs := w.alloc(t, 376, 1) // 384 bytes
	w.set(t, 304, segInUse|21)
	w.set(t, 304+336, segInUse|3)
	w.clean(t)
	w.free(t, alloc.Region{Off: rs[0].Off, Len: 300})
	for off, want := range map[int64]uint64{304: 20, 624: 1} {
		if got := w.word(t, off); got != want {
			t.Errorf("at %d: %#x, want %#x", off, got, want)
		}
	}
	w.clean(t)

	w.set(t, 304, 21) // a free one
	w.dirty(t, 304)
	check(t, w.reopen(t))
	w.clean(t)
	if w.word(t, 304) != 20 || len(w.Repaired()) != 1 {
		t.Errorf("the mark is %#x, repaired %q", w.word(t, 304), w.Repaired())
	}
}

// Reclaim merges what becomes free, and cuts it off at the end.
func TestSegregatedReclaim(t *testing.T) {
	w := newSlabs(t, openSeg)
	rs := w.alloc(t, 20, 21, 300, 3000, 22, 5000, 23)
	w.free(t, rs[1])
	_, err := w.Reclaim([]alloc.Region{rs[1]})
	refused(t, "a free region", err, alloc.ErrNotAllocated)
	_, err = w.Reclaim([]alloc.Region{{Off: rs[0].Off + 16, Len: 1}})
	refused(t, "no region", err, alloc.ErrNotAllocated)

	n, err := w.Reclaim([]alloc.Region{rs[0], rs[4], rs[5], rs[6]})
	check(t, err)
	if n != 320+3072 {
		t.Errorf("%d bytes were reclaimed", n)
	}
	w.clean(t)
	spans, err := w.Layout()
	check(t, err)
	if len(spans) != 2+4+1+2 { // 3392 bytes are blocks of 3072 and 320
		t.Errorf("layout %v", spans)
	}
	n, err = w.Reclaim([]alloc.Region{rs[0], rs[4]})
	check(t, err)
	if n != 5008+32 || w.Stack().Len() != rs[5].Off-8 {
		t.Errorf("%d bytes were reclaimed, %d are left", n, w.Stack().Len())
	}
	w.clean(t)
	w.holds(t, rs[0], rs[0].Off, 20)
	w.holds(t, rs[4], rs[4].Off, 22)
}

// Zeros that another program's crash left at the end are cut off.
func TestSegregatedBlankEnd(t *testing.T) {
	w := newSlabs(t, openSeg)
	r := w.alloc(t, 20)[0]
	end := w.Stack().Len()
	check(t, second(w.Stack().Extend(200<<10)))
	w.dirty(t, end)
	check(t, w.reopen(t))
	w.length(t, end)
	w.clean(t)
	check(t, second(w.Stack().Extend(64)))
	w.set(t, end+56, 1) // and this is something else
	check(t, w.reopen(t))
	w.length(t, end+64)
	w.dirty(t, end)
	w.holds(t, r, r.Off, 20)
}

// Reclaim of a Slab: it frees what is not live, and cuts it off if that is all there is to do.
func TestSlabReclaim(t *testing.T) {
	for _, open := range []opener{openSlab, openChecked} {
		w := newSlabs(t, open)
		rs := w.alloc(t, 20, 100, 21, 22, 60)
		size := func(r alloc.Region) int64 { return (r.Len + rs[0].Off - 48 + 31) / 32 * 32 }
		w.free(t, rs[2])
		for _, r := range []alloc.Region{rs[2], {Off: rs[0].Off + 1, Len: 1}} {
			w.untouched(t, "refused", func() {
				_, err := w.Reclaim([]alloc.Region{rs[0], r})
				refused(t, "no region", err, alloc.ErrNotAllocated)
			})
		}
		for _, c := range []struct {
			live    []alloc.Region
			n, left int64
		}{
			{[]alloc.Region{rs[0], rs[3], rs[4]}, size(rs[1]), rs[4].Off + size(rs[4])},
			{[]alloc.Region{rs[0], rs[3], rs[4]}, 0, rs[4].Off + size(rs[4])},
			{[]alloc.Region{rs[0], rs[3]}, size(rs[4]), rs[4].Off},
			{nil, 64, rs[4].Off},
		} {
			n, err := w.Reclaim(c.live)
			check(t, err)
			w.clean(t)
			w.length(t, c.left-(rs[0].Off-48))
			stats, err := w.Stats()
			check(t, err)
			used := int64(0)
			for _, r := range c.live {
				used += size(r)
				w.holds(t, r, r.Off, r.Len)
			}
			if stats.Used != used || n != c.n {
				t.Errorf("%d live: used %d, want %d; reclaimed %d, want %d", len(c.live), stats.Used, used, n, c.n)
			}
		}
	}
}

// Opening a file that is sound writes nothing, also if it may not.
func TestSlabReadOnly(t *testing.T) {
	for _, open := range []opener{openSlab, openChecked, openSeg} {
		w := newSlabs(t, open)
		rs := w.alloc(t, 20, 21)
		w.free(t, rs[0])
		check(t, w.Stack().Close())
		s, err := stack.Open(name, &stack.Options{FS: w.disk, ReadOnly: true})
		check(t, err)
		a, err := open(s)
		check(t, err)
		for err := range a.Check() {
			t.Error(err)
		}
		got, err := a.View(alloc.Region{Off: rs[1].Off, Len: 21}).Bytes()
		check(t, err)
		same(t, "region", got, text(21, byte(rs[1].Off/8)))
		refused(t, "freeing", a.Free(alloc.Region{Off: rs[1].Off, Len: 21}), stack.ErrReadOnly)
		check(t, s.Close())
		check(t, w.start(w.disk))
	}
}

// The list of long blocks is searched, but not for ever.
func TestSegregatedCircle(t *testing.T) {
	w := newSlabs(t, openSeg)
	rs := w.alloc(t, 5000, 1, 6000, 1)
	w.free(t, rs[0], rs[2])
	w.set(t, rs[0].Off, uint64(rs[2].Off-8))
	w.untouched(t, "refused", func() {
		_, err := w.Alloc(7000)
		damage(t, err, -1)
	})
	check(t, w.reopen(t))
	w.clean(t)
	w.calls(t, 7000, rs[3].Off+16)
}

// Reclaim believes the mark of a live region, even if that claims a block on a list.
func TestSegregatedReclaimOverFreeBlock(t *testing.T) {
	w := newSlabs(t, openSeg)
	rs := w.alloc(t, 20, 21, 22, 23)
	w.free(t, rs[2])
	w.set(t, rs[0].Off-8, segInUse|6)
	n, err := w.Reclaim([]alloc.Region{rs[0], rs[3]})
	check(t, err)
	w.clean(t)
	if n != 0 {
		t.Errorf("%d bytes were reclaimed", n)
	}
	w.calls(t, 20, rs[3].Off+32)
}
