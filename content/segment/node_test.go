// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/content/segment"
)

// checkProperties demands that a node has these properties, by order, name and index.
func checkProperties(t testing.TB, n segment.Node, props []property, absent ...string) {
	t.Helper()
	var want []property
	for _, special := range []func(property) bool{isPrimary, isMixins} {
		for _, p := range props {
			if special(p) {
				want = append(want, p)
			}
		}
	}
	want = append(want, others(props)...)
	tmpl := n.Template()
	if n.PropertyCount() != len(want) || tmpl.Count() != len(want) {
		t.Fatalf("%d properties, %d in the template, want %d", n.PropertyCount(), tmpl.Count(), len(want))
	}
	i := 0
	c := n.Properties()
	for ; c.Next(); i++ {
		checkProperty(t, &c.Property, want[i])
		at, err := n.PropertyAt(i)
		must(t, err)
		checkProperty(t, &at, want[i])
		found, ok, err := n.Property(want[i].name)
		if !ok || err != nil {
			t.Fatalf("property %q: %t, %v", want[i].name, ok, err)
		}
		checkProperty(t, &found, want[i])
		name, err := tmpl.PropertyName(i)
		must(t, err)
		typ, err := tmpl.PropertyType(i)
		must(t, err)
		if string(name) != want[i].name || typ != want[i].typ {
			t.Errorf("property %d of the template: %q, %s", i, name, typ)
		}
	}
	if c.Err() != nil || i != len(want) || c.Next() {
		t.Errorf("%d properties, want %d: %v", i, len(want), c.Err())
	}
	for _, name := range absent {
		if p, ok, err := n.Property(name); ok || err != nil {
			t.Errorf("property %q is %q: %v", name, p.Name, err)
		}
	}
}

func checkProperty(t testing.TB, p *segment.Property, want property) {
	t.Helper()
	if string(p.Name) != want.name || p.Type != want.typ || p.Count() != len(want.values) {
		t.Fatalf("property %q, %s, of %d, want %v", p.Name, p.Type, p.Count(), want)
	}
	for i, text := range want.values {
		v, err := p.Value(i)
		must(t, err)
		if have, err := v.AppendTo(nil, 1<<30); err != nil || string(have) != text {
			t.Fatalf("property %q, value %d is %.80q, want %.80q: %v", p.Name, i, have, text, err)
		}
	}
}

// TestWideNodes has templates with lists of names, and nodes with lists of values, of one and more levels.
func TestWideNodes(t *testing.T) {
	for _, n := range []int{0, 1, 2, 15, 16, 17, 100, 254, 255, 256, 257, 300, 510, 511, 1000} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			b := newBuilder(t)
			var props []property
			for i, name := range propertyNames(n) {
				props = append(props, property{name, segment.TypeLong, []string{strconv.Itoa(i)}})
			}
			absent := []string{"", "property", "property" + strconv.Itoa(n), "jcr:primaryType", "\uFFFD"}
			checkProperties(t, b.openNode(b.node(props)), props, absent...)
		})
	}
}

// TestWidestNode has as many properties as a template can count, of which all have the same name and value.
func TestWidestNode(t *testing.T) {
	const most = 1<<18 - 1
	b := newBuilder(t)
	one := b.name("one")
	list := b.list(rep(one, most))
	types := make([]byte, 200_000)
	tmpl := b.record(segment.RecordTemplate, uint32(1<<29|len(types)), list, types)
	n := b.openNode(b.nodeOf(tmpl, b.list(rep(one, len(types)))))
	if n.PropertyCount() != len(types) {
		t.Fatalf("%d properties", n.PropertyCount())
	}
	p, err := n.PropertyAt(len(types) - 1)
	if err != nil || p.Type != segment.TypeUndefined || string(p.Name) != "one" {
		t.Errorf("%q, %s: %v", p.Name, p.Type, err)
	}
}

