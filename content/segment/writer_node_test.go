// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

// TestWriteWideNodes has templates with lists of names, and nodes with lists of values, of one and more levels.
func TestWriteWideNodes(t *testing.T) {
	for _, n := range []int{0, 1, 2, 15, 16, 17, 100, 254, 255, 256, 257, 300, 510, 511, 1000} {
		p := newPen(t, newStore(), segment.Options{})
		var props []property
		for i, name := range propertyNames(n) {
			props = append(props, property{name, segment.TypeLong, []string{strconv.Itoa(i)}})
		}
		absent := []string{"", "property", "property" + strconv.Itoa(n), "jcr:primaryType", "\uFFFD"}
		checkProperties(t, p.openNode(p.node(props)), props, absent...)
		slices.Reverse(props)
		checkProperties(t, p.openNode(p.node(props)), props, absent...)
		if have := p.count(segment.RecordTemplate); have != 1 {
			t.Errorf("%d properties: %d templates", n, have)
		}
	}
}

func TestWriteSpecialProperties(t *testing.T) {
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
		{mixins, primary},
		{x, mixins, primary},
		{primary, x},
		{many},
		{x, primary, many},
		{{"jcr:mixinTypes", segment.TypeNames, nil}, x},
		{{"jcr:mixinTypes", segment.TypeNames, []string{"one"}}},
		{{"jcr:primaryType", segment.TypeString, []string{"a"}}, {"jcr:mixinTypes", segment.TypeName, []string{"b"}}},
		{{"jcr:primaryType", segment.TypeNames, []string{"a", "b"}}, {"jcr:mixinTypes", segment.TypeStrings, nil}, x},
	} {
		for _, children := range [][]string{nil, {"one"}, {"one", "two"}} {
			p := newPen(t, newStore(), segment.Options{})
			n := p.openNode(p.node(props, p.named(children...)...))
			checkProperties(t, n, props, "absent", "jcr:primary")
			checkChildren(t, n, children, "absent")
			// The same with the LIST of each array instead of its values.
			fields := p.fields(props)
			for i := range fields {
				if f := &fields[i]; f.Type.IsArray() {
					f.List, f.Values = p.id(p.Array(f.Values)), nil
				}
			}
			checkProperties(t, p.openNode(p.id(p.Node(&segment.Draft{Fields: fields}))), props)
		}
	}
}

// TestWriteTemplateVectors has heads of templates, and one with 18 properties, byte for byte.
func TestWriteTemplateVectors(t *testing.T) {
	long := []property{{"a", segment.TypeLong, []string{"1"}}}
	special := []property{
		{"jcr:primaryType", segment.TypeName, []string{"p"}},
		{"jcr:mixinTypes", segment.TypeNames, []string{"a", "b"}},
		{"1", segment.TypeString, []string{"s"}},
		{"2", segment.TypeLongs, nil},
		{"3", segment.TypeDate, []string{"d"}},
	}
	for _, tt := range []struct {
		props    []property
		children int
		head     string
	}{
		{nil, 0, "20000000"}, {nil, 1, "00000000"}, {long, 0, "20000001"}, {special, 2, "d0080003"}, {nil, 2, "10000000"},
	} {
		p := newPen(t, newStore(), segment.Options{})
		n := p.openNode(p.node(tt.props, p.named(propertyNames(tt.children)...)...))
		row := p.row(n.Template().ID())
		if have := fmt.Sprintf("%x", row.Bytes[:4]); have != tt.head {
			t.Errorf("head %s, want %s", have, tt.head)
		}
	}
	types := map[string]segment.Type{
		"double": 4, "string": 1, "bin": 2, "ref": 9, "uri": 11, "date": 5, "dec2": 12, "dinf": 4, "dmin": 4, "dnan": 4,
		"long": 3, "name": 7, "path": 8, "wref": 10, "boolean": 6, "decimal": 12, "double2": 4, "booleanf": 6,
	}
	props := []property{{"jcr:mixinTypes", segment.TypeNames, []string{"a", "b"}}}
	for name, typ := range types {
		props = append(props, property{name, typ, []string{"x"}})
	}
	props = append(props, property{"jcr:primaryType", segment.TypeName, []string{"nt:unstructured"}})
	p := newPen(t, newStore(), segment.Options{})
	row := p.row(p.openNode(p.node(props)).Template().ID())
	if have, want := fmt.Sprintf("%x", row.Bytes[:4]), "e0080012"; have != want || len(row.Bytes) != 48 {
		t.Errorf("head %s, want %s; %d bytes", have, want, len(row.Bytes))
	}
	if have, want := fmt.Sprintf("%x", row.Bytes[28:]), "04010209 0b050c0404040307080a060c0406 0000"; have !=
		strings.ReplaceAll(want, " ", "") {
		t.Errorf("types %s, want %s", have, want)
	}
}

