// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree_test

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// What the reference implementation left after: alloc 64, 1, 40, 32; free the first and the third; alloc 20, which is
// cut from the back of the first.
func TestGolden(t *testing.T) {
	tree := freetree.New()
	m := tree.Mark()
	check(t, tree.Insert(block{48, 64}))
	check(t, tree.Insert(block{144, 64}))
	b, ok := tree.BestFit(32)
	if want := (block{48, 64}); !ok || b != want {
		t.Fatalf("best fit is %v, %v", b, ok)
	}
	tree.Remove(b)
	check(t, tree.Insert(block{48, 32}))
	if tree.Root() != 144 || !tree.RootChanged(m) {
		t.Errorf("root is %d", tree.Root())
	}
	want := []string{
		"2000000000000000" + "00010000" + "00000000" + "0000000000000000" + "0000000000000000",
		"4000000000000000" + "ff020100" + "00000000" + "3000000000000000" + "0000000000000000",
	}
	for k, c := range tree.Changes(m) {
		var b raw
		c.Encode(&b)
		if got := hex.EncodeToString(b[:]); got != want[k] {
			t.Errorf("node at %d is\n%s, want\n%s", c.Off, got, want[k])
		}
	}
	newDisk(tree).load(t, 240)
}

func TestImage(t *testing.T) {
	m := image{Block: block{80, 96}, Left: 1 << 40, Right: 4096, LeftHeight: 3, RightHeight: 4}
	if m.Height() != 5 || m.Balance() != 1 {
		t.Errorf("height %d, balance %d", m.Height(), m.Balance())
	}
	b := raw{12: 1, 15: 1}
	m.Encode(&b)
	want := "6000000000000000" + "01050304" + "00000000" + "0000000000010000" + "0010000000000000"
	if got := hex.EncodeToString(b[:]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := freetree.Decode(&b, 80); got != m {
		t.Errorf("got %v back", got)
	}
}

// A block that keeps its place in the order of size keeps its node, and only that is written.
func TestReplaceInPlace(t *testing.T) {
	// 31 blocks of 10, 20, 30 … units make a full tree. Leaves are those of 10, 30, 50 …
	blocks := make([]block, 31)
	for k := range blocks {
		blocks[k] = at(500*k, 10*k+10)
	}
	tree, err := freetree.Build(blocks)
	check(t, err)
	for _, c := range []struct {
		name    string
		old, to block
		writes  int
	}{
		{"nothing", at(0, 10), at(0, 10), 0},
		{"back of the root cut off", at(7500, 160), at(7500, 155), 1},
		{"back of a leaf cut off", at(1000, 30), at(1000, 21), 1},
		{"front of a leaf cut off", at(1000, 30), at(1001, 29), 2}, // its parent says where it is
		{"front of the root cut off", at(7500, 160), at(7501, 159), 1},
		{"size of the next, before it", at(1000, 30), at(1000, 40), 1},
		{"size of the last, behind it", at(1000, 30), at(1000, 20), 1},
		// Itself, one node above its old place, five above the new one.
		{"smallest leaf becomes the largest", at(0, 10), at(0, 311), 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := tree.Mark()
			defer tree.Rewind(m)
			tree.Replace(c.old, c.to)
			sound(t, tree)
			if got := tree.Changes(m); len(got) != c.writes {
				t.Errorf("writes %v", got)
			}
			if moved := c.old.Off == at(7500, 0).Off && c.old.Off != c.to.Off; tree.RootChanged(m) != moved {
				t.Errorf("root changed: %v", tree.RootChanged(m))
			}
		})
	}
}

