// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/content/segment"
)

func TestWriteChildren(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 31, 32, 33, 64, 500, 1024, 1025, 5000} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			p := newPen(t, newStore(), segment.Options{})
			names := propertyNames(n)
			node := p.openNode(p.node(nil, p.named(names...)...))
			checkChildren(t, node, names, "", "property", "property"+strconv.Itoa(n), "é", strings.Repeat("x", 20000))
		})
	}
	for _, n := range []int{2, 32, 33, 100, 1000} {
		p := newPen(t, newStore(), segment.Options{})
		names := append(collide(n), "other", "more")
		node := p.openNode(p.node(nil, p.named(names...)...))
		checkChildren(t, node, names, collide(n + 1)[n], "Aa")
	}
}

// TestCollisionVector has 100 names of one hash, of seven pairs of letters.
func TestCollisionVector(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	var names []string
	for i := range 100 {
		s := ""
		for bit := range 7 {
			s += []string{"Aa", "BB"}[i>>bit&1]
		}
		names = append(names, s)
	}
	if h := segment.MapHash(names[0]); h != 0xb19d1ab4 {
		t.Fatalf("hash %08x", h)
	}
	id := p.id(p.Map(p.named(names...)))
	for level, bitmap := range []uint32{
		0x00400000, 0x00000040, 0x00004000, 0x00020000, 0x00200000, 0x00002000, 0x20000000,
	} {
		row := p.row(id)
		head, bits := binary.BigEndian.Uint32(row.Bytes), binary.BigEndian.Uint32(row.Bytes[4:])
		if head != uint32(level)<<29|100 || bits != bitmap || row.Type != segment.RecordBranch {
			t.Errorf("level %d: head %08x, bitmap %08x, %s", level, head, bits, row.Type)
		}
		links, err := row.Links()
		must(t, err)
		if len(links) != 1 {
			t.Fatalf("level %d: %d buckets", level, len(links))
		}
		id = links[0].ID
	}
	row := p.row(id)
	if head := binary.BigEndian.Uint32(row.Bytes); head != 0xe0000064 || row.Type != segment.RecordLeaf {
		t.Errorf("leaf %08x, %s", head, row.Type)
	}
}

func TestWriteLeafVector(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	leaf := p.node(nil)               // number 2, after its template
	zero, one := "child-0", "child-1" // numbers 3 and 4
	children := []segment.Child{{Name: one, Node: leaf}, {Name: zero, Node: leaf}}
	row := p.row(p.id(p.Map(children)))
	want := "000000021ff1e675e7b498b4" + "000000000003000000000002" + "000000000004000000000002"
	if have := fmt.Sprintf("%x", row.Bytes); have != want {
		t.Errorf("leaf %s, want %s", have, want)
	}
	if row := p.row(p.id(p.Map(nil))); fmt.Sprintf("%x", row.Bytes) != "00000000" || row.Type != segment.RecordLeaf {
		t.Errorf("empty map %x, %s", row.Bytes, row.Type)
	}
}

func TestWriteDiffVector(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	names := propertyNames(100)
	names[7] = "child-7"
	base := p.openMap(p.id(p.Map(p.named(names...))))
	other := p.node(nil)
	id := p.id(p.UpdateMap(base, []segment.Child{{Name: "child-7", Node: other}}))
	row := p.row(id)
	if have := fmt.Sprintf("%x", row.Bytes[:8]); have != "ffffffff29dacbda" || len(row.Bytes) != 28 ||
		row.Type != segment.RecordBranch {
		t.Errorf("diff %x, %s", row.Bytes, row.Type)
	}
	links, err := row.Links()
	must(t, err)
	if links[1].ID != other || links[2].ID.String() == id.String() {
		t.Errorf("links %v", links)
	}
	key := p.keys(links[2].ID)["child-7"]
	if links[0].ID != key {
		t.Errorf("key %s, in the base it is %s", links[0].ID, key)
	}
}

