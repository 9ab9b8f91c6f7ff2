// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// The example of the format's description: what each call returns, and every byte of the payload.
func TestFirstFitGolden(t *testing.T) {
	disk := file.NewMemory()
	a, err := ffOpen(disk)
	check(t, err)
	alloc := func(n, off int64) alloc.Region {
		r, err := a.Alloc(n)
		if err != nil || r.Off != off || r.Len != n {
			t.Fatalf("Alloc(%d) = %v, %v; want it at %d", n, r, err, off)
		}
		return r
	}
	first := alloc(100, 64)
	alloc(5, 192)
	check(t, a.Free(first))
	alloc(17, 144)
	want := make([]byte, 216)
	copy(want[16:], "ALFF\x00\x01\x04\x00")
	for off, word := range map[int]uint64{
		32: 64, 48: 56, 56: 1, 120: 56, 128: 24, 168: 24, 176: 16, 208: 16,
	} {
		ffOrder.PutUint64(want[off:], word)
	}
	got, err := a.Stack().Peek(0)
	check(t, err)
	same(t, "payload", got, want)
	ffClean(t, "golden", a)
	check(t, a.Stack().Close())
}

// ffCase is an operation on a block of a state, and what comes of it.
type ffCase struct {
	name   string
	before string
	run    func(a *alloc.FirstFit, r alloc.Region) (alloc.Region, error)
	block  int // whose region is given to run
	after  string
	at     int // the block of the result; -1 if there is none
}

func ffAlloc(n int64) func(*alloc.FirstFit, alloc.Region) (alloc.Region, error) {
	return func(a *alloc.FirstFit, _ alloc.Region) (alloc.Region, error) { return a.Alloc(n) }
}

// ffRealloc takes the region for one of was bytes.
func ffRealloc(was, n int64) func(*alloc.FirstFit, alloc.Region) (alloc.Region, error) {
	return func(a *alloc.FirstFit, r alloc.Region) (alloc.Region, error) {
		r.Len = was
		return a.Realloc(r, n)
	}
}

func ffResize(was, before, after int64) func(*alloc.FirstFit, alloc.Region) (alloc.Region, error) {
	return func(a *alloc.FirstFit, r alloc.Region) (alloc.Region, error) {
		r.Len = was
		return a.Resize(r, before, after)
	}
}

func ffFree(a *alloc.FirstFit, r alloc.Region) (alloc.Region, error) {
	return alloc.Region{}, a.Free(r)
}

func ffFreeAll(blocks ...int) func(*alloc.FirstFit, alloc.Region) (alloc.Region, error) {
	return func(a *alloc.FirstFit, _ alloc.Region) (alloc.Region, error) {
		p, err := a.Stack().Peek(0)
		if err != nil {
			return alloc.Region{}, err
		}
		var rs []alloc.Region
		for _, i := range blocks {
			rs = append(rs, ffRegion(p, i))
		}
		return alloc.Region{}, a.FreeBulk(rs)
	}
}

