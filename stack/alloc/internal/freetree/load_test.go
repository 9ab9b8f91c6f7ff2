// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// sevenEnd is where the payload of seven ends.
const sevenEnd = freetree.Arena + 100*unit

// seven is a full tree of height 3. Its blocks of 1, 2 … 7 units begin 10 units apart.
func seven(t failer) *disk {
	t.Helper()
	var blocks []block
	for k := range 7 {
		blocks = append(blocks, at(10*k, k+1))
	}
	tree, err := freetree.Build(blocks)
	check(t, err)
	return newDisk(tree)
}

// nth is the offset of the block of n units.
func nth(n int) int64 { return at(10*(n-1), n).Off }

// edit changes one node.
func (d *disk) edit(off int64, change func(*image)) {
	b := d.nodes[off]
	m := freetree.Decode(&b, off)
	change(&m)
	delete(d.nodes, off)
	d.write(m)
}

func TestLoadEmpty(t *testing.T) {
	tree := (&disk{}).load(t, freetree.Arena)
	if tree.Len() != 0 || tree.Root() != 0 {
		t.Errorf("%d blocks", tree.Len())
	}
	check(t, tree.Insert(at(0, 1)))
	sound(t, tree)
}

// A loaded tree can be changed and rewound as any other.
func TestLoadAdopts(t *testing.T) {
	d := newDisk(newTree(t, spread(1000)...))
	tree := d.load(t, at(20*1000, 0).Off)
	was := tree.State()
	m := tree.Mark()
	for _, b := range spread(1000)[100:200] {
		tree.Remove(b)
		delete(d.nodes, b.Off)
	}
	for _, c := range tree.Changes(m) {
		d.write(c)
	}
	d.root = tree.Root()
	same(t, d.load(t, at(20*1000, 0).Off), tree)
	tree.Rewind(m)
	if !tree.State().Equal(was) {
		t.Error("not all is as it was loaded")
	}
}

// Files of old versions have zeros for the heights of the children. Such nodes are counted, and not to be written.
func TestLoadStale(t *testing.T) {
	d := seven(t)
	want := d.load(t, sevenEnd)
	d.edit(nth(4), func(m *image) { m.LeftHeight, m.RightHeight = 0, 0 })
	d.edit(nth(2), func(m *image) { m.LeftHeight, m.RightHeight = 200, 3 })
	b := d.nodes[nth(1)]
	b[13] = 1
	d.nodes[nth(1)] = b
	tree, stale, err := freetree.Load(d.root, sevenEnd, d.read(t))
	check(t, err)
	if stale != 3 {
		t.Errorf("%d nodes are stale", stale)
	}
	sound(t, tree)
	same(t, tree, want)
	if c := tree.Changes(tree.Mark()); len(c) > 0 {
		t.Errorf("to be written: %v", c)
	}
}

// edit changes the node of n units.
func edit(n int, change func(*image)) func(*disk) { return func(d *disk) { d.edit(nth(n), change) } }

func TestLoadDamaged(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(*disk)
		off    int64
		reason string
	}{
		{"root outside", func(d *disk) { d.root = sevenEnd }, freetree.RootAt, "no node can be"},
		{"root in the header", func(d *disk) { d.root = 16 }, freetree.RootAt, "no node can be"},
		{"root negative", func(d *disk) { d.root = -16 }, freetree.RootAt, "no node can be"},
		{"child not aligned", edit(2, func(m *image) { m.Left += 8 }), nth(2), "no node can be"},
		{"child outside", edit(2, func(m *image) { m.Left = sevenEnd - 31 }), nth(2), "no node can be"},
		{"leads to user data", edit(2, func(m *image) { m.Left = nth(1) + unit }), nth(1) + unit, "free block of 0 bytes"},
		{"odd size", edit(6, func(m *image) { m.Size++ }), nth(6), "free block of 193 bytes"},
		{"negative size", edit(1, func(m *image) { m.Size = -32 }), nth(1), "free block of -32 bytes"},
		{"beyond the end", edit(7, func(m *image) { m.Size = 41 * unit }), nth(7), "free block of 1312 bytes"},
		{"its own child", edit(2, func(m *image) { m.Left = nth(2) }), nth(2), "reached twice"},
		{"cycle", edit(7, func(m *image) { m.Right = nth(4) }), nth(4), "reached twice"},
		{"twice a child", edit(2, func(m *image) { m.Left = m.Right }), nth(3), "reached twice"},
		{"two parents", edit(6, func(m *image) { m.Left = nth(1) }), nth(1), "reached twice"},
		{"two parents, two levels", edit(5, func(m *image) { m.Right = nth(3) }), nth(3), "reached twice"},
		{"sides exchanged", func(d *disk) {
			d.edit(nth(4), func(m *image) { m.Left, m.Right = m.Right, m.Left })
		}, nth(2), "out of order"},
		{"beyond an inherited bound", edit(5, func(m *image) { m.Size = 3 * unit }), nth(5), "out of order"},
		{"same size, lower offset", func(d *disk) {
			*d = *newDisk(newTree(t, at(0, 2), at(10, 3)))
			d.edit(at(0, 2).Off, func(m *image) { m.Left, m.Right = at(10, 0).Off, 0 })
			d.edit(at(10, 3).Off, func(m *image) { m.Size = at(0, 2).Size })
		}, at(10, 3).Off, "out of order"},
		{"subtree lost", edit(4, func(m *image) { m.Right = 0 }), nth(4), "unbalanced"},
		{"overlap", func(d *disk) {
			*d = *newDisk(newTree(t, at(0, 2), at(2, 3)))
			d.edit(at(0, 2).Off, func(m *image) { m.Size = 3 * unit })
		}, at(2, 3).Off, "overlaps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := seven(t)
			c.damage(d)
			tree, _, err := freetree.Load(d.root, sevenEnd, d.read(t))
			e, ok := errors.AsType[*freetree.DamageError](err)
			if !ok || tree != nil || e.Off != c.off || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got %v, want %q at %d", err, c.reason, c.off)
			}
		})
	}
}

