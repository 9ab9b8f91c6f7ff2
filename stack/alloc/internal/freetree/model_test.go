// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree_test

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/fixture"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// units is how large the arena of the model is: so small that blocks meet.
const units = 200

// slot is how many units each block has for itself in the beginning.
const slot = 5

var end = at(units, 0).Off

// machine is a tree, and what it should hold.
type machine struct {
	tree   *freetree.Tree
	blocks []block // by address
	marks  []moment
}

// moment is how everything was at a mark.
type moment struct {
	mark   freetree.Mark
	blocks []block
	state  freetree.State
	disk   *disk // what was there then, without the nodes of blocks that are gone since
	gone   map[int64]bool
	older  []moment // as they were then
}

func (m *machine) Mark(*rapid.T) {
	m.marks = append(m.marks, moment{
		mark:   m.tree.Mark(),
		blocks: slices.Clone(m.blocks),
		state:  m.tree.State(),
		disk:   newDisk(m.tree),
		gone:   map[int64]bool{},
		older:  cloned(m.marks),
	})
}

func cloned(marks []moment) []moment {
	clones := slices.Clone(marks)
	for k := range clones {
		c := &clones[k]
		c.disk, c.gone = c.disk.clone(), maps.Clone(c.gone)
	}
	return clones
}

func (m *machine) Rewind(t *rapid.T) {
	to := m.marks[rapid.IntRange(0, len(m.marks)-1).Draw(t, "mark")]
	m.tree.Rewind(to.mark)
	if !m.tree.State().Equal(to.state) {
		t.Fatal("not all is as it was at the mark")
	}
	m.blocks = slices.Clone(to.blocks)
	to.disk, to.gone = newDisk(m.tree), map[int64]bool{}
	m.marks = append(cloned(to.older), to)
}

func (m *machine) Settle(t *rapid.T) {
	m.tree.Settle()
	m.marks = nil
	m.Mark(t)
}

// lose tells the disks that the node of a block is overwritten.
func (m *machine) lose(off int64) {
	for _, k := range m.marks {
		delete(k.disk.nodes, off)
		k.gone[off] = true
	}
}

func drawBlock(t *rapid.T) block {
	k := rapid.IntRange(0, units-1).Draw(t, "at")
	return at(k, rapid.IntRange(1, min(8, units-k)).Draw(t, "units"))
}

// draw is the number of a block, if there is any.
func (m *machine) draw(t *rapid.T) (k int, ok bool) {
	if len(m.blocks) == 0 {
		return 0, false // not t.Skip: fuzzing may choose nothing else for ever
	}
	return rapid.IntRange(0, len(m.blocks)-1).Draw(t, "block"), true
}

// Free inserts a block, as it is or merged with its neighbours, unless it overlaps.
func (m *machine) Free(t *rapid.T) {
	b := drawBlock(t)
	k := slices.IndexFunc(m.blocks, func(o block) bool { return o.Off < b.End() && b.Off < o.End() })
	over, overlaps := m.tree.Overlap(b)
	if overlaps != (k >= 0) || overlaps && !slices.Contains(m.blocks, over) {
		t.Fatalf("%v overlaps %v: %v, want number %d of %v", b, over, overlaps, k, m.blocks)
	}
	if overlaps {
		if !panics(func() { check(t, m.tree.Insert(b)) }) {
			t.Fatalf("inserted %v over %v", b, over)
		}
		return
	}
	before, after := m.tree.Neighbours(b)
	m.expectNeighbours(t, b, before, after)
	switch merge := rapid.Bool().Draw(t, "merge"); {
	case merge && before.Size > 0:
		m.replace(before, block{before.Off, before.Size + b.Size})
	case merge && after.Size > 0:
		m.replace(after, block{b.Off, after.Size + b.Size})
	default:
		check(t, m.tree.Insert(b))
		m.lose(b.Off)
		m.put(b)
	}
}

func (m *machine) expectNeighbours(t *rapid.T, b, before, after block) {
	var want [2]block
	for _, o := range m.blocks {
		if o.End() == b.Off {
			want[0] = o
		}
		if o.Off == b.End() {
			want[1] = o
		}
	}
	if got := [2]block{before, after}; got != want {
		t.Fatalf("neighbours of %v: %v, want %v", b, got, want)
	}
}

func (m *machine) put(b block) {
	m.blocks = append(m.blocks, b)
	slices.SortFunc(m.blocks, func(a, b block) int { return cmp.Compare(a.Off, b.Off) })
}

