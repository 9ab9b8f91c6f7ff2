// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"errors"
	"fmt"
	"math/bits"
	"path/filepath"
	"testing"
	"time"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/internal/invariant"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// ghostScene is a file with many free blocks, behind which lie ten live regions of four units each, at the end of the
// file.
type ghostScene struct {
	a      *alloc.GhostTree
	live   [10]alloc.Region
	blocks int // free ones in the beginning
}

const sceneUnits = 4

// sceneImage has free blocks of many sizes from one to nineteen units.
func sceneImage(t testing.TB, blocks int) ghostImage {
	t.Helper()
	free := make([]freetree.Block, blocks)
	at := 1
	for i := range free {
		free[i] = units(at, 1+i*7919%19)
		at = int(free[i].End()-ghostArena)/ghostUnit + 1
	}
	return newGhostImage(t, at+10*sceneUnits, free...)
}

func newScene(t testing.TB, fs file.FS, blocks int) *ghostScene {
	t.Helper()
	sc := &ghostScene{a: mustOpenGhost(t, fs), blocks: blocks}
	end := sc.a.Stack().Len()
	for i := range sc.live {
		sc.live[i] = alloc.Region{Off: end - int64(10-i)*sceneUnits*ghostUnit, Len: sceneUnits * ghostUnit}
	}
	return sc
}

// height is that of an AVL tree of so many nodes at most.
func height(nodes int) int { return bits.Len(uint(nodes)) * 3 / 2 }

// ghostCost is what an operation may do to the file, beside nodes of the tree.
type ghostCost struct {
	bytes int64 // that it changes
	moved int64 // that it reads
	cut   int64 // cut off at the end while nodes change: then what lies between may have to be read and written anew
}

// ghostOps are operations in a scene, each after another one that prepares it.
var ghostOps = []struct {
	name    string
	prepare func(sc *ghostScene) error
	run     func(sc *ghostScene) error
	cost    ghostCost
}{
	{name: "alloc", run: allocs(40), cost: ghostCost{bytes: 64}},
	{name: "alloc exact", prepare: frees(1), run: allocs(128), cost: ghostCost{bytes: 128}},
	{name: "alloc at the end", run: allocs(64 << 10)},
	{name: "alloc uninit", run: func(sc *ghostScene) error {
		_, err := sc.a.AllocUninit(40)
		return err
	}, cost: ghostCost{bytes: 64}},
	{name: "free with no neighbour", run: frees(1), cost: ghostCost{bytes: 128}},
	{name: "free with left neighbour", prepare: frees(1), run: frees(2), cost: ghostCost{bytes: 128}},
	{name: "free with right neighbour", prepare: frees(2), run: frees(1), cost: ghostCost{bytes: 160}},
	{name: "free with both neighbours", prepare: frees(1, 3), run: frees(2), cost: ghostCost{bytes: 160}},
	{name: "free at the end", run: frees(9)},
	{name: "free at the end behind a free block", prepare: frees(8), run: frees(9), cost: ghostCost{cut: 256}},
	{name: "free before a free end", prepare: frees(8, 9), run: frees(7), cost: ghostCost{bytes: 160, cut: 384}},
	{name: "realloc within the block", run: reallocs(1, 100), cost: ghostCost{bytes: 28}},
	{name: "realloc shorter", run: reallocs(1, 30), cost: ghostCost{bytes: 130}},
	{name: "realloc into the right neighbour", prepare: frees(2), run: reallocs(1, 200), cost: ghostCost{bytes: 128}},
	{
		name:    "realloc over all of the right neighbour",
		prepare: frees(2),
		run:     reallocs(1, 256),
		cost:    ghostCost{bytes: 128},
	},
	{name: "realloc at the end", run: reallocs(9, 5000)},
	{name: "realloc that moves", run: reallocs(1, 1000), cost: ghostCost{bytes: 128 + 128, moved: 128}},
	{name: "resize both ends", prepare: frees(1), run: func(sc *ghostScene) error {
		_, err := sc.a.Resize(sc.live[2], 64, -40)
		return err
	}, cost: ghostCost{bytes: 128}},
	{name: "alloc bulk", run: func(sc *ghostScene) error {
		_, err := sc.a.AllocBulk([]int64{1, 2, 33, 40, 100, 7, 8, 9})
		return err
	}, cost: ghostCost{bytes: 8 * 128}},
	{
		name: "free bulk",
		run:  func(sc *ghostScene) error { return sc.a.FreeBulk(sc.live[1:9]) },
		cost: ghostCost{bytes: 8 * 128},
	},
	{name: "free bulk with gaps", prepare: frees(2, 4), run: func(sc *ghostScene) error {
		return sc.a.FreeBulk([]alloc.Region{sc.live[8], sc.live[6], sc.live[1], sc.live[3]})
	}, cost: ghostCost{bytes: 6 * 128}},
	{name: "batch of eight", run: func(sc *ghostScene) error {
		return sc.a.Update(func(b *alloc.Batch) (err error) {
			for i := range 4 {
				_, e := b.Alloc(int64(50 * (i + 1)))
				err = errors.Join(err, e, b.Free(sc.live[2*i]))
			}
			return err
		})
	}, cost: ghostCost{bytes: 4 * (128 + 256)}},
}