// keys is the records of the names in a map.
func (p *pen) keys(id segment.RecordID) map[string]segment.RecordID {
	keys := map[string]segment.RecordID{}
	row := p.row(id)
	links, err := row.Links()
	must(p.t, err)
	if row.Type == segment.RecordBranch {
		for _, l := range links {
			maps.Copy(keys, p.keys(l.ID))
		}
		return keys
	}
	for i := 0; i < len(links); i += 2 {
		name, err := p.openValue(links[i].ID, segment.RecordValue).Text(1 << 20)
		must(p.t, err)
		keys[name] = links[i].ID
	}
	return keys
}

// trieShape is a map as the format's rules have it become, in the plainest way.
type trieShape struct {
	level   uint32
	names   []string // of a leaf
	buckets map[uint32]*trieShape
}

func (s *trieShape) String() string {
	if s == nil {
		return "empty"
	}
	if s.buckets == nil {
		return fmt.Sprintf("L%d%q", s.level, s.names)
	}
	out := fmt.Sprintf("B%d{", s.level)
	for _, i := range slices.Sorted(maps.Keys(s.buckets)) {
		out += fmt.Sprintf("%d:%s ", i, s.buckets[i])
	}
	return out + "}"
}

func (s *trieShape) all() []string {
	if s == nil {
		return nil
	}
	names := slices.Clone(s.names)
	for _, b := range s.buckets {
		names = append(names, b.all()...)
	}
	return names
}

func (s *trieShape) size() int {
	if s == nil {
		return 0
	}
	n := len(s.names)
	for _, b := range s.buckets {
		n += b.size()
	}
	return n
}

func buildShape(level uint32, names []string) *trieShape {
	if len(names) == 0 {
		return nil
	}
	if len(names) <= 32 || level == 7 {
		return &trieShape{level: level, names: inOrder(names)}
	}
	in := map[uint32][]string{}
	for _, name := range names {
		i := oracleBucket(oracleMapHash(name), level)
		in[i] = append(in[i], name)
	}
	s := &trieShape{level: level, buckets: map[uint32]*trieShape{}}
	for i, names := range in {
		s.buckets[i] = buildShape(level+1, names)
	}
	return s
}

// update has changes by name: false takes it away.
func (s *trieShape) update(level uint32, changes map[string]bool) *trieShape {
	if len(changes) == 0 {
		return s
	}
	if s == nil || s.buckets == nil {
		names := map[string]bool{}
		for _, name := range s.all() {
			names[name] = true
		}
		maps.Copy(names, changes)
		maps.DeleteFunc(names, func(_ string, there bool) bool { return !there })
		return buildShape(level, slices.Collect(maps.Keys(names)))
	}
	in := map[uint32]map[string]bool{}
	for name, put := range changes {
		i := oracleBucket(oracleMapHash(name), level)
		if in[i] == nil {
			in[i] = map[string]bool{}
		}
		in[i][name] = put
	}
	all := &trieShape{level: level, buckets: map[uint32]*trieShape{}}
	for i := range uint32(32) {
		if b := s.buckets[i].update(level+1, in[i]); b != nil {
			all.buckets[i] = b
		}
	}
	switch {
	case all.size() > 32:
		return all
	case len(all.buckets) == 1:
		for _, b := range all.buckets {
			return b
		}
	case len(all.buckets) == 0:
		return nil
	}
	return &trieShape{level: level, names: inOrder(all.all())}
}

