// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// opensUntouched opens a file that is in order, and makes sure that nothing was written or synced.
func opensUntouched(t rapid.TB, disk *file.Crash) (*alloc.GhostTree, file.Counts) {
	t.Helper()
	was := disk.Counts()
	a := mustOpenGhost(t, disk)
	got := disk.Counts().Minus(was)
	if got.Ops != 0 || len(a.Repaired()) != 0 {
		t.Fatalf("opening it did %+v, %q", got, a.Repaired())
	}
	return a, got
}

// A file in order is opened without a write, and the tree is read level by level.
func TestGhostTreeOpen(t *testing.T) {
	forSizes(t, func(t *testing.T, blocks int) {
		p := sceneImage(t, blocks)
		disk := p.disk(t)
		a, got := opensUntouched(t, disk)
		// Most nodes are in the last levels, where many are read at once.
		if most := 16 + blocks/5; got.Reads > most || got.ReadBytes > 1000+4*int64(len(p)) {
			t.Errorf("%d reads of %d bytes, at most %d", got.Reads, got.ReadBytes, most)
		}
		t.Logf("%d reads of %d bytes, of a payload of %d", got.Reads, got.ReadBytes, len(p))
		if n := len(freeOf(t, a)); n != blocks {
			t.Errorf("%d free blocks", n)
		}
		sound(t, a)
		closeGhost(t, a)
		same(t, "the file", raw(t, disk)[headerSize:], p)
	})
}

// quirks are what files of other versions have that this one does not write.
var quirks = []struct {
	name string
	make func(p ghostImage)
}{
	{"version 0, no heights", func(p ghostImage) { p[38] = 0; p.forgetHeights() }},
	{"version 1, no heights", func(p ghostImage) { p[38] = 1; p.forgetHeights() }},
	{"version 2, no heights", func(p ghostImage) { p[38] = 2; p.forgetHeights() }},
	{"version 3", func(p ghostImage) { p[38] = 3 }},
	{"version 4", func(p ghostImage) { p[38] = 4 }},
	{"version of the future", func(p ghostImage) { p[38], p[39] = 77, 1 }},
}

// forgetHeights sets the cached heights of children to zero, as versions up to 2 did.
func (p ghostImage) forgetHeights() {
	var walk func(off int64)
	walk = func(off int64) {
		if off != 0 {
			m := p.node(off)
			p[off+10], p[off+11] = 0, 0
			walk(m.Left)
			walk(m.Right)
		}
	}
	walk(p.root())
}

func TestGhostTreeOpensOtherVersions(t *testing.T) {
	for _, q := range quirks {
		for _, blocks := range []int{0, 1, 2, 7, 300} {
			t.Run(fmt.Sprint(q.name, ", ", blocks), func(t *testing.T) {
				p := sceneImage(t, blocks)
				q.make(p)
				disk := p.disk(t)
				a, _ := opensUntouched(t, disk)
				sound(t, a)
				w := ghostWorld(disk)
				w.a = a
				d := newDice(uint64(blocks))
				for range 100 {
					check(t, w.do(t, everything.op(d)))
				}
				sound(t, w.a)
				after := mustPeek(t, w.a.Stack())
				for _, r := range w.live {
					same(t, "region", after[r.r.Off:r.r.End()], r.data)
				}
				scene := len(p) - 10*sceneUnits*ghostUnit
				same(t, "the live regions of the scene", after[scene:len(p)], p[scene:])
				same(t, "magic", after[ghostMagicAt:ghostRootAt], p[ghostMagicAt:ghostRootAt])
				check(t, w.close())
			})
		}
	}
}

// touching are free blocks of one to three units without anything between, behind one live unit, and then again.
func touching(groups, each int) (free []freetree.Block) {
	at := 1
	for g := range groups {
		for i := range each {
			free = append(free, units(at, 1+(g+i)%3))
			at += 1 + (g+i)%3
		}
		at++
	}
	return free
}