// ffCases have every branch of the policies.
var ffCases = []ffCase{
	{"alloc in an empty file", "", ffAlloc(1), -1, "16", 0},
	{"alloc at the end", "16", ffAlloc(17), -1, "16 24", 1},
	{"alloc that fits nowhere", "16 -32 16 -24 16 /1 3", ffAlloc(33), -1, "16 -32 16 -24 16 40 /1 3", 5},
	{"alloc takes the first that fits", "-32 16 -64 16 -48 16 /2 4 0", ffAlloc(30), -1, "-32 16 64 16 -48 16 /4 0", 2},
	{"alloc of the last in the list", "-32 16 -64 16 -16 16 /4 0 2", ffAlloc(64), -1, "-32 16 64 16 -16 16 /4 0", 2},
	{"alloc of the middle of the list", "-32 16 -64 16 -16 16 /4 2 0", ffAlloc(64), -1, "-32 16 64 16 -16 16 /4 0", 2},
	{"alloc of the only free block", "-40 16 /0", ffAlloc(40), -1, "40 16", 0},
	{"alloc of a block too small to be split", "-72 16 /0", ffAlloc(33), -1, "72 16", 0},
	{"alloc of the back of the smallest block to be split", "-80 16 /0", ffAlloc(33), -1, "-16 40 16 /0", 1},
	{
		"alloc of the back of a block inside the list",
		"-16 16 -96 16 -16 16 /0 2 4",
		ffAlloc(20),
		-1,
		"-16 16 -48 24 16 -16 16 /0 2 5",
		3,
	},

	{"free of the only block", "16", ffFree, 0, "", -1},
	{"free at the end", "16 24", ffFree, 1, "16", -1},
	{"free at the end, behind a free block", "16 -24 32 /1", ffFree, 2, "16", -1},
	{
		"free at the end, behind a free block inside the list",
		"-16 16 -24 16 -24 16 /0 4 2",
		ffFree,
		5,
		"-16 16 -24 16 /0 2",
		-1,
	},
	{"free of the last block there is", "-16 24 /0", ffFree, 1, "", -1},
	{"free", "16 24 32", ffFree, 1, "16 -24 32 /1", -1},
	{"free in front of others in the list", "-16 24 32 16 /0", ffFree, 2, "-16 24 -32 16 /2 0", -1},
	{"free before a free block", "16 24 -32 16 /2", ffFree, 1, "16 -80 16 /1", -1},
	{"free behind a free block", "16 -24 32 16 /1", ffFree, 2, "16 -80 16 /1", -1},
	{"free between free blocks", "16 -24 32 -16 16 /1 3", ffFree, 2, "16 -120 16 /1", -1},
	{
		"free between free blocks, in another order",
		"-16 16 -24 32 -16 16 -16 16 /0 4 6 2",
		ffFree,
		3,
		"-16 16 -120 16 -16 16 /2 0 4",
		-1,
	},
	{"free in bulk", "16 24 32 40 48", ffFreeAll(1, 3), -1, "16 -24 32 -40 48 /1 3", -1},
	{"free in bulk, up to the end", "16 24 32 40 48", ffFreeAll(3, 0, 4), -1, "-16 24 32 /0", -1},
	{"free in bulk, everything", "16 24 -32 40 48 /2", ffFreeAll(0, 1, 3, 4), -1, "", -1},

	{"realloc to the same size", "24 16", ffRealloc(17, 24), 0, "24 16", 0},
	{"realloc to less", "64 16", ffRealloc(64, 1), 0, "64 16", 0},
	{"realloc to less at the end", "16 64", ffRealloc(64, 17), 1, "16 64", 1},
	{"realloc within a larger block", "64 16", ffRealloc(1, 60), 0, "64 16", 0},
	{"realloc within a larger block at the end", "16 64", ffRealloc(1, 60), 1, "16 64", 1},
	{"realloc at the end", "16 24", ffRealloc(20, 41), 1, "16 48", 1},
	{"realloc at the end, though others fit", "-64 24 /0", ffRealloc(20, 41), 1, "-64 48 /0", 1},
	{"realloc over the next block", "24 -32 16 /1", ffRealloc(24, 74), 0, "80 16", 0},
	{"realloc over the next block, which is not to be split", "24 -32 16 /1", ffRealloc(24, 41), 0, "80 16", 0},
	{"realloc over a part of the next block", "24 -56 16 -16 16 /3 1", ffRealloc(24, 40), 0, "40 -40 16 -16 16 /1 3", 0},
	{"realloc over the smallest part", "24 -32 16 /1", ffRealloc(20, 32), 0, "32 -24 16 /1", 0},
	{"realloc over the next block, of which little is left", "24 -16 16 /1", ffRealloc(24, 26), 0, "64 16", 0},
	{"realloc over a part of a free block at the end", "24 -200 /1", ffRealloc(24, 40), 0, "40", 0},
	{"realloc into a free block", "24 16 -40 16 /2", ffRealloc(24, 40), 0, "-24 16 40 16 /0", 2},
	{"realloc into the back of a free block", "24 16 -104 16 /2", ffRealloc(24, 40), 0, "-24 16 -40 40 16 /0 2", 3},
	{"realloc into the free block before", "-104 24 16 /0", ffRealloc(24, 40), 1, "-40 40 -24 16 /2 0", 1},
	{"realloc into the whole free block before", "-40 24 16 /0", ffRealloc(24, 40), 1, "40 -24 16 /1", 0},
	{"realloc that fits nowhere", "24 16 -32 16 /2", ffRealloc(24, 48), 0, "-24 16 -32 16 48 /0 2", 4},
	{"realloc though the next block is free", "24 -16 -16 16 /1 2", ffRealloc(24, 100), 0, "-64 -16 16 104 /0 1", 3},

	{"resize to less", "64 16", ffResize(64, 0, -60), 0, "64 16", 0},
	{"resize within the block", "64 16", ffResize(10, 0, 54), 0, "64 16", 0},
	{"resize over the next block", "24 -56 16 /1", ffResize(24, 0, 16), 0, "40 -40 16 /1", 0},
	{"resize at the end", "24", ffResize(24, 0, 1), 0, "32", 0},
	{"resize, cutting the front", "64 16", ffResize(60, -40, 0), 0, "-16 24 16 /0", 1},
	{"resize, cutting both", "64 16", ffResize(60, -48, -10), 0, "-24 16 16 /0", 1},
	{"resize, cutting the front behind a free block", "-16 64 16 /0", ffResize(64, -40, 0), 1, "-56 24 16 /0", 1},
	{
		"resize over the end of the block before",
		"-16 16 -40 16 16 /0 2",
		ffResize(10, 24, 0),
		3,
		"-16 16 -16 40 16 /0 2",
		3,
	},
	{"resize over all of the block before", "-40 16 16 /0", ffResize(16, 64, 0), 1, "80 16", 0},
	{"resize over both blocks", "-40 16 -64 16 /2 0", ffResize(16, 24, 16), 1, "-16 56 -48 16 /2 0", 1},
	{"resize over both blocks whole", "-40 16 -16 16 /0 2", ffResize(16, 64, 40), 1, "120 16", 0},
}

