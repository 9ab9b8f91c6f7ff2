// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/holtdb/holt/stack/alloc"
)

// ffEdit changes a payload. at is where the data of the blocks begins.
type ffEdit func(p []byte, at []int) []byte

// ffSet puts numbers at places given as a block and an offset from its data.
func ffSet(words ...[3]int64) ffEdit {
	return func(p []byte, at []int) []byte {
		for _, w := range words {
			ffOrder.PutUint64(p[at[w[0]]+int(w[1]):], uint64(w[2]))
		}
		return p
	}
}

func ffAppend(more ...byte) ffEdit {
	return func(p []byte, _ []int) []byte { return append(p, more...) }
}

func ffCut(n int) ffEdit {
	return func(p []byte, _ []int) []byte { return p[:len(p)-n] }
}

func ffHead(head int64) ffEdit {
	return func(p []byte, _ []int) []byte {
		ffOrder.PutUint64(p[32:], uint64(head))
		return p
	}
}

type ffLeftover struct {
	name   string
	before string
	edit   ffEdit
	sound  bool // the flag is not set
	after  string
}

const ffDamaged = "damaged" // in place of a state: it is refused

// ffLeft are files as another program may leave them, with its flag set unless said otherwise, and what is made of
// them.
var ffLeft = []ffLeftover{
	{"nothing half done", "16 -24 16 /1", ffAppend(), false, "16 -24 16 /1"},
	{"another order", "-16 16 -24 16 -16 16 /2 4 0", ffAppend(), false, "-16 16 -24 16 -16 16 /0 2 4"},
	{"free, not linked", "-16 16 -24 16 /2", ffAppend(), false, "-16 16 -24 16 /0 2"},
	{"nothing", "", ffAppend(), false, ""},
	{"the list begins nowhere", "16 -24 16 /1", ffHead(1 << 40), true, "16 -24 16 /1"},
	{"the list begins before the arena", "16 -24 16 /1", ffHead(63), true, "16 -24 16 /1"},
	{"the list begins at the end", "16 -24 16 /1", ffHead(48 + 40 + 48 + 40), true, "16 -24 16 /1"},
	{
		"wild links",
		"-16 16 -24 16 /0 2",
		ffSet([3]int64{0, 0, 64}, [3]int64{0, 8, 1 << 50}, [3]int64{2, 0, 3}),
		false,
		"-16 16 -24 16 /0 2",
	},

	{
		"a split up to the header",
		"-104 16 /0",
		ffSet([3]int64{0, 40, 40}, [3]int64{0, 48, 40}, [3]int64{0, 56, 0}, [3]int64{0, 104, 40}),
		false,
		"-40 40 16 /0",
	},
	{
		"a split of which only the middle is there",
		"-104 16 /0",
		ffSet([3]int64{0, 40, 40}, [3]int64{0, 48, 40}, [3]int64{0, 56, 0}),
		false,
		"-104 16 /0",
	},
	{
		"a split of the smallest",
		"-56 16 /0",
		ffSet([3]int64{0, 16, 16}, [3]int64{0, 24, 16}, [3]int64{0, 32, 0}, [3]int64{0, 56, 16}),
		false,
		"-16 16 16 /0",
	},
	{"a merger up to the footer", "16 -24 -32 16 /1", ffSet([3]int64{1, -16, 80}), false, "16 -80 16 /1"},
	{"a merger up to the link", "16 -24 -32 16", ffSet([3]int64{1, -16, 80}, [3]int64{2, 32, 80}), false, "16 -80 16 /1"},
	{"growing at the end, zeros appended", "16 24", ffAppend(make([]byte, 16)...), false, "16 24"},
	{"growing at the end, many zeros appended", "16 24", ffAppend(make([]byte, 9000)...), false, "16 24"},
	{"growing at the end, old footer gone", "16 24", func(p []byte, at []int) []byte {
		return append(ffSet([3]int64{1, 24, 0})(p, at), make([]byte, 16)...)
	}, false, "16 24"},
	{"growing at the end up to the footer", "16 24", func(p []byte, at []int) []byte {
		return append(ffSet([3]int64{1, 24, 0}, [3]int64{1, -16, 40})(p, at), make([]byte, 16)...)
	}, false, "16 40"},
	{"a stale footer", "16 24 32", ffSet([3]int64{1, 24, 16}), false, "16 24 32"},
	{"zero footers", "16 -24 32 40 /1", ffSet([3]int64{0, 16, 0}, [3]int64{3, 40, 0}), false, "16 -24 32 40 /1"},
	{"a merger of three up to the footer", "16 -24 -32 -40 16", ffSet([3]int64{1, -16, 144}), false, "16 -144 16 /1"},
	{"a new block without marks", "16 24", ffAppend(make([]byte, 64)...), false, "16 24"},
	{"a piece at the end", "16 24", ffAppend(text(23, 1)...), false, "16 24"},
	{"a block that is not all there", "16 24 32", ffCut(9), false, "16 24"},
	{"a header alone", "16 24 32", ffCut(32), false, "16 24"},
	{"a free block at the end", "16 -24 /1", ffAppend(), false, "16"},
	{"free blocks at the end, and a piece", "16 -24 -32", ffAppend(1, 2, 3), false, "16"},
	{"free blocks only", "-24 -32", ffAppend(), false, ""},
	{"free neighbours", "16 -24 -32 -16 16 -16 16 /2 1", ffAppend(), false, "16 -120 16 -16 16 /1 3"},

	{"a live block with others in it", "16 24 32 40 48", ffSet([3]int64{1, -16, 144}), false, ffDamaged},
	{"footers of two neighbours", "16 24 32 40", ffSet([3]int64{0, 16, 0}, [3]int64{1, 24, 0}), false, ffDamaged},
	{"a size of nonsense", "16 24 32", ffSet([3]int64{1, -16, 25}), false, ffDamaged},
	{"a size of zero", "16 24 32", ffSet([3]int64{1, -16, 0}), false, ffDamaged},
	{"a negative size", "16 24 32", ffSet([3]int64{1, -16, -24}), false, ffDamaged},
	{"a size far too great", "16 24 32", ffSet([3]int64{1, -16, 1 << 40}), false, ffDamaged},
	{"a size that is too great at the end", "16 24 32", ffSet([3]int64{2, -16, 40}), false, ffDamaged},
	{"a size that leads into a block", "16 104 32", ffSet([3]int64{1, -16, 16}), false, ffDamaged},
}