// Other versions do not merge. Blocks that touch stay as they are until the file would grow without.
func TestGhostTreeMergesBeforeItGrows(t *testing.T) {
	for _, c := range []struct{ groups, each int }{{1, 2}, {1, 40}, {5, 7}, {60, 3}} {
		t.Run(fmt.Sprint(c.groups, " times ", c.each), func(t *testing.T) {
			free := touching(c.groups, c.each)
			end := int(free[len(free)-1].End()-ghostArena)/ghostUnit + 1
			image := newGhostImage(t, end, free...)
			disk := image.disk(t)
			a, _ := opensUntouched(t, disk)
			sound(t, a)
			if got := freeOf(t, a); !slices.Equal(got, free) {
				t.Fatalf("got %v, want %v", got, free)
			}
			var total int64
			for _, b := range free {
				total += b.Size
			}
			// One after the other takes what is free of the first group.
			first := int64(0)
			for _, b := range free[:c.each] {
				first += b.Size
			}
			r, err := a.Alloc(min(first, 4*ghostUnit))
			check(t, err)
			if a.Stack().Len() != int64(len(image)) || r.End() > int64(len(image)) {
				t.Fatalf("the payload has %d bytes, not %d", a.Stack().Len(), len(image))
			}
			sound(t, a)
			after := freeOf(t, a)
			for i := 1; i < len(after); i++ {
				if after[i].Off == after[i-1].End() && r.Len > 3*ghostUnit {
					t.Errorf("%v and %v touch", after[i-1], after[i])
				}
			}
			accountedFree(t, a, total-sizeOf(r.Len))
			closeGhost(t, a)
			a, _ = opensUntouched(t, disk)
			sound(t, a)
			closeGhost(t, a)
		})
	}
}

func accountedFree(t rapid.TB, a alloc.Allocator, want int64) {
	t.Helper()
	stats, err := a.Stats()
	check(t, err)
	if stats.Free != want {
		t.Fatalf("%d bytes are free, want %d", stats.Free, want)
	}
}

// The merging is part of the operation that it is for: with it, it is undone, and done again the next time.
func TestGhostTreeMergeFails(t *testing.T) {
	image := newGhostImage(t, 12, units(1, 2), units(3, 2), units(5, 2), units(8, 1))
	for call := 1; ; call++ {
		fault := file.NewFault(image.disk(t))
		a := mustOpenGhost(t, fault)
		fault.FailAt(call)
		_, err := a.Alloc(6 * ghostUnit)
		rest := a.Stack().Update(func(*stack.Unit) error { return nil })
		injected := len(fault.Injected()) > 0
		fault.FailIf(nil)
		if err == nil && !injected {
			closeGhost(t, a)
			return
		}
		if errors.Is(errors.Join(err, rest), stack.ErrFailed) {
			closeGhost(t, a)
			continue
		}
		sound(t, a)
		if err != nil {
			r, err := a.Alloc(6 * ghostUnit)
			check(t, err)
			if r.Off != units(1, 0).Off || a.Stack().Len() != int64(len(image)) {
				t.Errorf("call %d failed; afterwards %v of %d bytes", call, r, a.Stack().Len())
			}
			sound(t, a)
		}
		closeGhost(t, a)
	}
}

// An arena that does not end with a whole block is made longer, once.
func TestGhostTreeOddEnd(t *testing.T) {
	whole := newGhostImage(t, 9, units(1, 3), units(6, 2))
	for odd := 1; odd < ghostUnit; odd++ {
		p := whole[:len(whole)-odd].clone()
		disk := p.disk(t)
		a := mustOpenGhost(t, disk)
		if len(a.Repaired()) != 1 {
			t.Errorf("%d bytes are missing: repaired %q", odd, a.Repaired())
		}
		holds(t, a.Stack(), append(p.clone(), make([]byte, odd)...))
		sound(t, a)
		closeGhost(t, a)
		a, _ = opensUntouched(t, disk)
		closeGhost(t, a)
	}
}

// What is refused is not touched.
func TestGhostTreeOpenRefuses(t *testing.T) {
	sceneOf := func(change func(p ghostImage) ghostImage) ghostImage {
		return change(newGhostImage(t, 9, units(1, 3), units(6, 2)))
	}
	for what, c := range map[string]struct {
		p    ghostImage
		want error
	}{
		"too short":    {make(ghostImage, 1), alloc.ErrFormat},
		"no root":      {sceneOf(func(p ghostImage) ghostImage { return p[:47] }), alloc.ErrFormat},
		"no magic":     {sceneOf(func(p ghostImage) ghostImage { clear(p[32:40]); return p }), alloc.ErrFormat},
		"other kind":   {sceneOf(func(p ghostImage) ghostImage { p[35] = 'X'; return p }), alloc.ErrFormat},
		"other format": {sceneOf(func(p ghostImage) ghostImage { p[37] = 2; return p }), alloc.ErrFormat},
		"root, odd end": {sceneOf(func(p ghostImage) ghostImage {
			p.setRoot(1 << 40)
			return p[:len(p)-7]
		}), nil},
	} {
		t.Run(what, func(t *testing.T) {
			disk := c.p.disk(t)
			a, err := openGhost(disk)
			if c.want != nil {
				refused(t, "opening", err, c.want)
			} else {
				damagedAt(t, err, ghostRootAt)
			}
			if a != nil {
				t.Error("an allocator in spite of the error")
			}
			same(t, "the file", raw(t, disk)[headerSize:], c.p)
		})
	}
}
