// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// outcome is what became of a damaged file.
type outcome int

const (
	isRefused  outcome = iota // with an error that says where
	isRepaired                // and said so
	isSame                    // opens as if nothing were wrong
	isSilent                  // opens, and live bytes are taken for free
)

func (o outcome) String() string { return [...]string{"refused", "repaired", "same", "silent"}[o] }

// opensDamaged opens a damaged file, of which these blocks were free before. It must not panic, nor hand out what is
// live: unless it took live bytes for free ones, which is then for look to judge, that is called with what is open in
// the end.
func opensDamaged(
	t *testing.T, what string, p ghostImage, free []freetree.Block, look func(o outcome, a *alloc.GhostTree),
) outcome {
	t.Helper()
	disk := p.disk(t)
	a, err := openGhost(disk)
	if err != nil {
		e, ok := errors.AsType[*stack.CorruptError](err)
		if !ok && !errors.Is(err, alloc.ErrFormat) {
			t.Fatalf("%s: %v", what, err)
		}
		if ok && (e.Path != name || e.Reason == "" || e.Off < headerSize || e.Off >= headerSize+int64(len(p))) {
			t.Fatalf("%s: %+v", what, e)
		}
		same(t, what+": the file that was refused", raw(t, disk)[headerSize:], p)
		return isRefused
	}
	result := isSame
	if len(a.Repaired()) > 0 {
		result = isRepaired
	}
	if slices.ContainsFunc(freeOf(t, a), func(b freetree.Block) bool { return !covers(free, b) }) {
		result = isSilent
	} else {
		keepsInUse(t, what, a, p, free)
	}
	if look != nil {
		look(result, a)
	}
	closeGhost(t, a)
	return result
}

// keepsInUse allocates and frees for a while, and makes sure that nothing is written to what was live.
func keepsInUse(t *testing.T, what string, a *alloc.GhostTree, p ghostImage, free []freetree.Block) {
	t.Helper()
	var rs []alloc.Region
	for i := range 12 {
		r, err := a.Alloc(int64(20 + 30*(i%5)))
		check(t, err)
		_, err = a.View(r).WriteAt(text(int(r.Len), 9), 0)
		check(t, err)
		if rs = append(rs, r); i%3 == 2 {
			check(t, a.Free(rs[i/3]))
		}
	}
	untouched(t, what+": live bytes", a, p, free)
}

// checkFinds says whether Check finds something.
func checkFinds(a *alloc.GhostTree) bool {
	found := false
	for err := range a.Check() {
		found = found || err != nil
	}
	return found
}

// victim is a file with a tree of three levels, and live regions in between.
func victim(t *testing.T) (ghostImage, []freetree.Block) {
	t.Helper()
	free := []freetree.Block{units(1, 2), units(5, 1), units(9, 4), units(15, 2), units(20, 3), units(25, 1), units(28, 5)}
	return newGhostImage(t, 36, free...), free
}

// Every bit of a file is flipped. A node's size is the one thing whose damage can make live bytes free, if the tree
// stays in order: nothing but the free bytes themselves tell, and reading them all is for Check.
func TestGhostTreeBitFlips(t *testing.T) {
	p, free := victim(t)
	counts := map[outcome]int{}
	for at := range len(p) {
		inFree := slices.IndexFunc(free, func(b freetree.Block) bool { return b.Off <= int64(at) && int64(at) < b.End() })
		data := at < ghostMagicAt || inFree < 0 && at >= ghostArena
		for bit := range 8 {
			if data && bit != at%8 {
				continue
			}
			what := fmt.Sprintf("byte %d, bit %d", at, bit)
			damaged := p.clone()
			damaged[at] ^= 1 << bit
			result := opensDamaged(t, what, damaged, free, func(o outcome, a *alloc.GhostTree) {
				if o == isSilent && !checkFinds(a) {
					t.Errorf("%s: live bytes are free, and Check says nothing", what)
				}
			})
			counts[result]++
			switch inSize := inFree >= 0 && int64(at) < free[inFree].Off+8; {
			case data && result != isSame:
				t.Errorf("%s, data of the program: %v", what, result)
			case at >= ghostMagicAt && at < ghostMagicAt+6 && result != isRefused:
				t.Errorf("%s, magic: %v", what, result)
			case result == isSilent && !inSize:
				t.Errorf("%s: live bytes are free", what)
			}
		}
	}
	t.Logf("%v", counts)
}