// shapeOf is what was written; of a diff it is the base's.
func (p *pen) shapeOf(id segment.RecordID) *trieShape {
	row := p.row(id)
	links, err := row.Links()
	must(p.t, err)
	head := binary.BigEndian.Uint32(row.Bytes)
	if head == 1<<32-1 {
		return p.shapeOf(links[2].ID)
	}
	s := &trieShape{level: head >> 29}
	if row.Type == segment.RecordLeaf {
		for i := 0; i < len(links); i += 2 {
			name, err := p.openValue(links[i].ID, segment.RecordValue).Text(1 << 20)
			must(p.t, err)
			s.names = append(s.names, name)
		}
		if len(links) == 0 {
			return nil
		}
		return s
	}
	s.buckets = map[uint32]*trieShape{}
	bitmap, n := binary.BigEndian.Uint32(row.Bytes[4:]), 0
	for i := range uint32(32) {
		if bitmap>>i&1 == 1 {
			s.buckets[i] = p.shapeOf(links[n].ID)
			n++
		}
	}
	if n != len(links) {
		p.t.Errorf("%d buckets in a bitmap, %d links", n, len(links))
	}
	return s
}

// demand is must for rapid's tests too.
func demand(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mapModel is a map that is updated, beside one of Go's.
type mapModel struct {
	p      *pen
	id     segment.RecordID
	want   map[string]segment.RecordID
	shape  *trieShape
	nodes  []segment.RecordID
	diffed string // the name in the diff on top
}

func newMapModel(t testing.TB) *mapModel {
	m := &mapModel{p: newPen(t, newStore(), segment.Options{}), want: map[string]segment.RecordID{}}
	for _, c := range m.p.named(propertyNames(5)...) {
		m.nodes = append(m.nodes, c.Node)
	}
	m.id = m.p.id(m.p.Map(nil))
	return m
}

// open is the map as it is read without a flush.
func (m *mapModel) open() segment.Map {
	r, err := segment.Find(m.p, m.id)
	must(m.p.t, err)
	opened, err := r.Map()
	must(m.p.t, err)
	return opened
}

func (m *mapModel) update(t rapid.TB, changes []segment.Child) {
	opened := m.open()
	before := m.id
	effective := map[string]bool{} // changes that are any
	single := len(changes) == 1
	for _, c := range changes {
		old, there := m.want[c.Name]
		put := c.Node != segment.RecordID{}
		single = single && there && put
		if put {
			m.want[c.Name] = c.Node
		} else {
			delete(m.want, c.Name)
		}
		if put && old != c.Node || !put && there {
			effective[c.Name] = put
		}
	}
	id, err := m.p.UpdateMap(opened, changes)
	demand(t, err)
	m.id = id
	r, err := segment.Find(m.p, id)
	demand(t, err)
	head, err := r.Block(4)
	demand(t, err)
	isDiff := binary.BigEndian.Uint32(head) == 1<<32-1
	switch {
	case len(effective) == 0:
		if id != before && len(changes) == 1 && m.diffed == "" {
			t.Errorf("another map for the same")
		}
		if id == before {
			return
		}
	case single && (m.diffed == "" || m.diffed == changes[0].Name):
		// One new value, of the base that it was before: a diff, unless the base has just that value.
		if !isDiff && m.diffed == "" {
			t.Errorf("no diff for a single new value")
		}
		m.diffed = ""
		if isDiff {
			m.diffed = changes[0].Name
		}
		return
	}
	if isDiff {
		t.Errorf("a diff for %d changes, when %q was changed before", len(changes), m.diffed)
	}
	if _, again := effective[m.diffed]; m.diffed != "" && !again {
		effective[m.diffed] = true
	}
	m.diffed = ""
	m.shape = m.shape.update(0, effective)
}

func (m *mapModel) check(t rapid.TB) {
	opened := m.open()
	if opened.Len() != len(m.want) {
		t.Fatalf("%d entries, want %d", opened.Len(), len(m.want))
	}
	names := inOrder(slices.Collect(maps.Keys(m.want)))
	i := 0
	c := opened.Entries()
	for ; c.Next(); i++ {
		if i >= len(names) || string(c.Name) != names[i] || c.Value.ID() != m.want[names[i]] {
			t.Fatalf("entry %d is %q, %s", i, c.Name, c.Value.ID())
		}
	}
	demand(t, c.Err())
	for name, want := range m.want {
		if r, ok, err := opened.Get(name); !ok || err != nil || r.ID() != want {
			t.Fatalf("%q is %s, want %s: %t, %v", name, r.ID(), want, ok, err)
		}
	}
	if have, want := m.p.shapeOf(m.id).String(), m.shape.String(); have != want {
		t.Fatalf("shape\nhave %s\nwant %s", have, want)
	}
}

// TestMapUpdates changes maps at random, by one and by many: they have the entries of a model, and the shape that the
// rules of the format give.
func TestMapUpdates(t *testing.T) {
	names := append(propertyNames(90), collide(45)...)
	rapid.Check(t, func(rt *rapid.T) {
		m := newMapModel(t)
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			var changes []segment.Child
			most := rapid.SampledFrom([]int{1, 1, 3, len(names)}).Draw(rt, "most")
			deletions := rapid.SampledFrom([]int{0, 1, 5, 9}).Draw(rt, "deletions of 10")
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, most, rapid.ID).Draw(rt, "names") {
				c := segment.Child{Name: name}
				if rapid.IntRange(0, 9).Draw(rt, "change") >= deletions {
					c.Node = rapid.SampledFrom(m.nodes).Draw(rt, "node")
				}
				changes = append(changes, c)
			}
			m.update(rt, changes)
			m.check(rt)
		}
	})
}