// do carries a case out.
func (c *ffCase) do(a *alloc.FirstFit) (alloc.Region, error) {
	var r alloc.Region
	if c.block >= 0 {
		p, err := a.Stack().Peek(0)
		if err != nil {
			return r, err
		}
		r = ffRegion(p, c.block)
	}
	return c.run(a, r)
}

// tidy says whether a case begins with a state that this package would leave.
func (c *ffCase) tidy() bool {
	return c.name != "realloc though the next block is free" && c.name != "realloc over a part of a free block at the end"
}

func TestFirstFitPolicy(t *testing.T) {
	for _, c := range ffCases {
		t.Run(c.name, func(t *testing.T) {
			before := ffPayload(t, c.before)
			a, _ := ffWith(t, before)
			r, err := c.do(a)
			check(t, err)
			ffIs(t, c.name, a, c.after)
			if c.tidy() {
				ffClean(t, c.name, a)
			}
			after, err := a.Stack().Peek(0)
			check(t, err)
			if c.at < 0 {
				return
			}
			block := ffRegion(after, c.at)
			if r.Off != block.Off || r.End() > block.End() {
				t.Fatalf("got %v, want it in block %d, %v", r, c.at, block)
			}
		})
	}
}

// Bytes that stay, and new ones, to the last: of regions that are shorter than their blocks.
func TestFirstFitNewBytesAreZero(t *testing.T) {
	for _, c := range []struct {
		state         string
		block         int
		was           int64
		before, after int64
		moves         bool
	}{
		{"64 16", 0, 10, 0, 54, false},
		{"64 16", 0, 10, 0, 3, false},
		{"16 64", 1, 10, 0, 100, false},
		{"24 -200 16 /1", 0, 5, 0, 30, false},
		{"24 -200 16 /1", 0, 5, 0, 219, false},
		{"-200 24 16 /0", 1, 5, 24, 0, false},
		{"-200 24 -200 16 /0 2", 1, 5, 224, 150, false},
		{"24 16 -200 16 /2", 0, 24, 0, 170, true},
		{"24 16 -200 16 /2", 0, 5, 0, 60, true},
		{"-200 24 16 /0", 1, 5, 0, 60, true},
		{"24 16 -40 16 /2", 0, 5, 0, 60, true},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			before := ffPayload(t, c.state)
			r := ffRegion(before, c.block)
			r.Len = c.was
			want := slices.Concat(make([]byte, c.before), before[r.Off:r.End()], make([]byte, c.after))
			for _, run := range []func(a *alloc.FirstFit) (alloc.Region, error){
				func(a *alloc.FirstFit) (alloc.Region, error) { return a.Resize(r, c.before, c.after) },
				func(a *alloc.FirstFit) (alloc.Region, error) { return a.Realloc(r, c.was+c.after) },
			} {
				a, _ := ffWith(t, before)
				got, err := run(a)
				if c.moves && errors.Is(err, alloc.ErrUnsupported) {
					continue
				}
				check(t, err)
				p, err := a.View(got).Bytes()
				check(t, err)
				same(t, "the region", p, want[int64(len(want))-got.Len:])
			}
		})
	}
}