// Bytes behind a node that are not zero are found by Check, where they are.
func TestGhostTreeCheckZeros(t *testing.T) {
	p, free := victim(t)
	for _, b := range free {
		for at := b.Off + freetree.NodeSize; at < b.End(); at += 7 {
			damaged := p.clone()
			damaged[at] = 1
			a := mustOpenGhost(t, damaged.disk(t))
			found := slices.Collect(a.Check())
			if len(found) != 1 {
				t.Fatalf("%v", found)
			}
			damagedAt(t, found[0], at)
			closeGhost(t, a)
		}
	}
}

// Every pointer of a tree is made one to every place where a block could begin, also to live regions that look like
// free blocks. If there are bytes behind what looks like a node, Check finds them at least; if it looks like a whole
// free block, then nobody can tell.
func TestGhostTreeRedirectedPointers(t *testing.T) {
	for _, looks := range []struct {
		name string
		as   func(p ghostImage, live freetree.Block)
	}{
		{"text", func(ghostImage, freetree.Block) {}},
		{"zeros", func(p ghostImage, live freetree.Block) { clear(p[live.Off:live.End()]) }},
		{"nodes with bytes behind", func(p ghostImage, live freetree.Block) {
			for at := live.Off; at < live.End()-ghostUnit; at += ghostUnit {
				p.setNode(freetree.Image{Block: freetree.Block{Off: at, Size: live.End() - at}})
			}
		}},
		{"nodes of one unit", func(p ghostImage, live freetree.Block) {
			for at := live.Off; at < live.End(); at += ghostUnit {
				p.setNode(freetree.Image{Block: freetree.Block{Off: at, Size: ghostUnit}})
			}
		}},
		{"nodes that lead back", func(p ghostImage, live freetree.Block) {
			for at := live.Off; at < live.End(); at += ghostUnit {
				b := freetree.Block{Off: at, Size: 2 * ghostUnit}
				p.setNode(freetree.Image{Block: b, Left: p.root(), Right: at, LeftHeight: 9})
			}
		}},
		{"free blocks", func(p ghostImage, live freetree.Block) {
			clear(p[live.Off:live.End()])
			p.setNode(freetree.Image{Block: live})
		}},
	} {
		t.Run(looks.name, func(t *testing.T) {
			p, free := victim(t)
			at := int64(ghostArena)
			for _, b := range append(slices.Clone(free), freetree.Block{Off: int64(len(p))}) {
				looks.as(p, freetree.Block{Off: at, Size: b.Off - at})
				at = b.End()
			}
			pointers := []int{ghostRootAt}
			for _, b := range free {
				pointers = append(pointers, int(b.Off)+16, int(b.Off)+24)
			}
			counts := map[outcome]int{}
			for _, pointer := range pointers {
				for to := int64(ghostArena); to <= int64(len(p)); to += ghostUnit {
					what := fmt.Sprintf("%s: the pointer at %d to %d", looks.name, pointer, to)
					damaged := p.clone()
					copy(damaged[pointer:], le64(to))
					counts[opensDamaged(t, what, damaged, free, func(o outcome, a *alloc.GhostTree) {
						switch {
						case o != isSilent:
						case looks.name == "nodes of one unit" || looks.name == "free blocks": // nobody can tell
						case looks.name == "nodes with bytes behind" && checkFinds(a):
						default:
							t.Errorf("%s: live bytes are free: %v", what, freeOf(t, a))
						}
					})]++
				}
			}
			t.Logf("%v", counts)
			if counts[isRefused]+counts[isRepaired] == 0 {
				t.Error("nothing was found")
			}
		})
	}
}

func le64(n int64) []byte {
	b := alloc.Region{Off: n}.Bytes()
	return b[:8]
}