func (c *ffLeftover) payload(t testing.TB) []byte {
	t.Helper()
	p := ffPayload(t, c.before)
	var at []int
	for off := 48; off < len(p); off += 24 + int(ffOrder.Uint64(p[off:])) {
		at = append(at, off+16)
	}
	if !c.sound {
		p[24] |= 1
	}
	return c.edit(p, at)
}

func TestFirstFitRecovery(t *testing.T) {
	for _, c := range ffLeft {
		t.Run(c.name, func(t *testing.T) {
			p := c.payload(t)
			disk := ffMemory(t, p)
			a, err := ffOpen(disk)
			if c.after == ffDamaged {
				if !ffCorrupt(err) {
					t.Fatalf("got error %v", err)
				}
				same(t, "the file", raw(t, disk)[headerSize:], p)
				return
			}
			check(t, err)
			ffIs(t, "recovered", a, c.after)
			ffClean(t, "recovered", a)
			if len(a.Repaired()) == 0 {
				t.Error("nothing repaired")
			}
			got, err := a.Stack().Peek(0)
			check(t, errors.Join(err, a.Stack().Close()))
			ffKept(t, got, p)
			was := disk.Counts().Ops
			a, err = ffOpen(disk)
			check(t, err)
			if ops := disk.Counts().Ops; ops != was || len(a.Repaired()) > 0 {
				t.Errorf("opening it again made %d calls and repaired %q", ops-was, a.Repaired())
			}
			check(t, a.Stack().Close())
		})
	}
}

// ffKept makes sure that live blocks hold what was there before: all of it is text, or zero if it is new.
func ffKept(t *testing.T, got, was []byte) {
	t.Helper()
	for off, i := 48, 0; off < len(got); i++ {
		r := ffRegion(got, i)
		if ffOrder.Uint64(got[off+8:]) == 0 {
			same(t, r.String(), got[r.Off:r.End()], was[r.Off:r.End()])
		}
		off = int(r.End()) + 8
	}
}

// Recovery keeps the program's bytes and flags it does not know.
func TestFirstFitRecoveryKeepsTheRest(t *testing.T) {
	p := ffPayload(t, "16 -24 16 /1")
	copy(p, text(16, 3))
	ffOrder.PutUint64(p[24:], 0xF1F2F3F4_F5F6F7F9)
	want := bytes.Clone(p)
	want[24] &^= 1
	a, _ := ffWith(t, p)
	got, err := a.Stack().Peek(0)
	check(t, err)
	same(t, "payload", got, want)
}