// What cannot be done in place is refused, and nothing is different.
func TestFirstFitResizeRefusals(t *testing.T) {
	for _, c := range []struct {
		state         string
		block         int
		before, after int64
	}{
		{"-64 64 -64 16 /0 2", 1, 24, -8},
		{"-64 64 -64 16 /0 2", 1, -40, 8},
		{"64 16", 0, 0, 1},
		{"64 -16 16 /1", 0, 0, 41},
		{"64 16", 0, -39, 0},
		{"64 16", 0, -32, 0},
		{"64 16", 0, -56, 0}, // 8 left
		{"64 16", 0, 24, 0},
		{"16 64 16", 1, 24, 0},
		{"-64 64 16 /0", 1, 16, 0},
		{"-64 64 16 /0", 1, 25, 0},
		{"-64 64 16 /0", 1, 56, 0}, // leaves 8
		{"-64 64 16 /0", 1, 64, 0}, // and only the marks
		{"-64 64 16 /0", 1, 80, 0},
		{"-64 64 16 /0", 1, 96, 0}, // more than there is
		{"-64 64 16 /0", 1, 24, 8},
		{"64 64 -64 16 /2", 1, 24, 8},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			before := ffPayload(t, c.state)
			a, disk := ffWith(t, before)
			was := raw(t, disk)
			_, err := a.Resize(ffRegion(before, c.block), c.before, c.after)
			refused(t, "Resize", err, alloc.ErrUnsupported)
			same(t, "the file", raw(t, disk), was)
		})
	}
}

