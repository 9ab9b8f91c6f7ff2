// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

type (
	block = freetree.Block
	image = freetree.Image
	raw   = [freetree.NodeSize]byte
)

const unit = freetree.NodeSize

// failer is testing.TB and *rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func check(t failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// at is the block of n units that is k units behind the start of the arena.
func at(k, n int) block { return block{freetree.Arena + int64(k)*unit, int64(n) * unit} }

func newTree(t failer, blocks ...block) *freetree.Tree {
	t.Helper()
	tree := freetree.New()
	for _, b := range blocks {
		check(t, tree.Insert(b))
	}
	tree.Settle()
	return tree
}

func sound(t failer, tree *freetree.Tree) {
	t.Helper()
	check(t, tree.Check())
}

// disk has the nodes of a tree where they lie.
type disk struct {
	root  int64
	nodes map[int64]raw
}

func newDisk(tree *freetree.Tree) *disk {
	d := &disk{tree.Root(), map[int64]raw{}}
	for m := range tree.Images() {
		d.write(m)
	}
	return d
}

func (d *disk) clone() *disk { return &disk{d.root, maps.Clone(d.nodes)} }

func (d *disk) write(m image) {
	var b raw
	m.Encode(&b)
	d.nodes[m.Off] = b
}

// read makes sure that what is asked for could be coalesced.
func (d *disk) read(t failer) freetree.ReadNodes {
	return func(offs []int64, dst [][freetree.NodeSize]byte) error {
		if len(offs) != len(dst) || !slices.IsSorted(offs) || len(slices.Compact(slices.Clone(offs))) != len(offs) {
			t.Fatalf("reads at %d into %d nodes", offs, len(dst))
		}
		for k, off := range offs {
			dst[k] = d.nodes[off]
		}
		return nil
	}
}

// load reads what must be a sound tree.
func (d *disk) load(t failer, end int64) *freetree.Tree {
	t.Helper()
	tree, stale, err := freetree.Load(d.root, end, d.read(t))
	check(t, err)
	if stale != 0 {
		t.Fatalf("%d nodes are stale", stale)
	}
	sound(t, tree)
	return tree
}

func images(tree *freetree.Tree) []image { return slices.Collect(tree.Images()) }

// same demands trees of one shape.
func same(t failer, got, want *freetree.Tree) {
	t.Helper()
	if got.Root() != want.Root() || !slices.Equal(images(got), images(want)) {
		t.Fatalf("got root %d of\n%v\nwant %d of\n%v", got.Root(), images(got), want.Root(), images(want))
	}
}

func panics(fn func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	fn()
	return false
}

// spread are n blocks with gaps between them, of many sizes in no order.
func spread(n int) []block {
	blocks := make([]block, n)
	for k := range blocks {
		blocks[k] = at(20*k, 1+k*7919%19)
	}
	return blocks
}

var _ failer = (*testing.T)(nil)
