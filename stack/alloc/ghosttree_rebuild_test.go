// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack/alloc"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// other is a program that changes a GhostTree file by one write after the other, children before their parents and
// the root last, as other versions do.
type other struct {
	tree   *freetree.Tree
	writes []func(p ghostImage)
}

// write notes what differs from m on.
func (o *other) write(m freetree.Mark) {
	changes := slices.Clone(o.tree.Changes(m))
	slices.SortStableFunc(changes, func(a, b freetree.Image) int { return cmp.Compare(a.Height(), b.Height()) })
	for _, c := range changes {
		o.writes = append(o.writes, func(p ghostImage) { p.setNode(c) })
	}
	if root := o.tree.Root(); o.tree.RootChanged(m) {
		o.writes = append(o.writes, func(p ghostImage) { p.setRoot(root) })
	}
	o.tree.Settle()
}

func (o *other) zero(b freetree.Block) {
	o.writes = append(o.writes, func(p ghostImage) { clear(p[b.Off:b.End()]) })
}

// free puts a block into the tree.
func (o *other) free(t rapid.TB, b freetree.Block) {
	t.Helper()
	m := o.tree.Mark()
	o.zero(b)
	check(t, o.tree.Insert(b))
	o.write(m)
}

// alloc takes a block out of the tree, and puts what is left of it in again.
func (o *other) alloc(t rapid.TB, b freetree.Block, n int64) {
	t.Helper()
	m := o.tree.Mark()
	o.tree.Remove(b)
	o.write(m)
	if n == b.Size {
		o.zero(freetree.Block{Off: b.Off, Size: freetree.NodeSize})
		return
	}
	m = o.tree.Mark()
	check(t, o.tree.Insert(freetree.Block{Off: b.Off, Size: b.Size - n}))
	o.write(m)
}

// rebuild merges all blocks that touch, and writes every node.
func (o *other) rebuild(t rapid.TB) {
	t.Helper()
	var merged []freetree.Block
	for b := range o.tree.ByAddress() {
		if k := len(merged) - 1; k >= 0 && merged[k].End() == b.Off {
			merged[k].Size += b.Size
			o.zero(freetree.Block{Off: b.Off, Size: freetree.NodeSize})
		} else {
			merged = append(merged, b)
		}
	}
	tree, err := freetree.Build(merged)
	check(t, err)
	upwards := func(a, b freetree.Image) int { return cmp.Compare(a.Height(), b.Height()) }
	for _, m := range slices.SortedStableFunc(tree.Images(), upwards) {
		o.writes = append(o.writes, func(p ghostImage) { p.setNode(m) })
	}
	o.writes = append(o.writes, func(p ghostImage) { p.setRoot(tree.Root()) })
	o.tree = tree
}

// interrupted calls fn with what a file may look like when that program was interrupted, and which bytes may be free
// in it.
func interrupted(t rapid.TB, seed uint64, fn func(what string, p ghostImage, free []freetree.Block)) {
	t.Helper()
	d := newDice(seed)
	n := d.draw("blocks", 40)
	free := make([]freetree.Block, n)
	at := 1
	for i := range free {
		free[i] = units(at, 1+d.draw("size", 5))
		at = int(free[i].End()-ghostArena) / ghostUnit
		at += 3 * d.draw("touch", 2)
	}
	p := newGhostImage(t, at+9, free...)
	tree, err := freetree.Build(free)
	check(t, err)
	o := &other{tree: tree}
	what := "rebuild"
	switch k := d.draw("operation", 3); {
	case k == 0:
		o.rebuild(t)
	case k == 1 && n > 0:
		b := free[d.draw("which", n)]
		take := ghostUnit * int64(1+d.draw("how much", int(b.Size/ghostUnit)))
		what = fmt.Sprint("alloc of ", take, " from ", b)
		o.alloc(t, b, take)
	default:
		b := units(at+1, 1+d.draw("size", 7))
		what = fmt.Sprint("free of ", b)
		free = append(free, b)
		o.free(t, b)
	}
	for done, write := range o.writes {
		write(p)
		fn(fmt.Sprintf("seed %d, %s interrupted after %d of %d writes", seed, what, done+1, len(o.writes)), p.clone(), free)
	}
}

// covers says whether blocks, which are sorted and may touch, have all bytes of b.
func covers(blocks []freetree.Block, b freetree.Block) bool {
	at := b.Off
	for _, f := range blocks {
		if f.Off <= at && at < f.End() {
			at = f.End()
		}
	}
	return at >= b.End()
}

