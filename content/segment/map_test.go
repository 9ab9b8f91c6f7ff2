// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/content/segment"
)

// childrenNamed makes a leaf node per name, each with a property that has the name as value.
func (b *builder) childrenNamed(names ...string) []child {
	children := make([]child, len(names))
	for i, name := range names {
		children[i] = child{name, b.node([]property{{"is", segment.TypeString, []string{name}}})}
	}
	return children
}

// inOrder is the names as maps keep them.
func inOrder(names []string) []string {
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(oracleMapHash(a), oracleMapHash(b)), oracleCompare(a, b))
	})
	return names
}

// is is the property that says which child a node is.
func is(t testing.TB, n segment.Node) string {
	t.Helper()
	p, ok, err := n.Property("is")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	v, err := p.Value(0)
	must(t, err)
	text, err := v.Text(1 << 20)
	must(t, err)
	return text
}

// checkChildren demands that a node has children of just these names, in order, and each found.
func checkChildren(t testing.TB, n segment.Node, names []string, absent ...string) {
	t.Helper()
	var have []string
	c := n.Children()
	for c.Next() {
		child, err := c.Node()
		must(t, err)
		if is(t, child) != string(c.Name) {
			t.Errorf("child %q is %q", c.Name, is(t, child))
		}
		have = append(have, string(c.Name))
	}
	must(t, c.Err())
	if c.Next() {
		t.Error("a child behind the last")
	}
	if want := inOrder(names); !slices.Equal(have, want) {
		t.Errorf("children %.200q, want %.200q", have, want)
	}
	if count, err := n.ChildCount(); count != len(names) || err != nil {
		t.Errorf("%d children, want %d: %v", count, len(names), err)
	}
	for _, name := range names {
		if child, ok, err := n.Child(name); !ok || err != nil || is(t, child) != name {
			t.Fatalf("child %q: %t, %v", name, ok, err)
		}
	}
	for _, name := range absent {
		if child, ok, err := n.Child(name); ok || err != nil {
			t.Errorf("child %q: %v, %v", name, child.ID(), err)
		}
	}
}

// collide makes n names of one hash: of pairs of letters which have the same.
func collide(n int) []string {
	names := make([]string, n)
	for i := range names {
		var s strings.Builder
		for bit := range 10 {
			s.WriteString([]string{"Aa", "BB"}[i>>bit&1])
		}
		names[i] = s.String()
	}
	return names
}

func TestChildren(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 31, 32, 33, 64, 500, 1024, 1025, 5000} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			b := newBuilder(t)
			names := propertyNames(n)
			node := b.openNode(b.node(nil, b.childrenNamed(names...)...))
			checkChildren(t, node, names, "", "property", "property"+strconv.Itoa(n), "é", strings.Repeat("x", 20000))
		})
	}
}

// TestCollidingChildren has more names of one hash than a leaf takes, which end up at the last level.
func TestCollidingChildren(t *testing.T) {
	for _, n := range []int{2, 32, 33, 100, 1000} {
		b := newBuilder(t)
		names := append(collide(n), "other", "more")
		node := b.openNode(b.node(nil, b.childrenNamed(names...)...))
		checkChildren(t, node, names, collide(n + 1)[n], "Aa")
	}
}

// TestDeepMap has the heads that Oak writes for a hundred names of one hash.
func TestDeepMap(t *testing.T) {
	b := newBuilder(t)
	names := make([]string, 100)
	for i := range names {
		for bit := range 7 {
			names[i] += []string{"Aa", "BB"}[i>>bit&1]
		}
	}
	r := b.open(b.mapOf(b.childrenNamed(names...)))
	for level, bitmap := range []uint32{
		0x00400000, 0x00000040, 0x00004000, 0x00020000, 0x00200000, 0x00002000, 0x20000000,
	} {
		data := r.Segment().Bytes()[r.Offset():]
		if have := binary.BigEndian.Uint32(data); have != uint32(level)<<29|100 {
			t.Errorf("head %08x at level %d", have, level)
		}
		if have := binary.BigEndian.Uint32(data[4:]); have != bitmap {
			t.Errorf("bitmap %08x at level %d, want %08x", have, level, bitmap)
		}
		var err error
		r, err = r.Segment().Record(binary.BigEndian.Uint32(data[10:]))
		must(t, err)
	}
	if data := r.Segment().Bytes()[r.Offset():]; binary.BigEndian.Uint64(data) != 0xe0000064<<32|0xb19d1ab4 {
		t.Errorf("leaf %x", data[:8])
	}
}