// Alloc takes bytes from the back of the block that fits best, which keeps the rest.
func (m *machine) Alloc(t *rapid.T) {
	need := at(0, rapid.IntRange(1, 10).Draw(t, "need")).Size
	b, ok := m.tree.BestFit(need)
	fits := slices.DeleteFunc(slices.Clone(m.blocks), func(o block) bool { return o.Size < need })
	slices.SortStableFunc(fits, sizes)
	if ok != (len(fits) > 0) || ok && b != fits[0] {
		t.Fatalf("%v fits best for %d of %v", b, need, m.blocks)
	}
	if !ok {
		return
	}
	if b.Size == need {
		m.remove(b)
	} else {
		m.replace(b, block{b.Off, b.Size - need})
	}
}

func sizes(a, b block) int { return cmp.Compare(a.Size, b.Size) }

func (m *machine) Take(t *rapid.T) {
	if k, ok := m.draw(t); ok {
		m.remove(m.blocks[k])
	}
}

// Bounce takes a block away and puts it back: its node has to be written again.
func (m *machine) Bounce(t *rapid.T) {
	k, ok := m.draw(t)
	if !ok {
		return
	}
	b := m.blocks[k]
	m.remove(b)
	check(t, m.tree.Insert(b))
	m.put(b)
}

func (m *machine) remove(b block) {
	m.tree.Remove(b)
	m.lose(b.Off)
	m.blocks = slices.DeleteFunc(m.blocks, func(o block) bool { return o == b })
}

// Move changes the bounds of a block to any others between those of its neighbours.
func (m *machine) Move(t *rapid.T) {
	k, ok := m.draw(t)
	if !ok {
		return
	}
	low, high := at(0, 0).Off, end
	if k > 0 {
		low = m.blocks[k-1].End()
	}
	if k+1 < len(m.blocks) {
		high = m.blocks[k+1].Off
	}
	from := rapid.IntRange(0, int(high-low)/unit-1).Draw(t, "from")
	to := rapid.IntRange(from+1, int(high-low)/unit).Draw(t, "to")
	m.replace(m.blocks[k], block{low + int64(from)*unit, int64(to-from) * unit})
}

func (m *machine) replace(old, b block) {
	m.tree.Replace(old, b)
	if old.Off != b.Off {
		m.lose(old.Off)
		m.lose(b.Off)
	}
	m.blocks[slices.Index(m.blocks, old)] = b
}

// Misuse demands that calls nobody may make leave everything as it was.
func (m *machine) Misuse(t *rapid.T) {
	b := drawBlock(t)
	was := m.tree.State()
	if !slices.Contains(m.blocks, b) &&
		(!panics(func() { m.tree.Remove(b) }) || !panics(func() { m.tree.Replace(b, b) })) {
		t.Fatalf("took %v, which is not there", b)
	}
	for k := range m.blocks[:max(1, len(m.blocks))-1] {
		old, next := m.blocks[k], m.blocks[k+1]
		if !panics(func() { m.tree.Replace(old, block{old.Off, next.Off - old.Off + unit}) }) ||
			!panics(func() { m.tree.Replace(old, block{next.End(), unit}) }) ||
			!panics(func() { m.tree.Replace(next, block{old.End() - unit, unit}) }) ||
			!panics(func() { m.tree.Replace(old, block{old.Off, 0}) }) {
			t.Fatalf("%v may overlap %v, or jump over it", old, next)
		}
	}
	if n := len(m.blocks); n > 0 &&
		(!panics(func() { m.tree.Replace(m.blocks[n-1], block{m.blocks[n-1].Off, math.MaxInt64}) }) ||
			!panics(func() { m.tree.Replace(m.blocks[0], block{0, unit}) })) {
		t.Fatal("a block may have bounds that are no offsets")
	}
	if !m.tree.State().Equal(was) {
		t.Fatal("misuse has changed the tree")
	}
}

// Check is the invariant.
func (m *machine) Check(t *rapid.T) {
	sound(t, m.tree)
	bySize := slices.Clone(m.blocks)
	slices.SortStableFunc(bySize, sizes)
	expect(t, "by address", slices.Collect(m.tree.ByAddress()), m.blocks)
	expect(t, "by size", slices.Collect(m.tree.BySize()), bySize)
	m.checkQueries(t, bySize)
	for k := range m.marks {
		m.checkChanges(t, &m.marks[k])
	}
	d := newDisk(m.tree)
	same(t, d.load(t, end), m.tree)
}