// TestTemplatesShared has nodes of equal shape, and such that differ in one thing.
func TestTemplatesShared(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	str := func(name string) property { return property{name, segment.TypeString, []string{"v"}} }
	named := func(name string, values ...string) property {
		if len(values) == 1 {
			return property{"jcr:primaryType", segment.TypeName, values}
		}
		return property{"jcr:mixinTypes", segment.TypeNames, values}
	}
	shapes := []func() segment.RecordID{}
	for _, props := range [][]property{
		nil,
		{str("a")},
		{str("b")},
		{str("a"), str("b")},
		{str("ab")},
		{{"a", segment.TypeLong, []string{"v"}}},
		{{"a", segment.TypeStrings, []string{"v"}}},
		{named("", "p")},
		{named("", "q")},
		{named("", "p", "q")},
		{named("", "q", "p")},
		{named("", "p"), named("", "p", "q")},
		{named("")},
	} {
		for _, children := range [][]string{nil, {"a"}, {"b"}, {"a", "b"}} {
			shapes = append(shapes, func() segment.RecordID { return p.node(props, p.named(children...)...) })
		}
	}
	seen := map[segment.RecordID]int{}
	for i, shape := range shapes {
		one, two := p.openNode(shape()), p.openNode(shape())
		id := one.Template().ID()
		if id != two.Template().ID() {
			t.Errorf("shape %d: templates %s and %s", i, id, two.Template().ID())
		}
		if j, ok := seen[id]; ok {
			t.Errorf("shapes %d and %d share a template", i, j)
		}
		seen[id] = i
	}
	if more := p.openNode(p.node(nil, p.named("x", "y", "z")...)).Template().ID(); seen[more] != 3 {
		t.Errorf("other children: template of shape %d", seen[more])
	}
}

func TestWriteAllTypes(t *testing.T) {
	var props []property
	for typ := segment.TypeString; typ <= segment.TypeDecimal; typ++ {
		props = append(props,
			property{"one " + typ.String(), typ, []string{typ.String()}},
			property{"none " + typ.String(), -typ, nil},
			property{"array of one " + typ.String(), -typ, []string{"x"}},
			property{"array " + typ.String(), -typ, []string{"b", "a", "a", strings.Repeat("x", 20_000), ""}})
	}
	p := newPen(t, newStore(), segment.Options{})
	checkProperties(t, p.openNode(p.node(props)), props)
}

func TestDraftsRefused(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	x := p.text("x")
	one, two := []segment.RecordID{x}, []segment.RecordID{x, x}
	list := p.id(p.Array(two))
	primary, mixins := "jcr:primaryType", "jcr:mixinTypes"
	for i, fields := range [][]segment.Field{
		{{Name: "a", Type: segment.TypeUndefined, Values: one}},
		{{Name: "a", Type: 13, Values: one}},
		{{Name: "a", Type: -13, Values: one}},
		{{Name: "a", Type: segment.TypeLong}},
		{{Name: "a", Type: segment.TypeLong, Values: two}},
		{{Name: "a", Type: segment.TypeLong, List: list}},
		{{Name: "a", Type: segment.TypeLong, Values: one, List: list}},
		{{Name: "a", Type: segment.TypeLongs, Values: one, List: list}},
		{{Name: "a", Type: segment.TypeLong, Values: one}, {Name: "a", Type: segment.TypeString, Values: one}},
		{{Name: "\xFF", Type: segment.TypeLong, Values: one}, {Name: "\xFE", Type: segment.TypeLong, Values: one}},
		{{Name: primary, Type: segment.TypeName}},
		{{Name: primary, Type: segment.TypeName, Values: two}},
		{{Name: primary, Type: segment.TypeName, Values: one}, {Name: primary, Type: segment.TypeName, Values: one}},
		{{Name: mixins, Type: segment.TypeNames, Values: rep(x, 1024)}},
		{{Name: mixins, Type: segment.TypeNames}, {Name: mixins, Type: segment.TypeNames}},
	} {
		if _, err := p.Node(&segment.Draft{Fields: fields}); !errors.Is(err, segment.ErrDraft) {
			t.Errorf("case %d: %v", i, err)
		}
	}
	if _, err := p.Node(&segment.Draft{Fields: []segment.Field{{
		Name: mixins, Type: segment.TypeNames,
		List: segment.RecordID{Segment: x.Segment, Number: 99},
	}}}); err == nil {
		t.Error("mixin types that are not there: no error")
	}
}

// TestWriteStableIDs has new nodes, whose stable id is their own, and copies.
func TestWriteStableIDs(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	id := p.node(nil)
	if have, err := p.openNode(id).StableID(); err != nil || have != id {
		t.Errorf("stable id %s, want %s: %v", have, id, err)
	}
	if row := p.row(id); row.Bytes[1] != 0 || row.Bytes[5] != byte(id.Number) {
		t.Errorf("stable id %x, want the node's own", row.Bytes[:6])
	}
	stable := segment.RecordID{Segment: segment.NewDataID(), Number: 1 << 31}
	if _, ok := p.Copied(stable); ok {
		t.Error("copied before it was")
	}
	id = p.id(p.Node(&segment.Draft{StableID: stable}))
	if have, err := p.openNode(id).StableID(); err != nil || have != stable {
		t.Errorf("stable id %s, want %s: %v", have, stable, err)
	}
	if have, ok := p.Copied(stable); !ok || have != id {
		t.Errorf("copied %s, want %s", have, id)
	}
}

// TestPrimaryTypesDiffer has nodes that differ in the primary type only, in one segment.
func TestPrimaryTypesDiffer(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	var ids []segment.RecordID
	for _, name := range []string{"p", "q"} {
		ids = append(ids, p.node([]property{{"jcr:primaryType", segment.TypeName, []string{name}}}))
	}
	for i, name := range []string{"p", "q"} {
		checkProperties(t, p.openNode(ids[i]), []property{{"jcr:primaryType", segment.TypeName, []string{name}}})
	}
}