// keeps makes sure that none of the bytes of p that cannot be free are free now, or change in some operations. They are
// those of live regions.
func keeps(t rapid.TB, what string, disk *file.Crash, a *alloc.GhostTree, p ghostImage, free []freetree.Block) {
	t.Helper()
	for _, b := range freeOf(t, a) {
		if !covers(free, b) {
			t.Fatalf("%s: %v is free, which is not in %v", what, b, free)
		}
	}
	w := ghostWorld(disk)
	w.a = a
	d := newDice(uint64(len(p)))
	for range 20 {
		check(t, w.do(t, everything.op(d)))
	}
	sound(t, w.a)
	untouched(t, what+": live bytes", w.a, p, free)
	check(t, w.close())
}

// Whatever an interrupted change of another version has left is set right, in one unit, and loses what that one has
// lost, but nothing that is live.
func TestGhostTreeRebuild(t *testing.T) {
	repaired := 0
	for seed := range uint64(times(150, 3000)) {
		interrupted(t, seed, func(what string, p ghostImage, free []freetree.Block) {
			disk := p.disk(t)
			was := disk.Counts()
			a, err := openGhost(disk)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			rest(t, a.Stack())
			got := disk.Counts().Minus(was)
			if len(a.Repaired()) > 0 {
				repaired++
			}
			if (got.Ops > 0) != (len(a.Repaired()) > 0) || got.DataSyncs > 4 {
				t.Fatalf("%s: %+v, repaired %q", what, got, a.Repaired())
			}
			sound(t, a)
			if !slices.IsSortedFunc(free, func(a, b freetree.Block) int { return cmp.Compare(a.Off, b.Off) }) {
				t.Fatal("the test is wrong")
			}
			keeps(t, what, disk, a, p, free)
			a, _ = opensUntouched(t, disk)
			closeGhost(t, a)
		})
	}
	t.Logf("%d files were repaired", repaired)
	if repaired < 20 {
		t.Error("too few")
	}
}

// The power is cut at each call while a file is rebuilt, and again while it is opened after that.
func TestGhostTreeRebuildCrashes(t *testing.T) {
	tried := 0
	for seed := range uint64(times(25, 400)) {
		tries := 0
		interrupted(t, seed, func(what string, p ghostImage, _ []freetree.Block) {
			if tries == 1 || tried == times(6, 1000) {
				return
			}
			base := p.disk(t)
			whole := base.Clone()
			a := mustOpenGhost(t, whole)
			repaired := len(a.Repaired()) > 0
			want := mustPeek(t, a.Stack())
			closeGhost(t, a)
			if repaired {
				tries++
				tried++
				again := 0
				if tried == 1 || long() {
					again = 1
				}
				rebuildCrashes(t, what, base, want, again)
			}
		})
	}
}

func rebuildCrashes(t *testing.T, what string, base *file.Crash, want []byte, depth int) {
	t.Helper()
	for call := 1; ; call++ {
		disk := base.Clone()
		disk.CutAt(call)
		if a, err := openGhost(disk); err == nil {
			_ = a.Stack().Close() // the power may have gone after the rebuild was durable
		}
		if !disk.IsCut() {
			return
		}
		fates(disk, times(1, 6), func(fate string, left *file.Crash) {
			what := fmt.Sprintf("%s; cut at call %d of opening it, %s", what, call, fate)
			if depth > 0 {
				rebuildCrashes(t, what, left, want, depth-1)
			}
			a, err := openGhost(left)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			same(t, what, mustPeek(t, a.Stack()), want)
			sound(t, a)
			closeGhost(t, a)
		})
	}
}

// A rebuild that fails leaves a file that the next one can open, and no allocator.
func TestGhostTreeRebuildFails(t *testing.T) {
	p := newGhostImage(t, 30, units(1, 2), units(5, 3), units(9, 4), units(14, 5), units(20, 6))
	p.setRoot(p.node(p.root()).Left)
	p.edit(p.root(), func(m *freetree.Image) { m.Right = m.Off }) // a cycle
	whole := p.disk(t)
	a := mustOpenGhost(t, whole)
	if len(a.Repaired()) != 1 {
		t.Fatalf("repaired %q", a.Repaired())
	}
	want := mustPeek(t, a.Stack())
	closeGhost(t, a)
	for call := 1; ; call++ {
		disk := p.disk(t)
		fault := file.NewFault(disk)
		fault.FailAt(call)
		if a, err := openGhost(fault); err == nil {
			_ = a.Stack().Close() // may be what fails
		}
		if len(fault.Injected()) == 0 {
			return
		}
		a = mustOpenGhost(t, disk)
		same(t, fmt.Sprint("call ", call), mustPeek(t, a.Stack()), want)
		closeGhost(t, a)
	}
}