// Damage that no interrupted change can have left is refused, and located.
func TestGhostTreeDamage(t *testing.T) {
	_, free := victim(t)
	top, leaf, large := units(20, 0).Off, units(5, 0).Off, units(28, 0).Off
	edit := func(off int64, change func(m *freetree.Image)) func(p ghostImage) {
		return func(p ghostImage) { p.edit(off, change) }
	}
	sized := func(off, size int64) func(p ghostImage) { return edit(off, func(m *freetree.Image) { m.Size = size }) }
	for name, c := range map[string]struct {
		damage func(p ghostImage)
		off    int64
	}{
		"root before the arena":  {func(p ghostImage) { p.setRoot(16) }, ghostRootAt},
		"root not aligned":       {func(p ghostImage) { p.setRoot(top + 8) }, ghostRootAt},
		"root behind the end":    {func(p ghostImage) { p.setRoot(int64(len(p))) }, ghostRootAt},
		"root negative":          {func(p ghostImage) { p.setRoot(math.MinInt64 + ghostArena) }, ghostRootAt},
		"root in text":           {func(p ghostImage) { p.setRoot(units(3, 0).Off) }, units(3, 0).Off},
		"child not aligned":      {edit(leaf, func(m *freetree.Image) { m.Left = top + 1 }), leaf},
		"child behind the end":   {edit(leaf, func(m *freetree.Image) { m.Right = 1 << 50 }), leaf},
		"child negative":         {edit(leaf, func(m *freetree.Image) { m.Left = -16 }), leaf},
		"child in text":          {edit(leaf, func(m *freetree.Image) { m.Left = units(7, 0).Off }), units(7, 0).Off},
		"no size":                {func(p ghostImage) { p.edit(p.root(), func(m *freetree.Image) { m.Size = 0 }) }, 0},
		"size not of whole unit": {sized(leaf, 33), leaf},
		"size below a unit":      {sized(leaf, 31), leaf},
		"size negative":          {sized(leaf, -32), leaf},
		"size of everything":     {sized(large, math.MaxInt64-31), large},
		"size beyond 2^63":       {sized(large, math.MinInt64), large},
		"size behind the end":    {sized(large, 9*ghostUnit), large},
		"blocks overlap":         {sized(large-3*ghostUnit, 4*ghostUnit), large},
		"blocks in one":          {sized(units(9, 0).Off, 9*ghostUnit), units(15, 0).Off},
		"cycle over text": {func(p ghostImage) {
			p.edit(leaf, func(m *freetree.Image) { m.Right = p.root() })
			p[units(20, 0).Off+40] = 1
		}, units(20, 0).Off + 40},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := victim(t)
			if c.off == 0 {
				c.off = p.root()
			}
			c.damage(p)
			disk := p.disk(t)
			_, err := openGhost(disk)
			damagedAt(t, err, c.off)
			same(t, "the file that was refused", raw(t, disk)[headerSize:], p)
			if result := opensDamaged(t, name, p, free, nil); result != isRefused {
				t.Errorf("%v the next time", result)
			}
		})
	}
}

// A payload full of what looks like nodes costs time and memory in proportion to its length, whatever they say.
func TestGhostTreeDamageIsBounded(t *testing.T) {
	const n = 20000
	node := func(k int, left, right int64) freetree.Image {
		return freetree.Image{Block: units(k, 1), Left: left, Right: right}
	}
	at := func(k int) int64 { return units(k%n, 0).Off }
	for name, image := range map[string]func(k int) freetree.Image{
		"a chain":            func(k int) freetree.Image { return node(k, 0, at(k+1)) },
		"a chain of parents": func(k int) freetree.Image { return node(k, at(k+1), at(k+1)) },
		"a binary tree":      func(k int) freetree.Image { return node(k, at(2*k+1), at(2*k+2)) },
		"everything twice":   func(k int) freetree.Image { return node(k, at(k*7919+1), at(k*7907+3)) },
		"all overlap":        func(k int) freetree.Image { return freetree.Image{Block: units(k, n-k), Left: at(k + 1)} },
	} {
		t.Run(name, func(t *testing.T) {
			p := newGhostImage(t, n)
			for k := range n {
				p.setNode(image(k))
			}
			p.setRoot(at(0))
			disk := p.disk(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a, err := openGhost(disk)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 64*uint64(len(p)) {
				t.Errorf("%d bytes of memory for a payload of %d", used, len(p))
			}
			if err == nil {
				sound(t, a)
				closeGhost(t, a)
			} else if _, ok := errors.AsType[*stack.CorruptError](err); !ok {
				t.Error(err)
			}
		})
	}
}