// Trees that are at the edge of what is allowed.
func TestLoadSound(t *testing.T) {
	for name, change := range map[string]func(*disk){
		"size of a lower bound":  edit(5, func(m *image) { m.Size = 4 * unit }),
		"size of an upper bound": edit(3, func(m *image) { m.Size = 4 * unit }),
		"up to the end":          edit(7, func(m *image) { m.Size = 40 * unit }),
		"a leaf lost":            edit(6, func(m *image) { m.Left = 0 }),
		"two leaves lost":        edit(6, func(m *image) { m.Left, m.Right = 0, 0 }),
	} {
		t.Run(name, func(t *testing.T) {
			d := seven(t)
			change(d)
			tree, _, err := freetree.Load(d.root, sevenEnd, d.read(t))
			check(t, err)
			sound(t, tree)
		})
	}
}

func TestLoadLimit(t *testing.T) {
	d := seven(t)
	check(t, freetree.LoadLimited(7, d.root, sevenEnd, d.read(t)))
	if err := freetree.LoadLimited(6, d.root, sevenEnd, d.read(t)); !errors.Is(err, freetree.ErrFull) {
		t.Errorf("got %v", err)
	}
}

// A chain is as deep as it is long, in order, and disjoint.
func TestLoadDeep(t *testing.T) {
	d := &disk{root: at(0, 0).Off, nodes: map[int64]raw{}}
	for k := range 500 {
		d.write(image{Block: at(k, 1), Right: at(k+1, 0).Off})
	}
	d.edit(at(499, 0).Off, func(m *image) { m.Right = 0 })
	reads := 0
	_, _, err := freetree.Load(d.root, at(500, 0).Off, func(offs []int64, dst [][freetree.NodeSize]byte) error {
		reads++
		return d.read(t)(offs, dst)
	})
	if e, ok := errors.AsType[*freetree.DamageError](err); !ok || e.Off != at(128, 0).Off || reads != 128 {
		t.Errorf("got %v after %d reads", err, reads)
	}
	blocks, err := freetree.Collect(d.root, at(500, 0).Off, d.read(t))
	check(t, err)
	if len(blocks) != 500 {
		t.Errorf("%d blocks", len(blocks))
	}
}

func TestLoadReadError(t *testing.T) {
	bad := errors.New("bad sector")
	read := func([]int64, [][freetree.NodeSize]byte) error { return bad }
	if _, _, err := freetree.Load(at(0, 0).Off, sevenEnd, read); !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
	if _, err := freetree.Collect(at(0, 0).Off, sevenEnd, read); !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
}

// Collect has what can be reached, whatever order that is in.
func TestCollect(t *testing.T) {
	d := seven(t)
	d.edit(nth(2), func(m *image) { m.Left = nth(4) })         // cycle; loses 1
	d.edit(nth(6), func(m *image) { m.Left = nth(3) })         // two parents; loses 5
	d.edit(nth(7), func(m *image) { m.Right = nth(7) + unit }) // zeros
	got, err := freetree.Collect(d.root, sevenEnd, d.read(t))
	check(t, err)
	want := []block{at(10, 2), at(20, 3), at(30, 4), at(50, 6), at(60, 7)}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	got, err = freetree.Collect(0, sevenEnd, d.read(t))
	check(t, err)
	if len(got) > 0 {
		t.Errorf("%v below no root", got)
	}
}

func TestCollectDamaged(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(*disk)
		off    int64
	}{
		"root in the header": {func(d *disk) { d.root = 16 }, freetree.RootAt},
		"root outside":       {func(d *disk) { d.root = sevenEnd }, freetree.RootAt},
		"root negative":      {func(d *disk) { d.root = -16 }, freetree.RootAt},
		"child not aligned":  {edit(3, func(m *image) { m.Right = nth(3) + 8 }), nth(3)},
		"child outside":      {edit(3, func(m *image) { m.Left = sevenEnd }), nth(3)},
		"no size":            {edit(5, func(m *image) { m.Size, m.Right = 0, nth(1) }), nth(5)},
	} {
		t.Run(name, func(t *testing.T) {
			d := seven(t)
			c.damage(d)
			got, err := freetree.Collect(d.root, sevenEnd, d.read(t))
			if e, ok := errors.AsType[*freetree.DamageError](err); !ok || e.Off != c.off || got != nil {
				t.Errorf("got %v, %v, want damage at %d", got, err, c.off)
			}
		})
	}
}