// TestSpecialProperties has jcr:primaryType and jcr:mixinTypes of the usual types, and of others.
func TestSpecialProperties(t *testing.T) {
	primary := property{"jcr:primaryType", segment.TypeName, []string{"nt:unstructured"}}
	mixins := property{"jcr:mixinTypes", segment.TypeNames, []string{"mix:a", "mix:b"}}
	many := property{"jcr:mixinTypes", segment.TypeNames, nil}
	for i := range 1023 {
		many.values = append(many.values, "mix:"+strconv.Itoa(i))
	}
	x := property{"x", segment.TypeString, []string{"y"}}
	for _, props := range [][]property{
		{primary},
		{mixins},
		{primary, mixins},
		{primary, mixins, x},
		{primary, x},
		{many},
		{primary, many, x},
		{{"jcr:mixinTypes", segment.TypeNames, nil}, x},
		{{"jcr:mixinTypes", segment.TypeNames, []string{"one"}}},
		{{"jcr:primaryType", segment.TypeString, []string{"a"}}, {"jcr:mixinTypes", segment.TypeName, []string{"b"}}},
		{{"jcr:primaryType", segment.TypeNames, []string{"a", "b"}}, {"jcr:mixinTypes", segment.TypeStrings, nil}, x},
	} {
		for _, children := range [][]string{nil, {"one"}, {"one", "two"}} {
			b := newBuilder(t)
			n := b.openNode(b.node(props, b.childrenNamed(children...)...))
			checkProperties(t, n, props, "absent", "jcr:primary")
			checkChildren(t, n, children, "absent")
			p, ok := n.Template().PrimaryType()
			if ok != isPrimary(props[0]) {
				t.Errorf("a primary type: %t", ok)
			} else if ok {
				checkProperty(t, &p, primary)
			}
			name, ok, err := n.Template().ChildName()
			if err != nil || ok != (len(children) == 1) || ok && string(name) != "one" {
				t.Errorf("name of the child: %q, %t, %v", name, ok, err)
			}
		}
	}
}

// TestTemplateVectors has heads as Oak writes them.
func TestTemplateVectors(t *testing.T) {
	b := newBuilder(t)
	long := property{"x", segment.TypeLong, []string{"1"}}
	primary := property{"jcr:primaryType", segment.TypeName, []string{"nt:unstructured"}}
	mixins := property{"jcr:mixinTypes", segment.TypeNames, []string{"mix:a", "mix:b"}}
	one, two := b.childrenNamed("a"), b.childrenNamed("a", "b")
	props := []property{primary, mixins, long, {"y", 1, []string{""}}, {"z", 1, []string{""}}}
	for _, tt := range []struct {
		props    []property
		children []child
		head     uint32
	}{
		{nil, nil, 0x20000000},
		{nil, one, 0},
		{[]property{long}, nil, 0x20000001},
		{props, two, 0xd0080003},
	} {
		r := b.open(b.template(tt.props, tt.children))
		if head := binary.BigEndian.Uint32(r.Segment().Bytes()[r.Offset():]); head != tt.head {
			t.Errorf("head %08x, want %08x", head, tt.head)
		}
	}
	types := map[string]segment.Type{
		"double": 4, "string": 1, "bin": 2, "ref": 9, "uri": 11, "date": 5, "dec2": 12, "dinf": 4, "dmin": 4, "dnan": 4,
		"long": 3, "name": 7, "path": 8, "wref": 10, "boolean": 6, "decimal": 12, "double2": 4, "booleanf": 6,
	}
	props = []property{primary, mixins}
	for name, typ := range types {
		props = append(props, property{name, typ, []string{"v"}})
	}
	r := b.open(b.template(props, nil))
	data := r.Segment().Bytes()[r.Offset():]
	if have, want := fmt.Sprintf("%x", data[:4]), "e0080012"; have != want {
		t.Errorf("head %s, want %s", have, want)
	}
	if have, want := fmt.Sprintf("%x", data[4+4*6:][:18]), "040102090b050c040404030708"+"0a060c0406"; have != want {
		t.Errorf("types %s, want %s", have, want)
	}
}