// TestMapShrinks takes entries away one by one, and puts them back, so that branches become leaves at every level.
func TestMapShrinks(t *testing.T) {
	for what, names := range map[string][]string{
		"plain": propertyNames(70), "colliding": collide(40), "both": append(propertyNames(30), collide(34)...),
	} {
		t.Run(what, func(t *testing.T) {
			m := newMapModel(t)
			var changes []segment.Child
			for _, name := range names {
				changes = append(changes, segment.Child{Name: name, Node: m.nodes[0]})
			}
			m.update(t, changes)
			m.check(t)
			for _, name := range names {
				m.update(t, []segment.Child{{Name: name}})
				m.check(t)
				m.update(t, []segment.Child{{Name: name}})
				m.check(t)
			}
			for i := 0; i < len(changes); i += 3 {
				m.update(t, changes[i:min(i+3, len(changes))])
				m.check(t)
			}
		})
	}
}

// TestLeafOfHigherLevel leaves few of many names, all in one bucket: the bucket becomes the map, of level 1.
func TestLeafOfHigherLevel(t *testing.T) {
	m := newMapModel(t)
	var changes, gone []segment.Child
	bucket := segment.BucketIndex(segment.MapHash("property0"), 0)
	kept := 0
	for _, name := range propertyNames(90) {
		changes = append(changes, segment.Child{Name: name, Node: m.nodes[0]})
		if segment.BucketIndex(segment.MapHash(name), 0) != bucket {
			gone = append(gone, segment.Child{Name: name})
		} else {
			kept++
		}
	}
	m.update(t, changes)
	m.update(t, gone)
	m.check(t)
	if head := binary.BigEndian.Uint32(m.p.row(m.id).Bytes); head != 0x20000000|uint32(kept) || kept == 0 {
		t.Errorf("head %08x, %d are left", head, kept)
	}
	m.update(t, []segment.Child{{Name: "new", Node: m.nodes[1]}, {Name: "property0", Node: m.nodes[1]}})
	m.check(t)
}