// Opening what is no FirstFit.
func TestFirstFitFormat(t *testing.T) {
	empty := ffPayload(t, "")
	for n := 1; n < len(empty); n++ {
		_, err := ffOpen(ffMemory(t, empty[:n]))
		refused(t, fmt.Sprint(n, " bytes"), err, alloc.ErrFormat)
	}
	for i := 16; i < 24; i++ {
		p := bytes.Clone(empty)
		p[i] ^= 1
		a, err := ffOpen(ffMemory(t, p))
		if i < 22 {
			refused(t, fmt.Sprint("byte ", i), err, alloc.ErrFormat)
			continue
		}
		check(t, err) // other versions
		check(t, a.Stack().Close())
	}
	// A creation that was interrupted: the room is there, and perhaps something of the program.
	p := make([]byte, 48)
	p[3] = 7
	a, _ := ffWith(t, p)
	r, err := a.Alloc(3)
	check(t, err)
	ffIs(t, "unfinished", a, "16")
	if got, err := a.View(a.Reserved()).Bytes(); err != nil || len(got) != 16 || got[3] != 7 || r.Off != 64 {
		t.Fatalf("reserved: %x, %v; region %v", got, err, r)
	}
	_, err = ffOpen(ffMemory(t, make([]byte, 49)))
	refused(t, "zeros", err, alloc.ErrFormat)
}

// The file ends in a free block as long as cutting it off would mean to write much.
func TestFirstFitKeepsTail(t *testing.T) {
	const large = 100 << 10
	state := func(rest string) string { return fmt.Sprint("16 ", large, " ", rest) }
	open := func(t *testing.T, rest string) (*alloc.FirstFit, []byte) {
		p := ffPayload(t, state(rest))
		a, _ := ffWith(t, p)
		return a, p
	}
	t.Run("free", func(t *testing.T) {
		a, p := open(t, "-16 24 /2")
		check(t, a.Free(ffRegion(p, 3)))
		ffIs(t, "freed", a, state("-64 /2"))
		ffClean(t, "freed", a)
		spans, err := a.Layout()
		check(t, err)
		n, err := a.Trim()
		if check(t, err); n != 88 || spans[len(spans)-1] != (alloc.Span{Off: a.Stack().Len(), Len: 88, Kind: alloc.Free}) {
			t.Errorf("cut off %d bytes of %v", n, spans)
		}
		ffIs(t, "trimmed", a, state(""))
		if n, err := a.Trim(); n != 0 || err != nil {
			t.Errorf("again: %d, %v", n, err)
		}
	})
	t.Run("free of nothing else", func(t *testing.T) {
		a, p := open(t, "16 24")
		check(t, a.Free(ffRegion(p, 3)))
		check(t, a.Free(ffRegion(p, 2)))
		ffIs(t, "freed", a, state(""))
	})
	t.Run("inside the list", func(t *testing.T) {
		a, p := open(t, "-16 16 -24 40 /2 4")
		check(t, a.Free(ffRegion(p, 5))) // changes the end of the file only
		ffIs(t, "freed", a, state("-16 16 /2"))
		a, p = open(t, "-16 16 -24 40 /4 2")
		check(t, a.Free(ffRegion(p, 5)))
		ffIs(t, "freed", a, state("-16 16 -88 /4 2"))
		_, err := a.Reclaim([]alloc.Region{ffRegion(p, 0), ffRegion(p, 1), ffRegion(p, 3), ffRegion(p, 4)})
		refused(t, "Reclaim", err, alloc.ErrNotAllocated)
	})
	t.Run("used again", func(t *testing.T) {
		a, p := open(t, "-16 24 /2")
		check(t, a.Free(ffRegion(p, 3)))
		r, err := a.Alloc(20)
		check(t, err)
		ffIs(t, "allocated", a, state("-16 24 /2"))
		check(t, a.Free(r))
		r, err = a.Realloc(ffRegion(p, 1), large+200) // over the free block and the end
		check(t, err)
		if r.Off != ffRegion(p, 1).Off {
			t.Errorf("moved to %d", r.Off)
		}
		ffIs(t, "reallocated", a, fmt.Sprint("16 ", large+200))
	})
	t.Run("worth it", func(t *testing.T) {
		a, p := open(t, fmt.Sprint("-16 ", large, " /2"))
		check(t, a.Free(ffRegion(p, 3)))
		ffIs(t, "freed", a, state(""))
	})
	t.Run("bulk", func(t *testing.T) {
		a, p := open(t, "24 16 24 /")
		check(t, a.FreeBulk([]alloc.Region{ffRegion(p, 0), ffRegion(p, 3), ffRegion(p, 4)}))
		ffIs(t, "freed", a, fmt.Sprint("-16 ", large, " 24 -64 /0 3"))
		ffClean(t, "freed", a)
		check(t, a.FreeBulk([]alloc.Region{ffRegion(p, 2), ffRegion(p, 1)}))
		ffIs(t, "freed everything", a, "")
	})
	t.Run("bulk at the end", func(t *testing.T) {
		a, p := open(t, "24 16 24 /")
		check(t, a.FreeBulk([]alloc.Region{ffRegion(p, 2), ffRegion(p, 3), ffRegion(p, 4)}))
		ffIs(t, "freed", a, state(""))
	})
	t.Run("realloc", func(t *testing.T) {
		a, _ := open(t, "16 -160 /3") // as nobody leaves it
		p, err := a.Stack().Peek(0)
		check(t, err)
		_, err = a.Realloc(ffRegion(p, 2), 40)
		check(t, err)
		ffIs(t, "reallocated", a, state("40 -136 /3"))
	})
}

