// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

// TestCopyStore copies a store that has everything, written by the builder.
func TestCopyStore(t *testing.T) {
	store, root := smallStore(t)
	_, want, _ := strings.Cut(dumpStore(t, store, root), "\n") // without the head
	r, err := segment.Find(store, root)
	must(t, err)
	n, err := r.Node()
	must(t, err)
	bulk := 0
	g := segment.Generation{Generation: 1, Full: 1, Compacted: true}
	// Without a cache of copies, as two nodes here have a stable id in common that are not equal.
	p := newPen(t, store, segment.Options{Generation: g, Cache: segment.NewCache(g, &segment.CacheSizes{Copies: -1})})
	for id := range store.raw {
		if id.IsBulk() {
			bulk++
		}
	}
	id := p.id(p.Copy(t.Context(), n))
	must(t, p.Flush())
	p.dropOld()
	_, have, _ := strings.Cut(dumpStore(t, store, id), "\n")
	compareDumps(t, have, want)
	for id := range store.raw {
		if id.IsBulk() {
			bulk--
		}
	}
	if bulk != 0 {
		t.Errorf("%d bulk segments more than were there", -bulk)
	}
	again := p.id(p.Copy(t.Context(), p.openNode(id)))
	if again != id {
		t.Errorf("a copy of what need not be copied: %s", again)
	}
}

// TestCopyOnce copies a node that several have as child.
func TestCopyOnce(t *testing.T) {
	store := newStore()
	p := newPen(t, store, segment.Options{})
	n := p.named("x")[0].Node
	var children []segment.Child
	for _, name := range propertyNames(50) {
		children = append(children, segment.Child{Name: name, Node: n})
	}
	root := p.openNode(p.node(nil, children...))
	g := segment.Generation{Generation: 1, Full: 1, Compacted: true}
	q := newPen(t, newStore(), segment.Options{Generation: g, Store: store})
	q.id(q.Copy(t.Context(), root))
	must(t, q.Flush())
	if have := q.count(segment.RecordNode); have != 2 {
		t.Errorf("%d nodes, want 2", have)
	}
	if have := q.count(segment.RecordTemplate); have != 2 {
		t.Errorf("%d templates, want 2", have)
	}
}

// TestTailCopy has a node of which a part is of a compacted generation that stays: only the rest is written.
func TestTailCopy(t *testing.T) {
	store := newStore()
	compacted := newPen(t, store, segment.Options{Generation: segment.Generation{Generation: 1, Full: 1, Compacted: true}})
	names := propertyNames(100)
	base := compacted.openNode(compacted.node([]property{
		{"list", segment.TypeLongs, []string{"1", "2"}}, {"one", segment.TypeString, []string{"x"}},
	}, compacted.named(names...)...))

	p := newPen(t, store, segment.Options{Generation: segment.Generation{Generation: 1, Full: 1}})
	c, err := p.UpdateChildren(base, p.named("new"))
	must(t, err)
	var d segment.Draft
	for i := range base.PropertyCount() {
		f, err := p.Field(base, i)
		must(t, err)
		d.Fields = append(d.Fields, f)
	}
	d.Children = c
	d.Fields = append(d.Fields, p.fields([]property{{"more", segment.TypeStrings, []string{"y", "z"}}})...)
	n := p.openNode(p.id(p.Node(&d)))

	q := newPen(t, store, segment.Options{Generation: segment.Generation{Generation: 2, Full: 1, Compacted: true}})
	id := q.id(q.Copy(t.Context(), n))
	q.openNode(id)
	q.dropOld()
	checkChildren(t, q.openNode(id), append(names, "new"))
	checkProperties(t, q.openNode(id), []property{
		{"list", segment.TypeLongs, []string{"1", "2"}},
		{"one", segment.TypeString, []string{"x"}},
		{"more", segment.TypeStrings, []string{"y", "z"}},
	})
	s, err := store.Segment(id.Segment)
	must(t, err)
	nodes := 0
	for row := range s.Records() {
		if row.Type == segment.RecordNode {
			nodes++
		}
	}
	if nodes != 2 {
		t.Errorf("%d nodes are written, want 2", nodes)
	}
}

