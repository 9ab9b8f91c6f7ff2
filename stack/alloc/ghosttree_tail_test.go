// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/internal/invariant"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// endsWith makes sure that nothing is free at the end of the payload, or something is.
func endsWith(t *testing.T, a *alloc.GhostTree, free bool) {
	t.Helper()
	spans, err := a.Layout()
	check(t, err)
	if last := spans[len(spans)-1]; (last.Kind == alloc.Free) != free {
		t.Fatalf("the last span is %+v", last)
	}
}

// In whatever order everything is freed: nothing is left, not even free space, and the file is as it was in the
// beginning.
func TestGhostTreeFreesEverything(t *testing.T) {
	for seed := range uint64(times(60, 1000)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			disk := newDisk()
			a := mustOpenGhost(t, disk)
			fresh := mustPeek(t, a.Stack())
			d := newDice(seed)
			var live []alloc.Region
			for range 1 + d.draw("regions", 60) {
				r, err := a.Alloc(int64(1 + d.draw("length", 300)))
				check(t, err)
				live = append(live, r)
			}
			switch seed % 4 {
			case 0:
				slices.Reverse(live)
			case 1, 2:
				d.r.Shuffle(len(live), func(i, j int) { live[i], live[j] = live[j], live[i] })
			}
			if seed%4 == 2 {
				check(t, a.FreeBulk(live[:len(live)/2]))
				sound(t, a)
				live = live[len(live)/2:]
			}
			for _, r := range live {
				check(t, a.Free(r))
				sound(t, a)
			}
			holds(t, a.Stack(), fresh)
			closeGhost(t, a)
		})
	}
}

// What is free at the end is cut off when little has to be written for that: when no node changes, or those that
// change are near, or when what is cut off is large enough to be worth it. Otherwise it is kept, used again, and cut
// by Trim.
func TestGhostTreeTailPolicy(t *testing.T) {
	const blocks = 2000 // some 700 KB
	base := sceneImage(t, blocks).disk(t)
	open := func(t *testing.T) (*ghostScene, *file.Crash) {
		disk := base.Clone()
		return newScene(t, disk, blocks), disk
	}
	t.Run("nothing free in front", func(t *testing.T) {
		sc, _ := open(t)
		for _, r := range slices.Backward(sc.live[:]) {
			was := sc.a.Stack().Len()
			check(t, sc.a.Free(r))
			if was-sc.a.Stack().Len() < r.Len {
				t.Fatalf("the payload has %d bytes, before %d", sc.a.Stack().Len(), was)
			}
		}
		closeGhost(t, sc.a)
	})
	t.Run("kept, used and trimmed", func(t *testing.T) {
		sc, disk := open(t)
		was := sc.a.Stack().Len()
		check(t, frees(8, 9)(sc))
		if sc.a.Stack().Len() != was {
			t.Fatal("it was cheap after all: the test needs another scene")
		}
		endsWith(t, sc.a, true)
		r, err := sc.a.Alloc(sc.live[8].Len + sc.live[9].Len + 1000) // takes it, and more
		check(t, err)
		if r.Off != sc.live[8].Off {
			t.Errorf("%v was allocated, not from %d", r, sc.live[8].Off)
		}
		got, err := sc.a.View(r).Bytes()
		check(t, err)
		same(t, "what was allocated", got, make([]byte, r.Len))
		sound(t, sc.a)
		endsWith(t, sc.a, false)
		check(t, sc.a.Free(r))
		check(t, frees(6, 7)(sc))
		endsWith(t, sc.a, true)
		sound(t, sc.a)
		tail := freeOf(t, sc.a)
		n, err := sc.a.Trim()
		check(t, err)
		if want := tail[len(tail)-1].Size; n != want || sc.a.Stack().Len() != sc.live[6].Off {
			t.Errorf("Trim cut %d bytes, want %d; %d are left", n, want, sc.a.Stack().Len())
		}
		endsWith(t, sc.a, false)
		sound(t, sc.a)
		rest(t, sc.a.Stack())
		before := disk.Counts()
		if n, err := sc.a.Trim(); n != 0 || err != nil || disk.Counts().Minus(before).Ops != 0 {
			t.Errorf("Trim again cut %d bytes, %v", n, err)
		}
		closeGhost(t, sc.a)
		a, _ := opensUntouched(t, disk)
		sound(t, a)
		closeGhost(t, a)
	})
	t.Run("large enough", func(t *testing.T) {
		sc, disk := open(t)
		small, err := sc.a.Alloc(64 << 10)
		check(t, err)
		large, err := sc.a.Alloc(sc.a.Stack().Len())
		check(t, err)
		check(t, sc.a.Free(small))
		rest(t, sc.a.Stack())
		was := disk.Counts()
		check(t, sc.a.Free(large))
		rest(t, sc.a.Stack())
		if sc.a.Stack().Len() != small.Off {
			t.Errorf("%d bytes are left, want %d", sc.a.Stack().Len(), small.Off)
		}
		if got := disk.Counts().Minus(was); got.WriteBytes > 2*2*(large.Len+small.Len)+1000 {
			t.Errorf("%+v to cut %d bytes", got, large.Len)
		}
		sound(t, sc.a)
		closeGhost(t, sc.a)
	})
	t.Run("with others in one unit", func(t *testing.T) {
		sc, disk := open(t)
		live := sc.live
		rest(t, sc.a.Stack())
		was := disk.Counts()
		check(t, sc.a.Update(func(b *alloc.Batch) error {
			if err := b.Free(alloc.Region{Off: ghostArena, Len: ghostUnit}); err != nil { // the first of all
				return err
			}
			return b.Free(live[9])
		}))
		check(t, sc.a.FreeBulk([]alloc.Region{live[8], {Off: freeOf(t, sc.a)[0].End(), Len: ghostUnit}}))
		rest(t, sc.a.Stack())
		if got := disk.Counts().Minus(was); got.WriteBytes > 16<<10 {
			t.Errorf("%+v for freeing two regions, twice", got)
		}
		sound(t, sc.a)
		closeGhost(t, sc.a)
	})
}