// A region that is given back is a live block or it is refused, and nothing is different.
func TestFirstFitRefusals(t *testing.T) {
	p := ffPayload(t, "64 -40 24 304 16 /1")
	in := ffRegion(p, 3) // holds what looks like a block
	lookalike := ffOrder.AppendUint64(ffOrder.AppendUint64(nil, 32), 0)
	lookalike = ffOrder.AppendUint64(append(lookalike, text(32, 1)...), 32)
	copy(p[in.Off+16:], lookalike)
	copy(
		p[in.Off+104:],
		slices.Concat(ffOrder.AppendUint64(nil, 32), lookalike, lookalike),
	) // behind what looks like a footer
	a, disk := ffWith(t, p)
	was := raw(t, disk)
	for _, c := range []struct {
		name string
		r    alloc.Region
	}{
		{"a block that is free", ffRegion(p, 1)},
		{"a header", alloc.Region{Off: ffRegion(p, 2).Off - 16, Len: 8}},
		{"the first header", alloc.Region{Off: 48, Len: 8}},
		{"off by one", alloc.Region{Off: 65, Len: 8}},
		{"inside", alloc.Region{Off: 72, Len: 8}},
		{"inside what is free", alloc.Region{Off: ffRegion(p, 1).Off + 8, Len: 8}},
		{"too long", alloc.Region{Off: 64, Len: 65}},
		{"two blocks", alloc.Region{Off: ffRegion(p, 3).Off, Len: 344}},
		{"a look-alike", alloc.Region{Off: in.Off + 32, Len: 32}},
		{"another look-alike", alloc.Region{Off: in.Off + 128, Len: 32}},
		{"the end", alloc.Region{Off: int64(len(p)) - 8, Len: 8}},
	} {
		_, err := a.Realloc(c.r, 500)
		refused(t, c.name+": Realloc", err, alloc.ErrNotAllocated)
		_, err = a.Resize(c.r, 0, 1)
		refused(t, c.name+": Resize", err, alloc.ErrNotAllocated)
		refused(t, c.name+": Free", a.Free(c.r), alloc.ErrNotAllocated)
		refused(t, c.name+": FreeBulk", a.FreeBulk([]alloc.Region{ffRegion(p, 4), c.r}), alloc.ErrNotAllocated)
		_, err = a.Reclaim([]alloc.Region{c.r})
		refused(t, c.name+": Reclaim", err, alloc.ErrNotAllocated)
		same(t, c.name, raw(t, disk), was)
	}
	if _, err := a.View(alloc.Region{Off: 48, Len: 8}).WriteAt([]byte{1}, 0); !errors.Is(err, alloc.ErrNotAllocated) {
		t.Errorf("writing to a header: %v", err)
	}
	check(t, a.Free(in)) // for all that it looks like
	ffIs(t, "freed", a, "64 -40 24 -304 16 /3 1")
}