// TestLargeMapUpdates has maps of thousands, where updates must leave most of them alone.
func TestLargeMapUpdates(t *testing.T) {
	m := newMapModel(t)
	var changes []segment.Child
	for _, name := range append(propertyNames(4000), collide(1000)...) {
		changes = append(changes, segment.Child{Name: name, Node: m.nodes[0]})
	}
	m.update(t, changes)
	m.check(t)
	for i, n := range []int{1, 2, 10, 100} {
		before := m.p.records()
		for j := range n {
			changes[j*7+i].Node = m.nodes[i%4+1]
		}
		var some []segment.Child
		for j := range n {
			some = append(some, changes[j*7+i])
		}
		m.update(t, some)
		m.check(t)
		if written := m.p.records() - before; written > 3*n+3 && n <= 10 {
			t.Errorf("%d records for %d changes", written, n)
		}
	}
	for i := range changes {
		if i%50 != 0 {
			changes[i].Node = segment.RecordID{}
		}
	}
	m.update(t, changes)
	m.check(t)
}

// records is how many there are in all segments.
func (p *pen) records() int {
	must(p.t, p.Flush())
	n := 0
	for id := range p.store.raw {
		s, err := p.store.Segment(id)
		must(p.t, err)
		n += s.Count()
	}
	return n
}

// TestMapsTooLarge is about maps at the limit, which is lowered for that.
func TestMapsTooLarge(t *testing.T) {
	const limit = 300
	p := newPen(t, newStore(), segment.Options{})
	p.LimitMaps(limit)
	x := p.node(nil)
	children := func(n int) (list []segment.Child) {
		for _, name := range propertyNames(n) {
			list = append(list, segment.Child{Name: name, Node: x})
		}
		return list
	}
	full := children(limit + 1)
	if _, err := p.Map(full); !errors.Is(err, segment.ErrTooBig) {
		t.Errorf("one too many: %v", err)
	}
	m := p.openMap(p.id(p.Map(full[:limit])))
	if _, err := p.UpdateMap(m, full[limit:]); !errors.Is(err, segment.ErrTooBig) {
		t.Errorf("one more: %v", err)
	}
	swap := []segment.Child{{Name: full[0].Name}, full[limit]}
	if m = p.openMap(p.id(p.UpdateMap(m, swap))); m.Len() != limit {
		t.Errorf("%d entries after one in the place of another", m.Len())
	}
	if _, ok, err := m.Get(full[limit].Name); !ok || err != nil {
		t.Errorf("the new one: %v, %v", ok, err)
	}
}

func TestMapsRefusedInWriting(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	x := p.node(nil)
	for _, names := range [][]string{{"a", "a"}, {"a", "b", "a"}, {"\xFF", "\xFE"}} {
		var children []segment.Child
		for _, name := range names {
			children = append(children, segment.Child{Name: name, Node: x})
		}
		if _, err := p.Map(children); !errors.Is(err, segment.ErrDraft) {
			t.Errorf("%q: %v", names, err)
		}
		if _, err := p.UpdateMap(p.openMap(p.id(p.Map(nil))), children); !errors.Is(err, segment.ErrDraft) {
			t.Errorf("changes %q: %v", names, err)
		}
	}
	if _, err := p.Map([]segment.Child{{Name: "a"}}); !errors.Is(err, segment.ErrDraft) {
		t.Errorf("a child that is none: %v", err)
	}
}

// TestOddBranches updates a map that Oak would not write, with a branch of a higher level on top: it is built anew.
func TestOddBranches(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	b := newBuilder(t)
	b.store = p.store
	b.made = 1 << 20
	b.begin()
	var children []child
	for _, name := range propertyNames(40) {
		children = append(children, child{name, b.node(nil)})
	}
	var all []string
	for _, c := range children {
		all = append(all, c.name)
	}
	slices.SortFunc(children, func(x, y child) int { return cmp.Compare(oracleMapHash(x.name), oracleMapHash(y.name)) })
	id := b.mapAt(3, children)
	m, err := b.open(id).Map()
	must(t, err)
	id = p.id(p.UpdateMap(m, []segment.Child{{Name: "new", Node: p.node(nil)}}))
	if have, want := p.shapeOf(id).String(), buildShape(0, append(all, "new")).String(); have != want {
		t.Errorf("have %s\nwant %s", have, want)
	}
}