func expect(t *rapid.T, what string, got, want []block) {
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func (m *machine) checkQueries(t *rapid.T, bySize []block) {
	var sum int64
	for _, b := range m.blocks {
		sum += b.Size
	}
	last, ok1 := m.tree.Last()
	largest, ok2 := m.tree.Largest()
	if n := len(m.blocks); n > 0 && (last != m.blocks[n-1] || largest != bySize[n-1]) || ok1 != (n > 0) || ok2 != (n > 0) {
		t.Fatalf("last %v, largest %v of %v", last, largest, m.blocks)
	}
	if m.tree.Len() != len(m.blocks) || m.tree.Bytes() != sum {
		t.Fatalf("%d blocks of %d bytes, want %v", m.tree.Len(), m.tree.Bytes(), m.blocks)
	}
	off := rapid.Int64Range(0, end+unit).Draw(t, "off")
	k, _ := slices.BinarySearchFunc(m.blocks, off, func(b block, off int64) int { return cmp.Compare(b.Off, off) })
	if b, ok := m.tree.Ceiling(off); ok != (k < len(m.blocks)) || ok && b != m.blocks[k] {
		t.Fatalf("first from %d on is %v, want number %d of %v", off, b, k, m.blocks)
	}
	if k == len(m.blocks) || m.blocks[k].Off != off {
		k--
	}
	if b, ok := m.tree.Floor(off); ok != (k >= 0) || ok && b != m.blocks[k] {
		t.Fatalf("last until %d is %v, want number %d of %v", off, b, k, m.blocks)
	}
}

// checkChanges brings the disk as it was at a mark up to date.
func (m *machine) checkChanges(t *rapid.T, k *moment) {
	d := k.disk.clone()
	if m.tree.RootChanged(k.mark) != (d.root != m.tree.Root()) {
		t.Fatalf("root changed: %v, from %d to %d", m.tree.RootChanged(k.mark), d.root, m.tree.Root())
	}
	d.root = m.tree.Root()
	changes := m.tree.Changes(k.mark)
	lowest, ok := m.tree.LowestChange(k.mark)
	if ok != (len(changes) > 0) || ok && lowest != changes[0].Off {
		t.Fatalf("lowest change %d, %v of %v", lowest, ok, changes)
	}
	for i, c := range changes {
		if i > 0 && changes[i-1].Off >= c.Off {
			t.Fatalf("changes do not ascend: %v", changes)
		}
		was := d.nodes[c.Off]
		d.write(c)
		if was == d.nodes[c.Off] && !k.gone[c.Left] && !k.gone[c.Right] {
			t.Fatalf("%v is to be written as it is", c)
		}
	}
	now := newDisk(m.tree)
	for off, b := range now.nodes {
		if d.nodes[off] != b {
			t.Fatalf("node at %d is\n%x, should be\n%x", off, d.nodes[off], b)
		}
	}
	if len(d.nodes) != len(now.nodes) {
		t.Fatalf("%d nodes on the disk for %d blocks", len(d.nodes), len(now.nodes))
	}
}

func model(t *rapid.T) {
	m := &machine{tree: freetree.New()}
	blocks := rapid.SampledFrom([]int{0, 3, 10, units / slot}).Draw(t, "blocks")
	for k, n := range rapid.SliceOfN(rapid.IntRange(0, slot), blocks, blocks).Draw(t, "their units") {
		if b := at(slot*k, n); n > 0 {
			check(t, m.tree.Insert(b))
			m.put(b)
		}
	}
	m.Settle(t)
	t.Repeat(rapid.StateMachineActions(m))
}

func TestModel(t *testing.T) { rapid.Check(t, model) }

func FuzzModel(f *testing.F) {
	fixture.Draws(f)
	f.Fuzz(rapid.MakeFuzz(model))
}

// The heights of AVL trees are at most 1.4405 log2(n+2).
func TestHeight(t *testing.T) {
	for name, place := range map[string]func(k int) block{
		"ascending":  func(k int) block { return at(40*k, 1+k%32) },
		"descending": func(k int) block { return at(40*(5000-k), 1+k%32) },
		"scattered":  func(k int) block { return at(40*(k*2731%5000), 1+k*7919%32) },
	} {
		t.Run(name, func(t *testing.T) {
			tree := freetree.New()
			for k := range 5000 {
				check(t, tree.Insert(place(k)))
			}
			bounded(t, tree)
			for k := range 4500 {
				tree.Remove(place(k))
			}
			bounded(t, tree)
			for k := 4500; k < 5000; k++ {
				tree.Remove(place(k))
			}
			sound(t, tree)
			if tree.Len() != 0 || tree.Root() != 0 {
				t.Errorf("%d blocks are left", tree.Len())
			}
		})
	}
}

func bounded(t *testing.T, tree *freetree.Tree) {
	t.Helper()
	sound(t, tree)
	limit := 1.4405 * math.Log2(float64(tree.Len()+2))
	for m := range tree.Images() {
		if m.Off == tree.Root() && float64(m.Height()) > limit {
			t.Errorf("%d blocks are %d high", tree.Len(), m.Height())
		}
	}
}
