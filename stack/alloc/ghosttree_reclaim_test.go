// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack/alloc"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// leaky is a file that has lost free space as interrupted changes of other versions lose it: some blocks are neither
// in the tree nor in the list of live regions. Some have zeros in them, and some old data.
func leaky(t *testing.T, seed uint64) (p ghostImage, live []alloc.Region, lost int64) {
	t.Helper()
	d := newDice(seed)
	var free []freetree.Block
	var zeros []freetree.Block
	at := 0
	for range d.draw("blocks", 60) {
		b := units(at, 1+d.draw("size", 6))
		at += int(b.Size / ghostUnit)
		switch d.draw("kind", 5) {
		case 0:
			free = append(free, b)
		case 1:
			zeros = append(zeros, b)
			lost += b.Size
		case 2:
			lost += b.Size
		default:
			live = append(live, alloc.Region{Off: b.Off, Len: b.Size - int64(d.draw("padding", ghostUnit))})
		}
	}
	p = newGhostImage(t, at, free...)
	for _, b := range zeros {
		clear(p[b.Off:b.End()])
	}
	for _, r := range live {
		clear(p[r.End() : r.Off+sizeOf(r.Len)])
	}
	return p, live, lost
}

// keepsRegions makes sure that regions have the bytes that they had.
func keepsRegions(t *testing.T, a *alloc.GhostTree, p ghostImage, live []alloc.Region) {
	t.Helper()
	after := mustPeek(t, a.Stack())
	for _, r := range live {
		same(t, "region "+r.String(), after[r.Off:r.End()], p[r.Off:r.End()])
	}
	same(t, "reserved bytes", after[:ghostMagicAt], p[:ghostMagicAt])
}

// What was lost comes back exactly, and once.
func TestGhostTreeReclaim(t *testing.T) {
	for seed := range uint64(times(300, 5000)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p, live, lost := leaky(t, seed)
			disk := p.disk(t)
			a := mustOpenGhost(t, disk)
			shuffled := append([]alloc.Region{{}}, live...)
			newDice(seed).r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			for i, want := range []int64{lost, 0} {
				n, err := a.Reclaim(shuffled)
				check(t, err)
				if n != want {
					t.Fatalf("call %d: %d bytes, want %d", i, n, want)
				}
				sound(t, a)
				accounted(t, a, live...)
				keepsRegions(t, a, p, live)
			}
			check(t, a.FreeBulk(live))
			accounted(t, a)
			sound(t, a)
			closeGhost(t, a)
			a, _ = opensUntouched(t, disk)
			accounted(t, a)
			closeGhost(t, a)
		})
	}
}

// The same from nothing but the list, when the tree is not to be trusted.
func TestRebuildGhostTree(t *testing.T) {
	for seed := range uint64(times(300, 5000)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p, live, _ := leaky(t, seed)
			d := newDice(seed)
			if p.root() > 0 {
				switch d.draw("damage", 4) {
				case 0:
					p.setRoot(p.root() + 8)
				case 1:
					p.setRoot(0)
				case 2:
					p.edit(p.root(), func(m *freetree.Image) { m.Size = math.MaxInt64 })
				}
			}
			odd := d.draw("odd", ghostUnit)
			if len(p) > ghostArena && (len(live) == 0 || live[len(live)-1].End() <= int64(len(p)-odd)) {
				p = p[:len(p)-odd]
			}
			disk := p.disk(t)
			s, err := openStack(disk)
			check(t, err)
			a, err := alloc.RebuildGhostTree(s, live)
			check(t, err)
			sound(t, a)
			accounted(t, a, live...)
			keepsRegions(t, a, p, live)
			closeGhost(t, a)
			a, _ = opensUntouched(t, disk)
			sound(t, a)
			accounted(t, a, live...)
			closeGhost(t, a)
		})
	}
}