// TestNamesOfAllKinds has names for which UTF-8 and UTF-16 differ, and long ones.
func TestNamesOfAllKinds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
			return string(rapid.SliceOfN(rapid.SampledFrom(oddRunes), 1, 4).Draw(t, "name"))
		}), 0, 80, rapid.ID).Draw(rt, "names")
		b := newBuilder(t)
		node := b.openNode(b.node(nil, b.childrenNamed(names...)...))
		checkChildren(t, node, names, "", "absent")
	})
	b := newBuilder(t)
	names := []string{strings.Repeat("n", 127), strings.Repeat("n", 128), strings.Repeat("n", 16511)}
	for _, n := range []int{16512, 20000, 300_000} {
		names = append(names, strings.Repeat("é", n/2))
	}
	checkChildren(t, b.openNode(b.node(nil, b.childrenNamed(names...)...)), names, strings.Repeat("n", 126))
	one := b.openNode(b.node(nil, b.childrenNamed(names[5])...))
	checkChildren(t, one, names[5:], names[0])
}

// TestDiffs replaces the value of one name.
func TestDiffs(t *testing.T) {
	for _, n := range []int{2, 32, 33, 2000} {
		for what, names := range map[string][]string{"plain": propertyNames(n), "colliding": collide(min(n, 1024))} {
			b := newBuilder(t)
			children := b.childrenNamed(names...)
			base := b.mapOf(children)
			changed := names[n/3%len(names)]
			b.flush() // the diff is elsewhere
			now := b.childrenNamed("changed")[0].node
			m, err := b.open(b.diff(changed, now, base)).Map()
			must(t, err)
			if m.Len() != len(names) {
				t.Errorf("%d entries", m.Len())
			}
			var have []string
			for c := m.Entries(); c.Next(); {
				node, err := c.Node()
				must(t, err)
				want := string(c.Name)
				if want == changed {
					want = "changed"
				}
				if is(t, node) != want {
					t.Errorf("%d %s: %q is %q", n, what, c.Name, is(t, node))
				}
				if r, ok, err := m.Get(string(c.Name)); !ok || err != nil || r != c.Value {
					t.Errorf("%d %s: %q not found: %v", n, what, c.Name, err)
				}
				have = append(have, string(c.Name))
			}
			if want := inOrder(names); !slices.Equal(have, want) {
				t.Errorf("%d %s: %d names, want %d", n, what, len(have), len(want))
			}
			if _, ok, err := m.Get("absent"); ok || err != nil {
				t.Error(ok, err)
			}
		}
	}
}

// TestHighLevels has leaves and branches of a level that is higher than their depth: what is left of a greater map.
func TestHighLevels(t *testing.T) {
	b := newBuilder(t)
	names := propertyNames(3)
	leaf := func(level uint32, names ...string) segment.RecordID {
		return b.leaf(level, b.sorted(b.childrenNamed(names...)))
	}
	for level := range uint32(8) {
		m, err := b.open(leaf(level, names...)).Map()
		must(t, err)
		checkMap(t, m, names)
	}
	m, err := b.open(b.mapAt(3, b.sorted(b.childrenNamed(collide(40)...)))).Map()
	must(t, err)
	checkMap(t, m, collide(40))
}

func (b *builder) sorted(children []child) []child {
	slices.SortFunc(children, func(a, c child) int {
		return cmp.Or(cmp.Compare(oracleMapHash(a.name), oracleMapHash(c.name)), oracleCompare(a.name, c.name))
	})
	return children
}

func checkMap(t *testing.T, m segment.Map, names []string) {
	t.Helper()
	for _, name := range names {
		r, ok, err := m.Get(name)
		if !ok || err != nil {
			t.Fatalf("%q: %t, %v", name, ok, err)
		}
		n, err := r.Node()
		must(t, err)
		if is(t, n) != name {
			t.Errorf("%q is %q", name, is(t, n))
		}
	}
	n := 0
	c := m.Entries()
	for c.Next() {
		n++
	}
	if c.Err() != nil || n != len(names) || m.Len() != n {
		t.Errorf("%d entries, want %d: %v", n, len(names), c.Err())
	}
}