// Files that older programs leave at rest: footers that are wrong do not keep anybody from freeing what is around, and
// it is not merged with what they belong to.
func TestFirstFitStaleFooters(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		edit                ffEdit
		free                int
	}{
		{"its own", "16 24 32", "16 -24 32 /1", ffSet([3]int64{1, 24, 99}), 1},
		{"of the live block before", "16 24 32", "16 -24 32 /1", ffSet([3]int64{0, 16, 99}), 1},
		{"of the free block before", "-16 24 32 /0", "-16 -24 32 /1 0", ffSet([3]int64{0, 16, 99}), 1},
		{"of the free block behind", "16 24 -32 16 /2", "16 -24 -32 16 /1 2", ffSet([3]int64{2, 32, 99}), 1},
		{"of the live block behind", "16 24 32", "16 -24 32 /1", ffSet([3]int64{2, 32, 99}), 1},
		{"its own at the end", "16 24", "16", ffSet([3]int64{1, 24, 99}), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := ffLeftover{before: c.before, edit: c.edit, sound: true}
			p := l.payload(t)
			a, _ := ffWith(t, p)
			if found := ffFound(t, c.name, a); len(found) != 1 {
				t.Errorf("Check found %v", found)
			}
			check(t, a.Free(ffRegion(p, c.free)))
			spans, err := a.Layout()
			check(t, err)
			if got := ffSpans(spans); got != c.after[:max(0, len(got))] {
				t.Errorf("layout %q, want %q", got, c.after)
			}
			var live []alloc.Region
			for _, sp := range spans {
				if sp.Kind == alloc.Used {
					live = append(live, alloc.Region{Off: sp.Off + 16, Len: sp.Len - 24})
				}
			}
			n, err := a.Reclaim(live)
			if check(t, err); n != 0 {
				t.Errorf("reclaimed %d bytes", n)
			}
			ffClean(t, "reclaimed", a)
		})
	}
}

// ffSpans is the state of a layout, without the list.
func ffSpans(spans []alloc.Span) string {
	text := ""
	for _, sp := range spans[2:] {
		n := sp.Len - 24
		if sp.Kind == alloc.Free {
			n = -n
		}
		text += fmt.Sprint(n, " ")
	}
	return ffTrim(text)
}

// Reclaim frees what nobody lists, and sets right what recovery does.
func TestFirstFitReclaim(t *testing.T) {
	for _, c := range []struct {
		name, before string
		edit         ffEdit
		live         []int
		after        string
		freed        int64
	}{
		{"one inside", "16 24 32 40", ffAppend(), []int{0, 2, 3}, "16 -24 32 40 /1", 48},
		{"beside free ones", "16 -24 32 -40 48 /3 1", ffAppend(), []int{0, 4}, "16 -144 48 /1", 56},
		{"at the end", "16 -24 32 -40 48 /3 1", ffAppend(), []int{0, 2}, "16 -24 32 /1", 72},
		{"everything", "16 -24 32 -40 48 /3 1", ffAppend(), nil, "", 40 + 56 + 72},
		{"nothing", "16 -24 32 -40 48 /3 1", ffAppend(), []int{0, 2, 4}, "16 -24 32 -40 48 /3 1", 0},
		{"a list that is lost", "16 -24 32 -40 48 /3", ffAppend(), []int{0, 2, 4}, "16 -24 32 -40 48 /1 3", 0},
		{
			"a list that leads into a region", "16 -24 32 -40 48 /3 1", ffSet([3]int64{3, 0, 64}),
			[]int{0, 2, 4},
			"16 -24 32 -40 48 /1 3", 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := ffLeftover{before: c.before, edit: c.edit, sound: true}
			p := l.payload(t)
			a, _ := ffWith(t, p)
			var live []alloc.Region
			for _, i := range slices.Backward(c.live) {
				live = append(live, ffRegion(p, i))
			}
			n, err := a.Reclaim(live)
			check(t, err)
			if n != c.freed {
				t.Errorf("freed %d bytes, want %d", n, c.freed)
			}
			ffIs(t, "reclaimed", a, c.after)
			ffClean(t, "reclaimed", a)
		})
	}
}

// What looks like marks in front of a shrinking end does not matter: the block keeps its size.
func TestFirstFitShrinkOverLookalikes(t *testing.T) {
	a, _ := ffWith(t, nil)
	_, err := a.Alloc(16)
	check(t, err)
	r, err := a.Alloc(400)
	check(t, err)
	p, err := a.Stack().Peek(0)
	check(t, err)
	fake := ffPayload(t, "16 -24 32 -40 64 /1 3")[48:]
	_, err = a.View(r).WriteAt(fake, 0)
	check(t, err)
	for n := r.Len; n > 0; n -= 8 {
		r, err = a.Realloc(r, n)
		check(t, err)
		if a.Stack().Len() != int64(len(p)) {
			t.Fatalf("shrinking to %d bytes cut the file to %d", n, a.Stack().Len())
		}
	}
	ffIs(t, "shrunk", a, "16 400")
	f, err := a.Stack().Peek(0)
	check(t, err)
	f[24] = 1 // the flag, as if something had been interrupted
	again, _ := ffWith(t, f)
	ffIs(t, "recovered", again, "16 400")
	got, err := again.View(alloc.RegionFrom(r.Bytes())).Bytes()
	check(t, err)
	same(t, "the region", got, fake[:r.Len])
}