// What an update that was given up has done is forgotten, also how large free blocks were in it.
func TestFirstFitForgetsUndone(t *testing.T) {
	a, _ := ffWith(t, ffPayload(t, "-200 16 /0"))
	givenUp := errors.New("given up")
	err := a.Update(func(b *alloc.Batch) error {
		_, err := b.Alloc(100)
		check(t, err)
		_, err = b.Alloc(150) // fits nowhere now
		check(t, err)
		return givenUp
	})
	refused(t, "Update", err, givenUp)
	_, err = a.Alloc(150)
	check(t, err)
	ffIs(t, "allocated", a, "-24 152 16 /0")
}

// A region shorter than its block is whole: it may have been longer.
func TestFirstFitNarrowed(t *testing.T) {
	a, disk := ffWith(t, ffPayload(t, "64 16"))
	was := disk.Counts().Ops
	r, err := a.Realloc(alloc.Region{Off: 64, Len: 64}, 1)
	check(t, err)
	r, err = a.Realloc(r, 3) // two zero bytes
	check(t, err)
	rest(t, a.Stack())
	if ops := disk.Counts().Ops - was; ops != 2 {
		t.Errorf("%d calls, want a write and a sync", ops)
	}
	if got, err := a.View(r).Bytes(); err != nil || !bytes.Equal(got, []byte{text(1, 0)[0], 0, 0}) {
		t.Errorf("%x, %v", got, err)
	}
	check(t, a.Free(r))
	ffIs(t, "freed", a, "-64 16 /0")
}

// What Check finds that other programs may leave, or damage.
func TestFirstFitCheck(t *testing.T) {
	for _, c := range []struct {
		state string
		edit  ffEdit
		found int
	}{
		{"", ffAppend(), 0},
		{"16 -24 16 -32 16 /3 1", ffAppend(), 0},
		{"16 -24 -32 16 /1 2", ffAppend(), 1},
		{"16 -24 /1", ffAppend(), 0},
		{"16 -24 -32 /1 2", ffAppend(), 1},
		{"16 -24 16 -32 16 /3", ffAppend(), 1},
		{"16 -24 16 -32 16", ffAppend(), 1},
		{"16 -24 16 -32 16 /3 1", ffSet([3]int64{1, 0, 64}), 1},
		{"16 24 32", ffSet([3]int64{0, 16, 24}, [3]int64{2, 32, 24}), 2},
		{"16 24 32", ffSet([3]int64{1, -16, 25}), 1},
		{"16 24 32", ffAppend(make([]byte, 8)...), 1},
	} {
		l := ffLeftover{before: c.state, edit: c.edit, sound: true}
		a, _ := ffWith(t, l.payload(t))
		if found := ffFound(t, c.state, a); len(found) != c.found {
			t.Errorf("%s: found %d things, want %d: %v", c.state, len(found), c.found, found)
		}
	}
}

// Sizes near the end of the number range.
func TestFirstFitHugeSizes(t *testing.T) {
	a, disk := ffWith(t, ffPayload(t, "16 24"))
	was := raw(t, disk)
	for _, n := range []int64{1<<63 - 1, 1<<63 - 1 - 1<<40, 1<<63 - 1<<40 - 100} {
		_, err := a.Alloc(n)
		if !errors.Is(err, alloc.ErrRange) && !errors.Is(err, stack.ErrRange) {
			t.Errorf("Alloc(%d): %v", n, err)
		}
		for i := range 2 {
			_, err = a.Realloc(ffRegion(was[headerSize:], i), n)
			if !errors.Is(err, alloc.ErrRange) && !errors.Is(err, stack.ErrRange) {
				t.Errorf("Realloc(%d): %v", n, err)
			}
		}
	}
	same(t, "the file", raw(t, disk), was)
}
