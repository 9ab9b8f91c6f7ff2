// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"strconv"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

// discard is a sink, and a store of the last segments.
type discard struct {
	segments int
	bytes    int
	kept     map[segment.ID]*segment.Segment
}

func (d *discard) Append(s *segment.Segment) error {
	d.segments++
	d.bytes += len(s.Bytes())
	d.kept[s.ID()] = s
	return nil
}

func (d *discard) Segment(id segment.ID) (*segment.Segment, error) {
	if s := d.kept[id]; s != nil {
		return s, nil
	}
	return nil, &segment.NotFoundError{Segment: id}
}

func newDiscard(t testing.TB) (*segment.Writer, *discard) {
	d := &discard{kept: map[segment.ID]*segment.Segment{}}
	w, err := segment.NewWriter(segment.Options{Store: d, Sink: d})
	must(t, err)
	return w, d
}

// nodeWriter writes nodes of ten properties of which most have values of their own.
type nodeWriter struct {
	*segment.Writer
	draft  segment.Draft
	values [10]segment.RecordID
	n      int64
}

func newNodeWriter(w *segment.Writer) *nodeWriter {
	n := &nodeWriter{Writer: w}
	for i, name := range propertyNames(10) {
		f := segment.Field{Name: name, Type: segment.TypeLong, Values: n.values[i : i+1]}
		n.draft.Fields = append(n.draft.Fields, f)
	}
	return n
}

func (n *nodeWriter) next() (segment.RecordID, error) {
	for i := range n.values {
		id, err := n.Long(n.n * int64(i))
		if err != nil {
			return id, err
		}
		n.values[i] = id
	}
	n.n++
	return n.Node(&n.draft)
}

func BenchmarkWriteNode(b *testing.B) {
	w, d := newDiscard(b)
	n := newNodeWriter(w)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := n.next(); err != nil {
			b.Fatal(err)
		}
	}
	must(b, w.Flush())
	b.ReportMetric(float64(d.bytes)/float64(n.n), "B/node")
}

func BenchmarkWriteMap(b *testing.B) {
	for _, size := range []int{2, 32, 1000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			w, d := newDiscard(b)
			x, err := w.Node(&segment.Draft{})
			must(b, err)
			var children []segment.Child
			for _, name := range propertyNames(size) {
				children = append(children, segment.Child{Name: name, Node: x})
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Map(children); err != nil {
					b.Fatal(err)
				}
				if len(d.kept) > 100 {
					b.StopTimer()
					w, d = newDiscard(b)
					x, err = w.Node(&segment.Draft{})
					must(b, err)
					for i := range children {
						children[i].Node = x
					}
					b.StartTimer()
				}
			}
		})
	}
}

// BenchmarkUpdateMap replaces two entries of a thousand.
func BenchmarkUpdateMap(b *testing.B) {
	w, d := newDiscard(b)
	var m segment.Map
	var changes []segment.Child
	begin := func() {
		x, err := w.Node(&segment.Draft{})
		must(b, err)
		var children []segment.Child
		for _, name := range propertyNames(1000) {
			children = append(children, segment.Child{Name: name, Node: x})
		}
		id, err := w.Map(children)
		must(b, err)
		y, err := w.Node(&segment.Draft{})
		must(b, err)
		changes = []segment.Child{{Name: "property7", Node: y}, {Name: "property300", Node: y}}
		must(b, w.Flush())
		r, err := segment.Find(w, id)
		must(b, err)
		m, err = r.Map()
		must(b, err)
	}
	begin()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.UpdateMap(m, changes); err != nil {
			b.Fatal(err)
		}
		if len(d.kept) > 100 {
			w, d = newDiscard(b)
			begin()
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	store := newStore()
	p := newPen(b, store, segment.Options{})
	n := newNodeWriter(p.Writer)
	var children []segment.Child
	for _, name := range propertyNames(1000) {
		children = append(children, segment.Child{Name: name, Node: p.id(n.next())})
	}
	root := p.openNode(p.node(nil, children...))
	b.ReportAllocs()
	for b.Loop() {
		d := &discard{kept: map[segment.ID]*segment.Segment{}}
		w, err := segment.NewWriter(segment.Options{Store: d, Sink: d, Generation: segment.Generation{Generation: 1, Full: 1}})
		must(b, err)
		if _, err := w.Copy(b.Context(), root); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1001, "ns/node")
}

// TestWritesHardlyAllocate demands that nodes and values take no memory of their own: only caches and segments grow, which
// is less than once a node.
func TestWritesHardlyAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too")
	}
	w, _ := newDiscard(t)
	n := newNodeWriter(w)
	for range 3000 {
		_, err := n.next()
		must(t, err)
	}
	known := testing.AllocsPerRun(2000, func() {
		_, err := n.Node(&n.draft)
		must(t, err)
	})
	if known > 0 {
		t.Errorf("%v allocations for a node of known values", known)
	}
	found := testing.AllocsPerRun(2000, func() {
		_, err := w.String("property7")
		must(t, err)
	})
	if found != 0 {
		t.Errorf("%v allocations for a known string", found)
	}
	made := testing.AllocsPerRun(2000, func() {
		_, err := n.next()
		must(t, err)
	})
	if made > 0 {
		t.Errorf("%v allocations for a node of ten new values", made)
	}
}