// TestAllTypes has every type, alone and in arrays.
func TestAllTypes(t *testing.T) {
	b := newBuilder(t)
	var props []property
	for typ := segment.TypeUndefined; typ <= segment.TypeDecimal; typ++ {
		props = append(props, property{typ.String(), typ, []string{"value of " + typ.String()}})
		for _, n := range []int{0, 1, 2, 300} {
			if typ == segment.TypeUndefined {
				break // its array has the same tag
			}
			var values []string
			for i := range n {
				values = append(values, typ.String()+strconv.Itoa(i%7))
			}
			props = append(props, property{fmt.Sprint(typ, n), -typ, values})
		}
	}
	props = append(props, property{"large", segment.TypeBinary, []string{string(randomBytes(300_000))}})
	props = append(props, property{"long", segment.TypeString, []string{strings.Repeat("é", 300_000)}})
	checkProperties(t, b.openNode(b.node(props)), props, "absent")
}

// TestPropertyNames has names whose hashes are negative, equal, and whose order is that of UTF-16.
func TestPropertyNames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		runes := append(append([]rune{}, oddRunes...), []rune("AaBBCc")...)
		names := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
			return string(rapid.SliceOfN(rapid.SampledFrom(runes), 1, 4).Draw(t, "name"))
		}), 0, 40, rapid.ID).Draw(rt, "names")
		var props []property
		for _, name := range names {
			props = append(props, property{name, segment.TypeString, []string{name}})
		}
		b := newBuilder(t)
		checkProperties(t, b.openNode(b.node(props)), props, "absent", "Aa/BB")
	})
	b := newBuilder(t)
	var props []property
	for i, name := range append(collide(60), strings.Repeat("n", 20_000), strings.Repeat("n", 200)) {
		props = append(props, property{name, segment.TypeLong, []string{strconv.Itoa(i)}})
	}
	checkProperties(t, b.openNode(b.node(props)), props, collide(61)[60], strings.Repeat("n", 20_001))
}

// TestMalformedNames finds names that are not UTF-8 by their text.
func TestMalformedNames(t *testing.T) {
	b := newBuilder(t)
	text := "a\uFFFDb"
	raw := b.value([]byte("a\xffb"))
	node := b.node(nil)
	few := b.record(segment.RecordTemplate, uint32(1), raw, raw, []byte{1})
	n := b.openNode(b.nodeOf(few, node, raw))
	p, ok, err := n.Property(text)
	if !ok || err != nil || string(p.Name) != "a\xffb" {
		t.Errorf("property: %q, %t, %v", p.Name, ok, err)
	}
	v, err := p.Value(0)
	must(t, err)
	if have, err := v.Text(100); err != nil || have != text {
		t.Errorf("value %q: %v", have, err)
	}
	if _, ok, err := n.Child(text); !ok || err != nil {
		t.Errorf("child: %t, %v", ok, err)
	}
	leaf := b.record(segment.RecordLeaf, uint32(1), oracleMapHash(text), raw, node)
	m, err := b.open(leaf).Map()
	must(t, err)
	if _, ok, err := m.Get(text); !ok || err != nil {
		t.Errorf("entry: %t, %v", ok, err)
	}
}

func TestStableIDs(t *testing.T) {
	b := newBuilder(t)
	tmpl := b.template(nil, nil)
	self := b.openNode(b.nodeOf(tmpl))
	if id, err := self.StableID(); err != nil || id != self.ID() {
		t.Errorf("own stable id %s, want %s: %v", id, self.ID(), err)
	}
	want := segment.RecordID{Segment: segment.NewDataID(), Number: 1 << 31}
	block := b.record(segment.RecordBlock, want.Segment.MSB, want.Segment.LSB, want.Number)
	for _, elsewhere := range []bool{false, true} {
		if elsewhere {
			b.flush()
		}
		n := b.openNode(b.record(segment.RecordNode, block, tmpl))
		if id, err := n.StableID(); err != nil || id != want {
			t.Errorf("stable id %s, want %s: %v", id, want, err)
		}
	}
	lost := segment.RecordID{Segment: b.id, Number: 99}
	if _, err := b.openNode(b.record(segment.RecordNode, lost, tmpl)).StableID(); !isCorrupt(err) {
		t.Errorf("no stable id: %v", err)
	}
}