func allocs(n int64) func(*ghostScene) error {
	return func(sc *ghostScene) error {
		_, err := sc.a.Alloc(n)
		return err
	}
}

func frees(which ...int) func(*ghostScene) error {
	return func(sc *ghostScene) (err error) {
		for _, i := range which {
			err = errors.Join(err, sc.a.Free(sc.live[i]))
		}
		return err
	}
}

func reallocs(i int, n int64) func(*ghostScene) error {
	return func(sc *ghostScene) error {
		_, err := sc.a.Realloc(sc.live[i], n)
		return err
	}
}

// forSizes runs a test with few and with many free blocks.
func forSizes(t *testing.T, test func(t *testing.T, blocks int)) {
	t.Helper()
	for _, n := range []int{0, 255, 2000, 20000} {
		if n > 2000 && (invariant.Enabled || testing.Short()) {
			continue
		}
		t.Run(fmt.Sprint(n, " free blocks"), func(t *testing.T) { test(t, n) })
	}
}

// However many blocks are free, an operation takes four syncs at most, two of them before it is acknowledged, reads
// nothing of the tree, and writes what it changes and a few nodes.
func TestGhostTreeCounts(t *testing.T) {
	forSizes(t, func(t *testing.T, blocks int) {
		base := sceneImage(t, blocks).disk(t)
		for _, op := range ghostOps {
			t.Run(op.name, func(t *testing.T) {
				disk := base.Clone()
				fs, gate := file.NewGate(disk)
				sc := newScene(t, fs, blocks)
				if op.prepare != nil {
					check(t, op.prepare(sc))
				}
				rest(t, sc.a.Stack())
				was := disk.Counts()
				gate.Shut(2)
				late := time.AfterFunc(time.Minute, gate.Open) // so that one that waits for a third fails, and does not hang
				check(t, op.run(sc))
				acked := disk.Counts().DataSyncs - was.DataSyncs
				late.Stop()
				gate.Open()
				rest(t, sc.a.Stack())
				got := disk.Counts().Minus(was)
				if acked > 2 || got.DataSyncs > 4 {
					t.Errorf("%d syncs, %d of them before it was acknowledged", got.DataSyncs, acked)
				}
				op.cost.check(t, got, blocks)
				sound(t, sc.a)
				closeGhost(t, sc.a)
			})
		}
	})
}

func (c ghostCost) check(t *testing.T, got file.Counts, blocks int) {
	t.Helper()
	const (
		node   = freetree.NodeSize
		record = 24 // of the stack's header
		head   = 16 // of a piece in its journal
		tail   = 4 << 10
	)
	nodes := int64(4*height(blocks+8) + 8)
	changed := c.bytes + node*nodes
	reads, readBytes := 1, int64(blockSize) // what one write inside an atomic block replaces
	if c.cut > 0 {
		readBytes = max(tail, 2*c.cut)
		changed += readBytes
	}
	if c.moved > 0 {
		reads, readBytes = 1, c.moved
	}
	oneBlock := got.Writes == 1 && got.DataSyncs == 1 && got.Truncates == 0
	if !oneBlock && c.cut == 0 && c.moved == 0 {
		reads, readBytes = 0, 0
	}
	if got.Reads > reads || got.ReadBytes > readBytes {
		t.Errorf("%d reads of %d bytes, at most %d of %d", got.Reads, got.ReadBytes, reads, readBytes)
	}
	if most := 2*changed + head*nodes + 2*record; got.WriteBytes > most {
		t.Errorf("%d bytes written, at most %d", got.WriteBytes, most)
	}
	if most := int(
		nodes,
	) + 8; got.Writes > most || got.Truncates > 2 ||
		got.Syncs+got.DirSyncs+got.Creates+got.Renames > 0 {
		t.Errorf("%d writes, at most %d; %+v", got.Writes, most, got)
	}
}