// After long use the file is not much longer than what lives in it.
func TestGhostTreeChurn(t *testing.T) {
	ops := 100_000
	switch {
	case long():
		ops = 1_000_000
	case invariant.Enabled: // which looks at the whole tree after each
		ops = 8000
	}
	for _, steady := range []int{2000, 256} {
		t.Run(fmt.Sprint(steady, " regions"), func(t *testing.T) {
			const seed = 48
			s, err := stack.Open(name, &stack.Options{FS: file.NewMemory(), NoSync: true})
			check(t, err)
			a, err := alloc.OpenGhostTree(s)
			check(t, err)
			c := &churn{a: a, d: newDice(seed), steady: steady}
			sum, worst := 0.0, 0.0
			for i := range ops {
				check(t, c.step())
				if i >= ops/2 {
					sum += c.ratio()
					worst = max(worst, c.ratio())
				}
			}
			average := sum / float64(ops-ops/2)
			sound(t, a)
			accounted(t, a, c.live...)
			stats, err := a.Stats()
			check(t, err)
			t.Logf(
				"seed %d: the payload has %.3f times the live bytes, on average %.3f, at worst %.3f; %d free blocks, "+
					"fragmentation %.2f",
				seed,
				c.ratio(),
				average,
				worst,
				stats.FreeBlocks,
				stats.Fragmentation(),
			)
			if c.ratio() > 1.3 || average > 1.3 {
				t.Errorf("%.3f times the live bytes, on average %.3f", c.ratio(), average)
			}
			for _, r := range c.live {
				check(t, a.Free(r))
			}
			if s.Len() != ghostArena {
				t.Errorf("%d bytes are left", s.Len())
			}
			closeGhost(t, a)
		})
	}
}

// churn allocates, frees and reallocates at random, so that there is always the same number of live regions, or one
// less.
type churn struct {
	a      *alloc.GhostTree
	d      dice
	steady int
	live   []alloc.Region
	bytes  int64
}

func (c *churn) length() int64 { return int64(1 + c.d.draw("length", 1024)) }

func (c *churn) step() error {
	n := len(c.live)
	switch k := c.d.draw("operation", 3); {
	case n < c.steady:
		r, err := c.a.Alloc(c.length())
		c.live = append(c.live, r)
		c.bytes += r.Len
		return err
	case k > 0: // the next one allocates
		i := c.d.draw("which", n)
		r := c.live[i]
		c.live[i] = c.live[n-1]
		c.live = c.live[:n-1]
		c.bytes -= r.Len
		return c.a.Free(r)
	default:
		i := c.d.draw("which", n)
		was := c.live[i]
		r, err := c.a.Realloc(was, c.length())
		c.live[i] = r
		c.bytes += r.Len - was.Len
		return err
	}
}

func (c *churn) ratio() float64 { return float64(c.a.Stack().Len()) / float64(c.bytes) }

// The order of the tree is that of sizes after any number of merges: the smallest block that is large enough is
// found, and of those the first.
func TestGhostTreeBestFit(t *testing.T) {
	s, err := stack.Open(name, &stack.Options{FS: file.NewMemory(), NoSync: true})
	check(t, err)
	a, err := alloc.OpenGhostTree(s)
	check(t, err)
	c := &churn{a: a, d: newDice(3), steady: 150}
	for range 1000 {
		check(t, c.step())
	}
	for range times(1000, 20000) {
		check(t, c.step())
		n := c.length()
		var best freetree.Block
		for _, b := range freeOf(t, a) {
			if b.Size >= sizeOf(n) && (best.Size == 0 || b.Size < best.Size) {
				best = b
			}
		}
		want := best.End() - sizeOf(n)
		if best.Size == 0 {
			want = s.Len()
			if free := freeOf(t, a); len(free) > 0 && free[len(free)-1].End() == want {
				want = free[len(free)-1].Off
			}
		}
		r, err := a.Alloc(n)
		check(t, err)
		if r.Off != want {
			t.Fatalf("%v was allocated, want from %d, of %v", r, want, best)
		}
		check(t, a.Free(r))
	}
	sound(t, a)
	closeGhost(t, a)
}