// TestFields copies properties one by one, from an older generation and from the same.
func TestFields(t *testing.T) {
	props := []property{
		{"jcr:primaryType", segment.TypeName, []string{"nt:file"}},
		{"jcr:mixinTypes", segment.TypeNames, []string{"mix:a", "mix:b"}},
		{"text", segment.TypeString, []string{strings.Repeat("x", 20_000)}},
		{"data", segment.TypeBinary, []string{strings.Repeat("x", 20_000)}},
		{"datas", segment.TypeBinaries, []string{"x", strings.Repeat("y", 17_000)}},
		{"none", segment.TypeLongs, nil},
		{"longs", segment.TypeLongs, []string{"1", "2"}},
	}
	store := newStore()
	p := newPen(t, store, segment.Options{})
	n := p.openNode(p.node(props))
	values := p.count(segment.RecordValue)
	for i, g := range []segment.Generation{{}, {Generation: 1, Full: 1, Compacted: true}} {
		q := newPen(t, store, segment.Options{Generation: g})
		var d segment.Draft
		for i := range n.PropertyCount() {
			f, err := q.Field(n, i)
			must(t, err)
			d.Fields = append(d.Fields, f)
		}
		copied := q.openNode(q.id(q.Node(&d)))
		checkProperties(t, copied, props)
		if more := q.count(segment.RecordValue) - values; i == 0 && more != len(props)-2 {
			t.Errorf("%d values more", more) // names, of a new template, as the cache is new
		}
	}
}

func TestCopyStops(t *testing.T) {
	store, root := smallStore(t)
	r, err := segment.Find(store, root)
	must(t, err)
	n, err := r.Node()
	must(t, err)
	p := newPen(t, store, segment.Options{Generation: segment.Generation{Generation: 1, Full: 1, Compacted: true}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Copy(ctx, n); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestCopyOfCycle has a node that is its own child, and templates whose properties are out of order.
func TestCopyOfCycle(t *testing.T) {
	b := newBuilder(t)
	tmpl := b.template(nil, []child{{"x", segment.RecordID{}}})
	me := segment.RecordID{Segment: b.id, Number: uint32(len(b.records))}
	b.record(segment.RecordBlock, make([]byte, 20))
	me.Number++
	b.record(segment.RecordNode, segment.RecordID{Segment: b.id, Number: me.Number - 1}, tmpl, me)
	n := b.openNode(me)
	p := newPen(t, b.store, segment.Options{Generation: segment.Generation{Generation: 1, Full: 1}})
	if _, err := p.Copy(t.Context(), n); err == nil {
		t.Error("a node in itself: no error")
	} else {
		checkDamageError(t, err)
	}

	names := b.list([]segment.RecordID{b.name("b"), b.name("a")})
	odd := b.record(segment.RecordTemplate, uint32(1<<29|2), names, []byte{1, 1})
	x := b.name("x")
	n = b.openNode(b.nodeOf(odd, b.list([]segment.RecordID{x, x})))
	if _, err := p.Copy(t.Context(), n); err == nil {
		t.Error("properties out of order: no error")
	} else {
		checkDamageError(t, err)
	}
}

// TestBinaryInDataSegments copies a long binary whose blocks are not in bulk segments: they are then.
func TestBinaryInDataSegments(t *testing.T) {
	b := newBuilder(t)
	data := randomBytes(20_000)
	tmpl := b.template([]property{{"x", segment.TypeBinary, nil}}, nil)
	n := b.openNode(b.nodeOf(tmpl, b.value(data)))
	p := newPen(t, b.store, segment.Options{Generation: segment.Generation{Generation: 1, Full: 1}})
	id := p.id(p.Copy(t.Context(), n))
	p.openNode(id)
	p.dropOld()
	checkProperties(t, p.openNode(id), []property{{"x", segment.TypeBinary, []string{string(data)}}})
	p.checkBulk("the binary", len(data), 1)
}

// TestCopyOfMalformedText writes what was read of it.
func TestCopyOfMalformedText(t *testing.T) {
	b := newBuilder(t)
	n := b.openNode(b.node([]property{{"x", segment.TypeString, []string{"a\xED\xA0\x80b"}}}))
	p := newPen(t, b.store, segment.Options{Generation: segment.Generation{Generation: 1, Full: 1}})
	have := p.openNode(p.id(p.Copy(t.Context(), n)))
	checkProperties(t, have, []property{{"x", segment.TypeString, []string{"a\uFFFDb"}}})
}