// The bounds above leave room for rotations. In the long run an operation writes two nodes or three.
func TestGhostTreeWritesOnAverage(t *testing.T) {
	forSizes(t, func(t *testing.T, blocks int) {
		disk := sceneImage(t, blocks).disk(t)
		w := ghostWorld(disk)
		w.blind, w.opts.NoSync = true, true
		check(t, w.open())
		churn := habit{weights: [verbs]int{doAlloc: 50, doFree: 50}, most: 600}
		d := newDice(uint64(blocks))
		const ops = 2000
		was := disk.Counts()
		for range ops {
			check(t, w.do(t, churn.op(d)))
		}
		got := disk.Counts().Minus(was)
		perOp := float64(got.WriteBytes) / ops
		t.Logf("%.0f bytes in %.1f writes for each of %d operations", perOp, float64(got.Writes)/ops, ops)
		if perOp > 2*600 {
			t.Errorf("%.0f bytes written for each operation", perOp)
		}
		sound(t, w.a)
		check(t, w.close())
	})
}

// Operations take no heap memory, and those on bytes of a region neither.
func TestGhostTreeAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("self-checks take memory")
	}
	for _, noSync := range []bool{true, false} {
		t.Run(fmt.Sprint("no sync ", noSync), func(t *testing.T) {
			s, err := stack.Open(filepath.Join(t.TempDir(), name), &stack.Options{NoSync: noSync})
			check(t, err)
			a, err := alloc.OpenGhostTree(s)
			check(t, err)
			g := &steady{a: a}
			check(t, g.prepare())
			runs := 20
			if noSync {
				runs = 1000
			}
			for name, op := range map[string]func() error{
				"alloc and free":            g.allocFree,
				"alloc and free at the end": g.tail,
				"free with neighbours":      g.merge,
				"realloc in place":          g.realloc,
				"resize":                    g.resize,
				"read":                      g.read,
				"write":                     g.write,
			} {
				t.Run(name, func(t *testing.T) {
					for range 2 * runs {
						check(t, op())
					}
					if got := testing.AllocsPerRun(runs, func() { err = errors.Join(err, op()) }); got != 0 || err != nil {
						t.Errorf("%v allocations, %v", got, err)
					}
				})
			}
			sound(t, a)
			closeGhost(t, a)
		})
	}
}

// steady does operations that end where they began.
type steady struct {
	a    *alloc.GhostTree
	live []alloc.Region
	view alloc.View
	buf  [100]byte
	n    int
}

func (g *steady) prepare() error {
	for i := range 600 {
		r, err := g.a.AllocUninit(int64(32 + i%7*32))
		if err != nil {
			return err
		}
		g.live = append(g.live, r)
	}
	for i := 0; i < len(g.live); i += 3 {
		if err := g.a.Free(g.live[i]); err != nil {
			return err
		}
	}
	g.view = g.a.View(g.live[5])
	return nil
}

func (g *steady) allocFree() error {
	g.n++
	r, err := g.a.Alloc(int64(1 + g.n*37%200))
	if err != nil {
		return err
	}
	return g.a.Free(r)
}

func (g *steady) tail() error {
	r, err := g.a.Alloc(5000)
	if err != nil {
		return err
	}
	return g.a.Free(r)
}

func (g *steady) merge() error {
	g.n++
	i := 3*(1+g.n%150) + 1 // has a free block in front
	n := g.live[i].Len
	if err := g.a.Free(g.live[i]); err != nil {
		return err
	}
	r, err := g.a.Alloc(n)
	g.live[i] = r
	return err
}

func (g *steady) realloc() error {
	r, err := g.a.Realloc(g.live[2], g.live[2].Len+40) // there is room behind it
	if err != nil {
		return err
	}
	g.live[2], err = g.a.Realloc(r, r.Len-40)
	return err
}

func (g *steady) resize() error {
	r, err := g.a.Resize(g.live[4], 0, -20)
	if err != nil {
		return err
	}
	g.live[4], err = g.a.Resize(r, 0, 20)
	return err
}

func (g *steady) read() error {
	_, err := g.view.ReadAt(g.buf[:], 3)
	return err
}

func (g *steady) write() error {
	g.buf[0]++
	_, err := g.view.WriteAt(g.buf[:], 3)
	return err
}