// TestMapsRefused has maps that no writer makes.
func TestMapsRefused(t *testing.T) {
	b := newBuilder(t)
	names := collide(40)
	children := b.sorted(b.childrenNamed(names...))
	branch := b.mapOf(children)
	small := b.leaf(1, children[:5])
	empty := b.leaf(1, nil)
	bulk := segment.RecordID{Segment: b.bulk(make([]byte, 5000)), Number: segment.MaxSize - 5000}
	nowhere := segment.RecordID{Segment: b.id, Number: 1 << 20}
	diff := b.diff(names[0], children[0].node, branch)
	const diffHead = uint32(1<<32 - 1)
	hash := oracleMapHash(names[0])
	bit := uint32(1) << oracleBucket(hash, 0)
	for what, parts := range map[string][]any{
		"a leaf of too many":     {uint32(7<<29 | 1<<29 - 1)},
		"a leaf of too many, 32": {uint32(6<<29 | 32)},
		"a leaf of 2^28":         {uint32(7<<29 | 1<<28)}, // 2^32 bytes and some
		"a leaf of 2^28 + 1":     {uint32(7<<29 | 1<<28 + 1)},
		"a branch to nowhere":    {uint32(40), bit, nowhere},
		"a branch to bulk":       {uint32(40), bit, bulk},
		"a branch to itself":     {uint32(40), bit, segment.RecordID{}},
		"a branch to the top":    {uint32(1<<29 | 40), uint32(1) << oracleBucket(hash, 1), branch},
		"a branch to a diff":     {uint32(40), bit, diff},
		"a branch, empty bucket": {uint32(40), bit | bit<<1, empty, small},
		"a branch, one empty":    {uint32(40), bit | bit<<1, b.leaf(7, children), empty},
		"a branch, few entries":  {uint32(40), bit, small},
		"a branch, many entries": {uint32(33), bit, b.mapAt(1, children)},
		"a branch of none":       {uint32(40), uint32(0)},
		"a diff of a diff":       {diffHead, hash, b.name(names[0]), children[0].node, diff},
		"a diff of nothing":      {diffHead, hash, b.name(names[0]), children[0].node, nowhere},
		"a diff of bulk":         {diffHead, hash, b.name(names[0]), children[0].node, bulk},
		"a diff, no name":        {diffHead, hash, nowhere, children[0].node, branch},
		"a diff, no value":       {diffHead, hash, b.name(names[0]), nowhere, branch},
	} {
		b.flush()
		if what == "a branch to itself" {
			parts[2] = segment.RecordID{Segment: b.id, Number: 1}
		}
		m, err := b.open(b.record(segment.RecordBranch, parts...)).Map()
		if err == nil {
			n := 0
			c := m.Entries()
			for c.Next() {
				n++
			}
			if err = c.Err(); n > m.Len() {
				t.Errorf("%s: %d entries of %d", what, n, m.Len())
			}
		}
		if !isCorrupt(err) {
			t.Errorf("%s: %v", what, err)
		} else if strings.HasSuffix(what, "diff") && !strings.Contains(err.Error(), "diff") {
			t.Errorf("%s: no word of it in %v", what, err)
		}
		if m.Len() > 0 {
			_, _, _ = m.Get(names[0]) // ends, is all
		}
	}
}

// TestSharedBuckets has a map of few bytes that claims half a billion entries: reading it goes on, allocating nothing.
func TestSharedBuckets(t *testing.T) {
	b := newBuilder(t)
	below := b.leaf(7, slices.Repeat(b.childrenNamed("x"), 32))
	size := uint32(32)
	for level := uint32(6); level < 7; level-- {
		size *= 32
		if size >= 1<<29 {
			break
		}
		below = b.record(segment.RecordBranch, level<<29|size, uint32(1<<32-1), nested(rids(rep(below, 32))))
	}
	m, err := b.open(below).Map()
	must(t, err)
	c := m.Entries()
	for range 100_000 {
		if !c.Next() {
			t.Fatal(c.Err())
		}
	}
	if m.Len() < 1<<24 {
		t.Errorf("%d entries", m.Len())
	}
}

func TestCutMaps(t *testing.T) {
	for what, parts := range map[string][]any{
		"a diff":             {uint32(1<<32 - 1), uint32(0), uint64(0)},
		"a leaf":             {uint32(1)},
		"a branch":           {uint32(33)},
		"a branch's buckets": {uint32(33), uint32(3), uint32(0), uint32(0)},
	} {
		b := newBuilder(t)
		b.records, b.used = nil, 0
		id := b.record(segment.RecordBranch, parts...)
		b.record(segment.RecordBlock, uint32(0))
		if _, err := b.open(id).Map(); !isCorrupt(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestLeafVector has a leaf that Oak wrote.
func TestLeafVector(t *testing.T) {
	want := "00000002" + "1ff1e675" + "e7b498b4" + "0000" // … 0x796, 0x90d, 0x77c, 0x90e: other numbers here
	b := newBuilder(t)
	r := b.open(b.mapOf(b.childrenNamed("child-0", "child-1")))
	if have := fmt.Sprintf("%x", r.Segment().Bytes()[r.Offset():][:14]); have != want {
		t.Errorf("%s, want %s", have, want)
	}
	want = "ffffffff" + "29dacbda"
	r = b.open(b.diff("child-7", segment.RecordID{Segment: b.id}, segment.RecordID{Segment: b.id}))
	if have := fmt.Sprintf("%x", r.Segment().Bytes()[r.Offset():][:8]); have != want {
		t.Errorf("%s, want %s", have, want)
	}
}