func TestNodesRefused(t *testing.T) {
	b := newBuilder(t)
	nowhere := segment.RecordID{Segment: b.id, Number: 1 << 20}
	lost := segment.RecordID{Segment: segment.NewDataID()}
	name := b.name("name")
	node := b.node(nil)
	for what, parts := range map[string][]any{
		"no template":      {nowhere},
		"a lost template":  {lost},
		"contradictory":    {b.record(segment.RecordTemplate, uint32(3<<28))},
		"type 13":          {b.record(segment.RecordTemplate, uint32(1<<29|1), name, int8(13)), name},
		"type -13":         {b.record(segment.RecordTemplate, uint32(1<<29|1), name, int8(-13)), name},
		"type -128":        {b.record(segment.RecordTemplate, uint32(1<<29|1), name, int8(-128)), name},
		"no name":          {b.record(segment.RecordTemplate, uint32(1<<29|1), nowhere, int8(1)), name},
		"no value":         {b.record(segment.RecordTemplate, uint32(1<<29|1), name, int8(1)), nowhere},
		"no array":         {b.record(segment.RecordTemplate, uint32(1<<29|1), name, int8(-1)), nowhere},
		"no names":         {b.record(segment.RecordTemplate, uint32(1<<29|2), nowhere, int8(1), int8(1)), name},
		"no values":        {b.record(segment.RecordTemplate, uint32(1<<29|2), b.list(rep(name, 2)), uint16(0x101)), nowhere},
		"no child":         {b.record(segment.RecordTemplate, uint32(0), name), nowhere},
		"no child's name":  {b.record(segment.RecordTemplate, uint32(0), nowhere), node},
		"no children":      {b.record(segment.RecordTemplate, uint32(1<<28)), nowhere},
		"no primary type":  {b.record(segment.RecordTemplate, uint32(1<<31|1<<29), nowhere)},
		"no mixin":         {b.record(segment.RecordTemplate, uint32(1<<30|1<<29|1<<18), nowhere)},
		"an endless shape": {b.record(segment.RecordTemplate, uint32(1<<29|1<<18-1))},
	} {
		t.Run(what, func(t *testing.T) {
			n, err := b.open(b.record(segment.RecordNode, append([]any{name}, parts...)...)).Node()
			if err == nil {
				err = new(reading).all(n)
			}
			if _, ok := errors.AsType[*segment.NotFoundError](err); !ok && !isCorrupt(err) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestCutName has a name that passes the end of the segment by one byte.
func TestCutName(t *testing.T) {
	b := newBuilder(t)
	b.records, b.used = nil, 0
	name := b.record(segment.RecordValue, []byte("\x04abc"))
	tmpl := b.record(segment.RecordTemplate, uint32(0), name)
	if _, _, err := b.openNode(b.nodeOf(tmpl, name)).Child("abc"); !isCorrupt(err) {
		t.Errorf("%v", err)
	}
}

// TestMixinsNotThere has a template with a number of mixins, but without the bit that says that there are any.
func TestMixinsNotThere(t *testing.T) {
	b := newBuilder(t)
	n := b.openNode(b.nodeOf(b.record(segment.RecordTemplate, uint32(1<<29|5<<18|1), b.name("x"), int8(1)), b.name("y")))
	checkProperties(t, n, []property{{"x", segment.TypeString, []string{"y"}}}, "jcr:mixinTypes")
}

func TestCutNodes(t *testing.T) {
	for what, parts := range map[string][]any{
		"nothing":   {uint64(0)},
		"no child":  {uint16(0), uint32(0), uint16(0), uint32(1)},
		"no mixins": {uint32(3<<30 | 1<<29 | 5<<18)},
		"no types":  {uint32(1<<29 | 3), uint16(0), uint32(0), uint16(0x101)}, // one is missing
	} {
		b := newBuilder(t)
		b.records, b.used = nil, 0
		id := b.record(segment.RecordNode, parts...)
		b.record(segment.RecordTemplate, uint32(1<<28))
		r := b.open(id)
		_, err := r.Node()
		if what == "no mixins" || what == "no types" {
			_, err = r.Template()
		}
		if !isCorrupt(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