// A list that cannot be right is refused, and nothing is touched.
func TestGhostTreeReclaimRefuses(t *testing.T) {
	p, free := victim(t)
	at := func(k int, n int64) alloc.Region { return alloc.Region{Off: units(k, 0).Off, Len: n} }
	for what, c := range map[string]struct {
		live    []alloc.Region
		want    error
		rebuild bool // refused without a tree as well
	}{
		"overlap":                  {[]alloc.Region{at(2+1, 40), at(3, 50)}, alloc.ErrNotAllocated, true},
		"the same twice":           {[]alloc.Region{at(3, 40), at(3, 40)}, alloc.ErrNotAllocated, true},
		"blocks overlap":           {[]alloc.Region{at(3, 33), at(4, 32)}, alloc.ErrNotAllocated, true},
		"free":                     {[]alloc.Region{at(0, 32), regionOf(free[2])}, alloc.ErrNotAllocated, false},
		"inside what is free":      {[]alloc.Region{at(10, 10)}, alloc.ErrNotAllocated, false},
		"up into what is free":     {[]alloc.Region{at(0, 33)}, alloc.ErrNotAllocated, false},
		"over what is free":        {[]alloc.Region{at(0, 10*ghostUnit)}, alloc.ErrNotAllocated, false},
		"not where blocks begin":   {[]alloc.Region{{Off: ghostArena + 8, Len: 8}}, alloc.ErrNotAllocated, true},
		"before the arena":         {[]alloc.Region{{Off: 0, Len: 32}}, alloc.ErrRange, true},
		"behind the end":           {[]alloc.Region{{Off: int64(len(p)), Len: 1}}, alloc.ErrRange, true},
		"beyond the end":           {[]alloc.Region{at(35, 33)}, alloc.ErrRange, true},
		"negative":                 {[]alloc.Region{{Off: ghostArena, Len: -32}}, alloc.ErrRange, true},
		"wild":                     {[]alloc.Region{{Off: ghostArena, Len: math.MaxInt64}}, alloc.ErrRange, true},
		"wild, where blocks begin": {[]alloc.Region{{Off: math.MaxInt64 - 15, Len: 15}}, alloc.ErrRange, true},
	} {
		t.Run(what, func(t *testing.T) {
			for _, missing := range []int{0, 5} {
				p := p[:len(p)-missing]
				if missing > 0 && !c.rebuild {
					continue
				}
				disk := p.disk(t)
				s, err := openStack(disk)
				check(t, err)
				if c.rebuild {
					was := disk.Counts()
					a, err := alloc.RebuildGhostTree(s, c.live)
					refused(t, "RebuildGhostTree", err, c.want)
					if a != nil || disk.Counts().Minus(was).Ops != 0 {
						t.Error("it has done something")
					}
					holds(t, s, p)
				}
				if missing == 0 {
					a, err := alloc.OpenGhostTree(s)
					check(t, err)
					was := disk.Counts()
					n, err := a.Reclaim(c.live)
					refused(t, "Reclaim", err, c.want)
					rest(t, s)
					if n != 0 || disk.Counts().Minus(was).Ops != 0 {
						t.Errorf("%d bytes and %+v", n, disk.Counts().Minus(was))
					}
					holds(t, s, p)
					sound(t, a)
				}
				check(t, s.Close())
			}
		})
	}
}

// A rebuild writes what it changes: where there is no free block, before and after, that is the length at most.
func TestRebuildGhostTreeCost(t *testing.T) {
	cut := file.Counts{Writes: 1, Truncates: 1, DataSyncs: 1}
	for what, c := range map[string]struct {
		free []freetree.Block
		live []alloc.Region
		want file.Counts
	}{
		"nothing is free":  {nil, []alloc.Region{regionOf(units(0, 400))}, file.Counts{}},
		"the end was lost": {nil, []alloc.Region{regionOf(units(0, 300))}, cut},
		"all was lost":     {nil, nil, cut},
		"what was free is not": {
			[]freetree.Block{units(7, 2)}, []alloc.Region{regionOf(units(0, 400))}, file.Counts{Writes: 1, DataSyncs: 1},
		},
	} {
		disk := newGhostImage(t, 400, c.free...).disk(t)
		s, err := openStack(disk)
		check(t, err)
		was := disk.Counts()
		a, err := alloc.RebuildGhostTree(s, c.live)
		check(t, err)
		rest(t, s)
		got := disk.Counts().Minus(was)
		got = file.Counts{Writes: got.Writes, Truncates: got.Truncates, DataSyncs: got.DataSyncs}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
		accounted(t, a, c.live...)
		closeGhost(t, a)
		a, _ = opensUntouched(t, disk)
		accounted(t, a, c.live...)
		closeGhost(t, a)
	}
}

func TestRebuildGhostTreeNeedsOne(t *testing.T) {
	for what, p := range map[string]ghostImage{
		"nothing":  {},
		"short":    make(ghostImage, 47),
		"no magic": make(ghostImage, 480),
	} {
		s, err := openStack(p.disk(t))
		check(t, err)
		_, err = alloc.RebuildGhostTree(s, nil)
		refused(t, what, err, alloc.ErrFormat)
		holds(t, s, p)
		check(t, s.Close())
	}
}

// The power is cut at each call of a reclaim, and of a rebuild: it has happened or it has not.
func TestGhostTreeReclaimCrashes(t *testing.T) {
	for seed := range uint64(times(8, 100)) {
		p, live, _ := leaky(t, seed)
		for what, reclaim := range map[string]func(fs file.FS) error{
			"reclaim": func(fs file.FS) error {
				a, err := openGhost(fs)
				if err != nil {
					return err
				}
				_, err = a.Reclaim(live)
				return errors.Join(err, a.Stack().Close())
			},
			"rebuild": func(fs file.FS) error {
				s, err := openStack(fs)
				if err != nil {
					return err
				}
				_, err = alloc.RebuildGhostTree(s, live)
				return errors.Join(err, s.Close())
			},
		} {
			whole := p.disk(t)
			check(t, reclaim(whole))
			want := payloadOf(t, whole)
			for call := 1; ; call++ {
				disk := p.disk(t)
				disk.CutAt(call)
				err := reclaim(disk)
				fates(disk, 4, func(fate string, left *file.Crash) {
					got := payloadOf(t, left)
					if err == nil || len(got) != len(p) || string(got) != string(p) {
						same(t, fmt.Sprintf("%s, seed %d, cut at call %d, %s", what, seed, call, fate), got, want)
					}
				})
				if !disk.IsCut() {
					break
				}
			}
		}
	}
}