func TestBuild(t *testing.T) {
	for n := range 70 {
		blocks := spread(n)
		slices.SortFunc(blocks, func(a, b block) int { return int(a.Off%97 - b.Off%97) })
		tree, err := freetree.Build(blocks)
		check(t, err)
		sound(t, tree)
		want := newTree(t, blocks...)
		if !slices.Equal(slices.Collect(tree.BySize()), slices.Collect(want.BySize())) {
			t.Errorf("%d blocks became %v", n, slices.Collect(tree.BySize()))
		}
		for m := range tree.Images() {
			if m.Off == tree.Root() && 1<<(m.Height()-1) > n {
				t.Errorf("%d blocks are %d high", n, m.Height())
			}
		}
		same(t, newDisk(tree).load(t, at(20*n, 0).Off), tree)
	}
}

func TestBuildRefuses(t *testing.T) {
	for name, b := range map[string]block{
		"overlap":        at(3, 1),
		"twice":          at(0, 4),
		"too small":      {496, 0},
		"negative":       {496, -32},
		"before arena":   {16, 32},
		"not aligned":    {500, 32},
		"odd size":       {496, 33},
		"beyond numbers": {496, 1<<63 - 32},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := freetree.Build([]block{at(0, 4), b})
			if d, ok := errors.AsType[*freetree.DamageError](err); !ok || d.Off != b.Off {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestInsertRefuses(t *testing.T) {
	tree := newTree(t, at(5, 5))
	for _, b := range []block{
		at(5, 5), at(5, 1), at(6, 1), at(4, 2), at(9, 1), at(0, 20), {0, 32}, {48, 0}, {-32, 32}, {48, -32}, {480, 1<<63 - 1},
	} {
		was := tree.State()
		if !panics(func() { _ = tree.Insert(b) }) || !tree.State().Equal(was) {
			t.Errorf("inserted %v", b)
		}
	}
	tree.SetLimit(2)
	check(t, tree.Insert(at(0, 1)))
	if err := tree.Insert(at(1, 1)); !errors.Is(err, freetree.ErrFull) {
		t.Errorf("one too many: %v", err)
	}
	sound(t, tree)
	tree.Remove(at(0, 1))
	check(t, tree.Insert(at(1, 1)))
	sound(t, tree)
}

func TestMarksEnd(t *testing.T) {
	tree := newTree(t)
	early := tree.Mark()
	check(t, tree.Insert(at(0, 1)))
	late := tree.Mark()
	tree.Rewind(early)
	if !panics(func() { tree.Rewind(late) }) {
		t.Error("went back to a time that never was")
	}
	check(t, tree.Insert(at(0, 1)))
	tree.Settle()
	if !panics(func() { tree.Rewind(early) }) || !panics(func() { tree.Changes(early) }) {
		t.Error("a mark has outlived Settle")
	}
}

func TestIteratorsStop(t *testing.T) {
	tree := newTree(t, spread(9)...)
	n := 0
	for range tree.BySize() {
		n++
		break
	}
	for range tree.Images() {
		n++
		break
	}
	if n != 2 {
		t.Errorf("%d", n)
	}
}

// Check finds what is broken.
func TestCheck(t *testing.T) {
	for want, damage := range freetree.Breakages() {
		t.Run(want, func(t *testing.T) {
			tree := newTree(t, spread(10)...)
			tree.Remove(spread(1)[0])
			sound(t, tree)
			damage(tree)
			if err := tree.Check(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAllocations(t *testing.T) {
	blocks := spread(2000)
	tree := newTree(t, blocks...)
	n := 0
	round := func() {
		b := blocks[n*7919%len(blocks)]
		n++
		m := tree.Mark()
		tree.Remove(b)
		check(t, tree.Insert(b))
		tree.Replace(b, block{b.Off, b.Size + unit})
		tree.Replace(block{b.Off, b.Size + unit}, block{b.Off + unit, b.Size})
		tree.Changes(m)
		tree.LowestChange(m)
		tree.BestFit(b.Size)
		tree.Neighbours(at(1, 1))
		tree.Overlap(b)
		tree.Last()
		tree.Largest()
		tree.Rewind(m)
		tree.Remove(b)
		check(t, tree.Insert(b))
		tree.Settle()
	}
	for range 2 * len(blocks) {
		round() // until the slices are long enough
	}
	if got := testing.AllocsPerRun(1000, round); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
