// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/content/segment"
)

// tree is a node to be written.
type tree struct {
	props []property
	kids  map[string]*tree
}

var (
	treeNames = []string{"a", "b", "jcr:content", "Aa", "BB", "é", "\U0001F600", "\uFFFD", "x y", ":hidden"}
	treeSizes = []int{0, 1, 5, 127, 128, 300, 16_511, 16_512, 20_000}
)

func drawTree(t *rapid.T, depth int) *tree {
	n := &tree{kids: map[string]*tree{}}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(treeNames), 0, 6, rapid.ID).Draw(t, "names")
	for _, name := range names {
		n.props = append(n.props, drawProperty(t, name))
	}
	if rapid.Bool().Draw(t, "primary type") {
		name := rapid.SampledFrom([]string{"nt:file", "nt:folder"}).Draw(t, "type")
		n.props = append(n.props, property{"jcr:primaryType", segment.TypeName, []string{name}})
	}
	if rapid.IntRange(0, 4).Draw(t, "mixins") == 0 {
		mixins := rapid.SliceOfN(rapid.SampledFrom([]string{"mix:a", "mix:b"}), 0, 3).Draw(t, "mixins")
		n.props = append(n.props, property{"jcr:mixinTypes", segment.TypeNames, mixins})
	}
	if depth == 0 {
		return n
	}
	count := rapid.SampledFrom([]int{0, 1, 2, 3, 40}).Draw(t, "children")
	shared := drawTree(t, 0)
	for i := range count {
		name := fmt.Sprintf("%s%d", rapid.SampledFrom(treeNames).Draw(t, "name"), i)
		if n.kids[name] = shared; i < 3 {
			n.kids[name] = drawTree(t, depth-1)
		}
	}
	return n
}

func drawProperty(t *rapid.T, name string) property {
	typ := segment.Type(rapid.IntRange(1, 12).Draw(t, "type"))
	value := func() string {
		size := rapid.SampledFrom(treeSizes).Draw(t, "size")
		return strings.Repeat(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "letter"), size)
	}
	if rapid.Bool().Draw(t, "single") {
		return property{name, typ, []string{value()}}
	}
	p := property{name, -typ, nil}
	for range rapid.SampledFrom([]int{0, 1, 2, 7}).Draw(t, "values") {
		p.values = append(p.values, value())
	}
	if len(p.values) == 7 && rapid.Bool().Draw(t, "many values") {
		for i := range 300 {
			p.values = append(p.values, fmt.Sprint(i%10))
		}
	}
	return p
}

// write writes a tree, with flushes here and there.
func (p *pen) write(t *rapid.T, n *tree) segment.RecordID {
	var children []segment.Child
	for _, name := range slices.Sorted(maps.Keys(n.kids)) {
		children = append(children, segment.Child{Name: name, Node: p.write(t, n.kids[name])})
	}
	if rapid.IntRange(0, 9).Draw(t, "flush") == 0 {
		must(p.t, p.Flush())
	}
	return p.node(n.props, children...)
}

func (n *tree) check(t testing.TB, have segment.Node) {
	t.Helper()
	checkProperties(t, have, n.props, "absent")
	count, err := have.ChildCount()
	if err != nil || count != len(n.kids) {
		t.Fatalf("%d children, want %d: %v", count, len(n.kids), err)
	}
	want := inOrder(slices.Collect(maps.Keys(n.kids)))
	i := 0
	for c := have.Children(); c.Next(); i++ {
		if string(c.Name) != want[i] {
			t.Fatalf("child %d is %q, want %q", i, c.Name, want[i])
		}
	}
	for name, kid := range n.kids {
		c, ok, err := have.Child(name)
		if !ok || err != nil {
			t.Fatalf("child %q: %t, %v", name, ok, err)
		}
		kid.check(t, c)
	}
}

// TestTrees writes trees and reads them, and copies them into later generations: what is older can go then, but for bulk
// segments, and stable ids stay.
func TestTrees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		store := newStore()
		p := newPen(t, store, segment.Options{})
		n := drawTree(rt, 2)
		node := p.openNode(p.write(rt, n))
		n.check(t, node)
		stable := stableIDs(t, node)
		for _, g := range []segment.Generation{{1, 1, true}, {2, 1, false}, {3, 2, true}} {
			q := newPen(t, store, segment.Options{Generation: g})
			id := q.id(q.Copy(t.Context(), node))
			must(t, q.Flush())
			q.dropOld()
			node = q.openNode(id)
			n.check(t, node)
			if have := stableIDs(t, node); !maps.Equal(have, stable) {
				t.Fatalf("stable ids %v, want %v", have, stable)
			}
		}
	})
}

// dropOld takes away the segments of which nothing may be needed any more.
func (p *pen) dropOld() {
	for id := range p.store.raw {
		s, err := p.store.Segment(id)
		must(p.t, err)
		if p.Old(s) {
			delete(p.store.raw, id)
		}
	}
	clear(p.store.parsed)
	clear(p.rows)
}

// stableIDs is those of a node and all below, by path.
func stableIDs(t testing.TB, n segment.Node) map[string]segment.RecordID {
	ids := map[string]segment.RecordID{}
	var visit func(path string, n segment.Node)
	visit = func(path string, n segment.Node) {
		id, err := n.StableID()
		must(t, err)
		ids[path] = id
		c := n.Children()
		for c.Next() {
			child, err := c.Node()
			must(t, err)
			visit(path+"/"+string(c.Name), child)
		}
		must(t, c.Err())
	}
	visit("", n)
	return ids
}