// TestUpdateDamagedMaps updates maps whose sizes are wrong.
func TestUpdateDamagedMaps(t *testing.T) {
	b := newBuilder(t)
	names := b.childrenNamed(propertyNames(70)...)
	id := b.mapOf(names)
	b.flush()
	raw := b.store.raw[id.Segment]
	s, err := segment.Parse(id.Segment, raw)
	must(t, err)
	r, err := s.Record(id.Number)
	must(t, err)
	for _, size := range []uint32{33, 34, 69, 71, 1000} {
		binary.BigEndian.PutUint32(raw[r.Offset():], size)
		clear(b.store.parsed)
		p := newPen(t, b.store, segment.Options{})
		m, err := b.open(id).Map()
		must(t, err)
		for _, n := range []int{1, 2, 60} {
			var changes []segment.Child
			for _, c := range names[:n] {
				changes = append(changes, segment.Child{Name: c.name})
			}
			if _, err := p.UpdateMap(m, changes); err == nil {
				t.Errorf("size %d, %d changes: no error", size, n)
			} else {
				checkDamageError(t, err)
			}
		}
	}
}

// TestUpdateChildren changes the children of nodes that have none, one and more.
func TestUpdateChildren(t *testing.T) {
	all := propertyNames(40)
	for _, from := range []int{0, 1, 2, 3, 40} {
		for _, to := range []int{0, 1, 2, 3, 40} {
			for _, absent := range []int{0, 2} {
				p := newPen(t, newStore(), segment.Options{})
				base := p.openNode(p.node(nil, p.named(all[:from]...)...))
				kept := all[40-to:] // some of which are there
				var changes []segment.Child
				for _, name := range all[:from] {
					if !slices.Contains(kept, name) {
						changes = append(changes, segment.Child{Name: name})
					}
				}
				for _, name := range kept {
					if !slices.Contains(all[:from], name) {
						changes = append(changes, p.named(name)...)
					}
				}
				for i := range absent {
					changes = append(changes, segment.Child{Name: "absent" + strconv.Itoa(i)})
				}
				for _, name := range kept {
					if absent > 0 && slices.Contains(all[:from], name) {
						changes = append(changes, p.named(name)...) // another one, of the same content
					}
				}
				c, err := p.UpdateChildren(base, changes)
				must(t, err)
				if c.Len() != to {
					t.Errorf("from %d to %d: %d children", from, to, c.Len())
				}
				n := p.openNode(p.id(p.Node(&segment.Draft{Children: c})))
				checkChildren(t, n, kept, "absent0")
				if _, ok, err := n.Template().ChildName(); err != nil || ok != (to == 1) {
					t.Errorf("from %d to %d: a template of one child: %t, %v", from, to, ok, err)
				}
			}
		}
	}
}

// TestDiffAgain replaces one value twice, and puts the first one back.
func TestDiffAgain(t *testing.T) {
	m := newMapModel(t)
	var changes []segment.Child
	for _, name := range propertyNames(50) {
		changes = append(changes, segment.Child{Name: name, Node: m.nodes[0]})
	}
	m.update(t, changes)
	base := m.id
	for _, node := range m.nodes[1:3] {
		m.update(t, []segment.Child{{Name: "property7", Node: node}})
		m.check(t)
		links, err := m.p.row(m.id).Links()
		must(t, err)
		if len(links) != 3 || links[1].ID != node || links[2].ID != base {
			t.Errorf("a diff of %v, want %s on %s", links, node, base)
		}
	}
	diff := m.id
	m.update(t, []segment.Child{{Name: "property7", Node: m.nodes[0]}})
	if m.check(t); m.id != base {
		t.Errorf("the old value again: %s, want %s", m.id, base)
	}
	m.id, m.diffed, m.want["property7"] = diff, "property7", m.nodes[2]
	m.update(t, []segment.Child{{Name: "property7", Node: m.nodes[3]}, {Name: "property8", Node: m.nodes[3]}})
	m.check(t)
}
