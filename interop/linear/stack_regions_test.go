// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package linear

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/holtdb/holt/stack/alloc"
)

// A deal gives regions back and takes others for them, at once.
type deal struct {
	back  []alloc.Region
	sizes []int64 // of the regions that are taken
}

// live is the state of an allocator as far as its users see it: the regions that are out, as lines of text.
type live string

func (l live) regions() (all []alloc.Region) {
	for line := range strings.Lines(string(l)) {
		var r alloc.Region
		if _, err := fmt.Sscan(line, &r.Off, &r.Len); err != nil {
			panic(err)
		}
		all = append(all, r)
	}
	return all
}

// with adds regions. It says whether they are apart from each other, from those that are out, and from the first bytes.
func (l live) with(got []alloc.Region, first int64) (live, bool) {
	all := append(l.regions(), got...)
	slices.SortFunc(all, func(a, b alloc.Region) int { return int(a.Off - b.Off) })
	var text strings.Builder
	for _, r := range all {
		if r.Off < first {
			return "", false
		}
		first = r.End()
		fmt.Fprintln(&text, r.Off, r.Len)
	}
	return live(text.String()), true
}

// without takes regions away, and says whether they were all out.
func (l live) without(back []alloc.Region) (live, bool) {
	for _, r := range back {
		line := fmt.Sprintln(r.Off, r.Len)
		if !strings.Contains("\n"+string(l), "\n"+line) {
			return "", false
		}
		l = live(strings.TrimPrefix(strings.Replace("\n"+string(l), "\n"+line, "\n", 1), "\n"))
	}
	return l, true
}

// regionsModel has the regions of a GhostTree, the first bytes of which are its own.
var regionsModel = porcupine.Model{
	Init: func() any { return live("") },
	Step: func(st, in, out any) (bool, any) {
		l, ok := st.(live).without(in.(deal).back)
		if ok {
			l, ok = l.with(out.(taken).regions, 48)
		}
		return ok, l
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v -> %v", in, out.(taken).regions) },
	DescribeState:     func(s any) string { return fmt.Sprintf("%q", s) },
}

// taken is what a deal gave, and what is held after it.
type taken struct{ regions, held []alloc.Region }

// TestGhostTree has goroutines allocate and free. No two of them ever hold the same byte.
func TestGhostTree(t *testing.T) {
	for name, kind := range stackKinds {
		for _, n := range []int{2, 4, 16} {
			t.Run(fmt.Sprint(name, "/", n), func(t *testing.T) {
				for round := range *rounds {
					seed := *seed + uint64(round)
					g, err := alloc.OpenGhostTree(openStack(t, kind, seed))
					if err != nil {
						t.Fatal(err)
					}
					ops := together(t, n, 160/n, seed, func(r *rand.Rand, last any) (any, func() (any, error)) {
						d, held := drawDeal(r, last)
						return d, func() (any, error) { return makeDeal(g, d, held, byte(r.IntN(256))) }
					})
					verifyLinear(t, regionsModel, ops, seed)
					for err := range g.Check() {
						t.Errorf("-seed %d: %v", seed, err)
					}
					if err := g.Stack().Close(); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}

// drawDeal draws what to give back of what is held, which is the rest, and what to take.
func drawDeal(r *rand.Rand, last any) (d deal, held []alloc.Region) {
	if last != nil {
		held = last.(taken).held
	}
	for range r.IntN(3) {
		if len(held) > 0 {
			i := r.IntN(len(held))
			d.back = append(d.back, held[i])
			held = slices.Delete(slices.Clone(held), i, i+1)
		}
	}
	for range r.IntN(3) {
		if len(held)+len(d.sizes) < 6 {
			d.sizes = append(d.sizes, 1+r.Int64N(200))
		}
	}
	return d, held
}

// makeDeal makes a deal, in the way that suits it. What is taken is filled, and what is given back has to be what was
// filled in.
func makeDeal(g *alloc.GhostTree, d deal, held []alloc.Region, v byte) (out taken, err error) {
	for _, r := range d.back {
		p, err := g.View(r).Bytes()
		if err != nil || !bytes.Equal(p, bytes.Repeat(p[:1], len(p))) {
			return out, fmt.Errorf("somebody wrote into %v: %x, %w", r, p, err)
		}
	}
	switch {
	case len(d.sizes) == 0:
		err = g.FreeBulk(d.back)
	case len(d.back) == 0:
		out.regions, err = g.AllocBulk(d.sizes)
	case len(d.back) == 1 && len(d.sizes) == 1:
		var r alloc.Region
		r, err = g.Realloc(d.back[0], d.sizes[0])
		out.regions = []alloc.Region{r}
	default:
		err = g.Update(func(b *alloc.Batch) error {
			if err := b.FreeBulk(d.back); err != nil {
				return err
			}
			out.regions, err = b.AllocBulk(d.sizes)
			return err
		})
	}
	if err != nil {
		return out, err
	}
	for _, r := range out.regions {
		if _, err := g.View(r).WriteAt(bytes.Repeat([]byte{v}, int(r.Len)), 0); err != nil {
			return out, err
		}
	}
	out.held = slices.Concat(held, out.regions)
	return out, nil
}

// TestRegionsModel has histories that no allocator has.
func TestRegionsModel(t *testing.T) {
	took := func(rs ...alloc.Region) taken { return taken{regions: rs} }
	a, b := alloc.Region{Off: 48, Len: 40}, alloc.Region{Off: 80, Len: 10}
	for name, ops := range map[string][]porcupine.Operation{
		"regions that overlap": {
			{ClientId: 0, Input: deal{}, Output: took(a), Call: 0, Return: 10},
			{ClientId: 1, Input: deal{}, Output: took(b), Call: 0, Return: 10},
		},
		"a region that was not free yet": {
			{ClientId: 0, Input: deal{}, Output: took(a), Call: 0, Return: 1},
			{ClientId: 1, Input: deal{}, Output: took(b), Call: 2, Return: 3},
			{ClientId: 0, Input: deal{back: []alloc.Region{a}}, Output: took(), Call: 4, Return: 5},
		},
		"a region given back twice": {
			{ClientId: 0, Input: deal{}, Output: took(a), Call: 0, Return: 1},
			{ClientId: 0, Input: deal{back: []alloc.Region{a}}, Output: took(), Call: 2, Return: 3},
			{ClientId: 0, Input: deal{back: []alloc.Region{a}}, Output: took(), Call: 4, Return: 5},
		},
		"bytes of the allocator": {
			{ClientId: 0, Input: deal{}, Output: took(alloc.Region{Off: 47, Len: 1}), Call: 0, Return: 1},
		},
	} {
		if porcupine.CheckOperations(regionsModel, ops) {
			t.Errorf("%s: nothing is wrong with that", name)
		}
	}
	handedOver := []porcupine.Operation{
		{ClientId: 0, Input: deal{}, Output: took(a), Call: 0, Return: 1},
		{ClientId: 0, Input: deal{back: []alloc.Region{a}}, Output: took(), Call: 2, Return: 5},
		{ClientId: 1, Input: deal{}, Output: took(b), Call: 3, Return: 4},
	}
	if !porcupine.CheckOperations(regionsModel, handedOver) {
		t.Error("a region that is handed over while it is given back")
	}
}
