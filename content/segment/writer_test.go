// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holtdb/holt/content/segment"
)

// TestWriteVectors writes the two segments that Oak makes for one commit of /hello with x = 42.
func TestWriteVectors(t *testing.T) {
	want := vectorStore(t)
	store := newStore()
	ids := []segment.ID{parseID(t, firstID), parseID(t, secondID)}
	o := segment.Options{
		Name:  "init",
		Cache: segment.NewCache(segment.Generation{}, nil),
		IDs: &segment.IDs{New: func(bool) segment.ID {
			id := ids[0]
			ids = ids[1:]
			return id
		}},
		Now: func() time.Time { return time.UnixMilli(1796041571680) },
	}
	p := newPen(t, store, o)
	child := func(name string, id segment.RecordID) segment.Children {
		c, err := p.Children([]segment.Child{{Name: name, Node: id}})
		must(t, err)
		return c
	}
	super := segment.Draft{Children: child("root", segment.RecordID{})}
	p.id(p.Template(&super))
	super.Children = child("root", p.id(p.Node(&segment.Draft{})))
	p.id(p.Node(&super))
	must(t, p.Flush())

	o.IDs.Skip(1)
	o.Name, o.Now = "sys.0000", func() time.Time { return time.UnixMilli(1796041572036) }
	p = newPen(t, store, o)
	root := segment.Draft{Children: child("hello", segment.RecordID{})}
	p.id(p.Template(&root))
	hello := segment.Draft{Fields: []segment.Field{{Name: "x", Type: segment.TypeLong}}}
	p.id(p.Template(&hello))
	hello.Fields[0].Values = []segment.RecordID{p.id(p.Long(42))}
	root.Children = child("hello", p.id(p.Node(&hello)))
	super.Children = child("root", p.id(p.Node(&root)))
	head := p.id(p.Node(&super))
	must(t, p.Flush())

	if head.String() != secondID+":8" {
		t.Errorf("head %s", head)
	}
	if len(store.raw) != 2 {
		t.Errorf("%d segments", len(store.raw))
	}
	for id, data := range want.raw {
		if !bytes.Equal(store.raw[id], data) {
			t.Errorf("segment %s:\nhave %x\nwant %x", id, store.raw[id], data)
		}
	}
}

// TestFullSegments writes segments until they are full, with records of all sizes, and compares each with what the
// builder makes of the same.
func TestFullSegments(t *testing.T) {
	for _, size := range []int{0, 1, 2, 3, 4, 7, 100, 127, 128, 1000, 4093, 16511} {
		o := segment.Options{Cache: noCache(segment.Generation{}), Name: "sys.0001"}
		b, p := newBuilder(t), newPen(t, newStore(), o)
		p.opts.IDs.Skip(1) // the builder counts from 1
		data := randomBytes(size)
		for range 2*segment.MaxSize/(size+10) + 20 {
			b.value(data)
			p.binary(data)
		}
		if len(b.store.raw) < 2 || len(p.store.raw) != len(b.store.raw) {
			t.Errorf("%d bytes: %d segments, want %d", size, len(p.store.raw), len(b.store.raw))
		}
		for id, raw := range b.store.raw {
			if want := fullSize(raw); !bytes.Equal(p.store.raw[id], want) {
				t.Errorf("%d bytes: segment %s of %d bytes differs, want %d", size, id, len(p.store.raw[id]), len(want))
			}
		}
	}
}

// fullSize has a segment take the full size if it nearly does, by zeros behind its tables.
func fullSize(raw []byte) []byte {
	if len(raw)+32 <= segment.MaxSize {
		return raw
	}
	tables := 32 + 16*binary.BigEndian.Uint32(raw[14:]) + 9*binary.BigEndian.Uint32(raw[18:])
	return slices.Insert(raw, int(tables), make([]byte, segment.MaxSize-len(raw))...)
}

func noCache(g segment.Generation) *segment.Cache {
	return segment.NewCache(g, &segment.CacheSizes{Strings: -1, Templates: -1, Copies: -1})
}

// TestFullLength has segments that end at, just before and just behind where the format has them take the full size.
func TestFullLength(t *testing.T) {
	lengths := map[int]bool{}
	for fill := range 60 {
		p := newPen(t, newStore(), segment.Options{Cache: noCache(segment.Generation{})})
		for range 15 {
			p.binary(make([]byte, 16511))
		}
		p.binary(make([]byte, 14_060+2*fill))
		must(t, p.Flush())
		for _, raw := range p.store.raw {
			if len(raw) > 200_000 {
				lengths[len(raw)] = true
			}
		}
	}
	if !lengths[segment.MaxSize] || lengths[segment.MaxSize-16] || !lengths[segment.MaxSize-32] || !lengths[segment.MaxSize-48] {
		t.Errorf("lengths %v", lengths)
	}
}

func TestEmptyFlush(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	must(t, p.Flush())
	if _, err := p.Array(make([]segment.RecordID, 1)); !errors.Is(err, segment.ErrID) {
		t.Errorf("a reference to nothing: %v", err)
	}
	must(t, p.Flush())
	if len(p.store.raw) != 0 {
		t.Errorf("%d segments of nothing", len(p.store.raw))
	}
	id := p.text("x")
	must(t, p.Flush())
	must(t, p.Flush())
	if len(p.store.raw) != 1 || id.Number != 1 {
		t.Errorf("%d segments, record %d", len(p.store.raw), id.Number)
	}
}

// TestWriterInfo has names that JSON must escape.
func TestWriterInfo(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{Name: `a"\é`})
	s := p.open(p.text("x")).Segment()
	want := segment.Info{Writer: `a"\é`, Serial: 0, Time: time.UnixMilli(1796041572036).UTC()}
	if info, err := s.Info(); err != nil || info != want {
		t.Errorf("info %v, want %v: %v", info, want, err)
	}
	p = newPen(t, newStore(), segment.Options{Name: strings.Repeat("x", 100)})
	if _, err := p.String("x"); !errors.Is(err, segment.ErrTooBig) {
		t.Errorf("a long name: %v", err)
	}
}

func TestRecordTooBig(t *testing.T) {
	if raceEnabled {
		t.Skip("takes long with the race detector, and there is but one goroutine")
	}
	p := newPen(t, newStore(), segment.Options{})
	var fields []segment.Field
	x := p.text("x")
	for i := range 1 << 18 {
		fields = append(fields, segment.Field{Name: fmt.Sprint(i), Type: segment.TypeString, Values: []segment.RecordID{x}})
	}
	for _, n := range []int{262_030, 1 << 18} {
		if _, err := p.Node(&segment.Draft{Fields: fields[:n]}); !errors.Is(err, segment.ErrTooBig) {
			t.Errorf("%d properties: %v", n, err)
		}
	}
	n := 262_000
	if got := p.openNode(p.id(p.Node(&segment.Draft{Fields: fields[:n]}))).PropertyCount(); got != n {
		t.Errorf("%d properties, want %d", got, n)
	}
}

// TestSinkFails demands that nothing is lost when a segment could not be written, and the call can be repeated.
func TestSinkFails(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{Cache: noCache(segment.Generation{})})
	data := randomBytes(10_000)
	var ids []segment.RecordID
	for len(ids) < 60 {
		if len(ids)%7 == 3 {
			p.fail = errors.New("no")
		}
		id, err := p.Binary(bytes.NewReader(data[:9000+len(ids)]))
		if err != nil {
			if p.fail == nil || !errors.Is(err, p.fail) {
				t.Fatal(err)
			}
			p.fail = nil
			continue
		}
		ids = append(ids, id)
	}
	p.fail = errors.New("no")
	if err := p.Flush(); !errors.Is(err, p.fail) {
		t.Errorf("flush: %v", err)
	}
	if _, err := p.Binary(bytes.NewReader(randomBytes(17_000))); !errors.Is(err, p.fail) {
		t.Errorf("a bulk segment: %v", err)
	}
	p.fail = nil
	for i, id := range ids {
		v := p.openValue(id, segment.RecordValue)
		if b, _ := v.Bytes(); !bytes.Equal(b, data[:9000+i]) {
			t.Errorf("value %d has %d bytes", i, len(b))
		}
	}
}

// TestOpenSegment reads what is not flushed yet, and has what was read stay while more is written.
func TestOpenSegment(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{Generation: segment.Generation{Generation: 3, Full: 2, Compacted: true}})
	var nodes []segment.Node
	names := propertyNames(40)
	for i := range 20_000 {
		id := p.node([]property{{names[i%40], segment.TypeLong, []string{fmt.Sprint(i)}}})
		if i%1000 != 7 {
			continue
		}
		s, err := p.Segment(id.Segment)
		must(t, err)
		if s.Generation() != p.Generation() || s.Version() != 13 {
			t.Errorf("generation %s", s.Generation())
		}
		if again, err := p.Segment(id.Segment); err != nil || again != s {
			t.Errorf("another view of the same: %v", err)
		}
		r, err := segment.Find(p, id)
		must(t, err)
		n, err := r.Node()
		must(t, err)
		nodes = append(nodes, n)
	}
	must(t, p.Flush())
	if len(p.store.raw) < 3 {
		t.Errorf("%d segments", len(p.store.raw))
	}
	for i, n := range nodes {
		k := i*1000 + 7
		want := []property{{names[k%40], segment.TypeLong, []string{fmt.Sprint(k)}}}
		checkProperties(t, n, want)
		checkProperties(t, p.openNode(n.ID()), want)
	}
	if _, err := p.Segment(segment.NewDataID()); err == nil {
		t.Error("a segment from nowhere")
	}
}

// TestOpenSegmentConcurrently has others read what one writes.
func TestOpenSegmentConcurrently(t *testing.T) {
	store := newStore()
	locked := &lockedStore{memStore: store}
	p := newPen(t, store, segment.Options{Store: locked, Sink: locked})
	written := make(chan segment.RecordID, 100)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for id := range written {
				r, err := segment.Find(p, id)
				if err != nil {
					t.Error(err)
					continue
				}
				n, err := r.Node()
				if err != nil || n.PropertyCount() != 2 {
					t.Error(err)
					continue
				}
				c := n.Properties()
				for c.Next() {
					if _, err := c.Value(0); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for i := range 6000 {
		written <- p.node([]property{
			{"a", segment.TypeString, []string{strings.Repeat(fmt.Sprint(i), 20)}},
			{"b", segment.TypeString, []string{fmt.Sprint(i)}},
		})
	}
	close(written)
	wg.Wait()
	if len(store.raw) < 2 {
		t.Errorf("%d segments", len(store.raw))
	}
}

// lockedStore can be written to while it is read.
type lockedStore struct{ *memStore }

func (s *lockedStore) Append(seg *segment.Segment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw[seg.ID()] = seg.Bytes()
	return nil
}

// TestGenerations says which generations may be referred to from which.
func TestGenerations(t *testing.T) {
	type g = segment.Generation
	for _, tt := range []struct {
		from, to g
		old      bool
	}{
		{g{1, 1, false}, g{1, 1, false}, false},
		{g{1, 1, false}, g{1, 1, true}, false},
		{g{1, 1, false}, g{0, 0, false}, true},
		{g{1, 1, false}, g{0, 0, true}, true},
		{g{2, 1, true}, g{1, 1, false}, true}, // tail compaction
		{g{2, 1, true}, g{1, 1, true}, false},
		{g{2, 2, true}, g{1, 1, true}, true}, // full
		{g{3, 1, false}, g{2, 1, true}, false},
		{g{3, 1, false}, g{2, 1, false}, true},
		{g{4, 2, false}, g{3, 1, true}, true},
		{g{1, 1, false}, g{2, 1, false}, false},
	} {
		store := newStore()
		p := newPen(t, store, segment.Options{Generation: tt.to})
		id := p.text("x")
		must(t, p.Flush())
		q := newPen(t, store, segment.Options{Generation: tt.from})
		before := q.text("y")
		_, err := q.Array([]segment.RecordID{before, id})
		if errors.Is(err, segment.ErrOld) != tt.old || !tt.old && err != nil {
			t.Errorf("from %s to %s: %v", tt.from, tt.to, err)
		}
		s, err := store.Segment(id.Segment)
		must(t, err)
		if q.Old(s) != tt.old {
			t.Errorf("from %s to %s: old %t", tt.from, tt.to, q.Old(s))
		}
		must(t, q.Flush())
		s, err = store.Segment(before.Segment)
		must(t, err)
		if refs := s.References(); refs != 1 && !tt.old || refs != 0 && tt.old {
			t.Errorf("from %s to %s: %d references", tt.from, tt.to, refs)
		}
	}
}

func TestReferencesRefused(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	x := p.text("x")
	for what, id := range map[string]segment.RecordID{
		"no record yet":    {Segment: x.Segment, Number: 2},
		"no segment":       {Segment: segment.NewDataID()},
		"no id":            {},
		"no id, numbered":  {Number: 5},
		"no kind of id":    {Segment: segment.ID{MSB: 1, LSB: 1}},
		"the greatest one": {Segment: x.Segment, Number: 1<<32 - 1},
	} {
		for _, ids := range [][]segment.RecordID{{id}, {x, id}, {id, x}} {
			if _, err := p.Array(ids); err == nil {
				t.Errorf("%s: no error", what)
			}
		}
	}
	must(t, p.Flush())
	s, err := p.store.Segment(x.Segment)
	must(t, err)
	if s.References() != 0 || s.Count() > 2+18 {
		t.Errorf("%d references, %d records", s.References(), s.Count())
	}
}

func TestNewWriterRefuses(t *testing.T) {
	store := newStore()
	p := newPen(t, store, segment.Options{})
	for i, o := range []segment.Options{
		{Sink: p},
		{Store: store},
		{Store: store, Sink: p, Cache: segment.NewCache(segment.Generation{Generation: 1}, nil)},
		{Store: store, Sink: p, Generation: segment.Generation{Full: -1}},
	} {
		if _, err := segment.NewWriter(o); err == nil {
			t.Errorf("case %d: no error", i)
		}
	}
	w, err := segment.NewWriter(segment.Options{Store: store, Sink: p})
	must(t, err)
	id, err := w.String("x")
	must(t, err)
	must(t, w.Flush())
	s, err := store.Segment(id.Segment)
	must(t, err)
	if info, err := s.Info(); err != nil || info.Writer != "sys.0000" || time.Since(info.Time).Abs() > time.Hour {
		t.Errorf("info %v: %v", info, err)
	}
}

// TestCaches counts what is written of the same strings and templates, under caches of different bounds.
func TestCaches(t *testing.T) {
	for _, tt := range []struct {
		name         string
		size         int
		distinct     int
		written, not int // values, at least and at most
	}{
		{"none", -1, 10, 1000, 1001},
		{"default", 0, 10, 10, 11},
		{"enough", 4000, 10, 10, 11},
		{"too small", 1000, 100, 1000, 1001},
	} {
		sizes := &segment.CacheSizes{Strings: tt.size, Templates: tt.size, Copies: tt.size}
		p := newPen(t, newStore(), segment.Options{Cache: segment.NewCache(segment.Generation{}, sizes)})
		names := propertyNames(tt.distinct)
		for i := range 1000 {
			p.text(names[i%len(names)])
		}
		must(t, p.Flush())
		if n := p.count(segment.RecordValue); n < tt.written || n > tt.not {
			t.Errorf("%s: %d values, want %d to %d", tt.name, n, tt.written, tt.not)
		}
		x := p.text("x")
		for i := range 1000 {
			f := segment.Field{Name: names[i%len(names)], Type: segment.TypeLong, Values: []segment.RecordID{x}}
			p.id(p.Template(&segment.Draft{Fields: []segment.Field{f}}))
		}
		must(t, p.Flush())
		if n := p.count(segment.RecordTemplate); n < tt.written || n > tt.not {
			t.Errorf("%s: %d templates, want %d to %d", tt.name, n, tt.written, tt.not)
		}
	}
	p := newPen(t, newStore(), segment.Options{})
	for _, n := range []int{16_511, 16_512} {
		a, b := p.text(strings.Repeat("x", n)), p.text(strings.Repeat("x", n))
		if (a == b) != (n < 16_512) {
			t.Errorf("strings of %d bytes: %s and %s", n, a, b)
		}
	}
}

// count is how many records of a type there are, in all segments.
func (p *pen) count(kind segment.RecordType) int {
	n := 0
	for id := range p.store.raw {
		s, err := p.store.Segment(id)
		must(p.t, err)
		for row := range s.Records() {
			if row.Type == kind {
				n++
			}
		}
	}
	return n - countInfo(p, kind)
}

func countInfo(p *pen, kind segment.RecordType) int {
	if kind != segment.RecordValue {
		return 0
	}
	n := 0
	for id := range p.store.raw {
		if id.IsData() {
			n++
		}
	}
	return n
}

// TestReferencesInOrder has the segments in a table in the order of their first use.
func TestReferencesInOrder(t *testing.T) {
	store := newStore()
	var ids []segment.RecordID
	for range 300 {
		p := newPen(t, store, segment.Options{})
		ids = append(ids, p.text("x"))
		must(t, p.Flush())
	}
	p := newPen(t, store, segment.Options{})
	order := []int{5, 2, 5, 9, 2, 0}
	for i := 299; i > 9; i-- {
		order = append(order, i)
	}
	var values, want []segment.RecordID
	for _, i := range order {
		values = append(values, ids[i])
		if !slices.Contains(want, ids[i]) {
			want = append(want, ids[i])
		}
	}
	r := p.open(p.id(p.Array(values)))
	if r.Segment().References() != len(want) {
		t.Fatalf("%d references, want %d", r.Segment().References(), len(want))
	}
	for i, id := range want {
		if r.Segment().Reference(i) != id.Segment {
			t.Errorf("reference %d is %s, want %s", i, r.Segment().Reference(i), id.Segment)
		}
	}
	l, err := r.List()
	must(t, err)
	for i, id := range values {
		if e, err := l.Entry(i); err != nil || e.ID() != id {
			t.Errorf("entry %d is %s, want %s: %v", i, e.ID(), id, err)
		}
	}
}

// TestPadding has zeros behind short records where longer ones of another segment were.
func TestPadding(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{Cache: noCache(segment.Generation{})})
	for range 100 {
		p.binary(bytes.Repeat([]byte{0xFF}, 126))
	}
	must(t, p.Flush())
	for range 100 {
		if row := p.row(p.text("x")); !bytes.Equal(row.Bytes, []byte{1, 'x', 0, 0}) {
			t.Fatalf("record %x", row.Bytes)
		}
		p.binary(bytes.Repeat([]byte{0xFF}, 126))
	}
}

// TestWriteReferences refers to records that are not there, and to such as cannot stand where they are referred to: in the
// open segment, in a finished one and in a bulk segment.
func TestWriteReferences(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	for _, finished := range []bool{false, true} {
		text, node := p.text("text"), p.id(p.Node(&segment.Draft{}))
		many := p.id(p.Map(p.named("a", "b")))
		array := p.id(p.Array([]segment.RecordID{text, text}))
		binary := p.open(p.binary(make([]byte, 20_000))).ID()
		if finished {
			must(t, p.Flush())
			p.text("of the next segment") // which has fewer records
		}
		missing := segment.RecordID{Segment: node.Segment, Number: 1000}
		writes := map[string]func(id segment.RecordID) (segment.RecordID, error){
			"value":    func(id segment.RecordID) (segment.RecordID, error) { return p.withField(segment.TypeString, id) },
			"values":   func(id segment.RecordID) (segment.RecordID, error) { return p.withField(segment.TypeStrings, text, id) },
			"array":    func(id segment.RecordID) (segment.RecordID, error) { return p.Array([]segment.RecordID{id}) },
			"child":    func(id segment.RecordID) (segment.RecordID, error) { return p.withChildren(id) },
			"children": func(id segment.RecordID) (segment.RecordID, error) { return p.withChildren(node, id) },
			"change": func(id segment.RecordID) (segment.RecordID, error) {
				return p.UpdateMap(p.openMap(many), []segment.Child{{Name: "a", Node: id}})
			},
		}
		for what, write := range writes {
			good, bad := []segment.RecordID{text, binary}, []segment.RecordID{node, many}
			if strings.HasPrefix(what, "c") {
				good, bad = []segment.RecordID{node}, []segment.RecordID{text, array, binary}
				if what != "change" { // of maps it may be the part of another
					bad = append(bad, many)
				}
			}
			for _, id := range good {
				if _, err := write(id); err != nil {
					t.Errorf("%s, finished %t: %v", what, finished, err)
				}
			}
			for _, id := range bad {
				_, err := write(id)
				if !errors.Is(err, segment.ErrDraft) || !strings.Contains(err.Error(), id.String()) {
					t.Errorf("%s, finished %t: %s: error %v", what, finished, p.open(id).Type(), err)
				}
			}
			_, err := write(missing)
			if e, ok := errors.AsType[*segment.CorruptError](err); !ok || e.Segment != missing.Segment || e.Record != 1000 {
				t.Errorf("%s, finished %t: a record that is not there: error %v", what, finished, err)
			}
		}
	}
	bulk := storedBulk(t, p)
	for _, number := range []uint32{0, segment.MaxSize, 1 << 31} {
		if _, err := p.Array([]segment.RecordID{{Segment: bulk, Number: number}}); !isCorrupt(err) {
			t.Errorf("block %d of a bulk segment: error %v", number, err)
		}
	}
	if _, err := p.withChildren(segment.RecordID{Segment: bulk, Number: segment.MaxSize - 4096}); !errors.Is(err, segment.ErrDraft) {
		t.Errorf("a block as child: error %v", err)
	}
}

// storedBulk writes a binary and returns the bulk segment that it is in.
func storedBulk(t *testing.T, p *pen) segment.ID {
	t.Helper()
	p.binary(make([]byte, 20_000))
	for id := range p.store.raw {
		if id.IsBulk() {
			return id
		}
	}
	t.Fatal("no bulk segment")
	return segment.ID{}
}

func (p *pen) withField(typ segment.Type, values ...segment.RecordID) (segment.RecordID, error) {
	return p.Node(&segment.Draft{Fields: []segment.Field{{Name: "x", Type: typ, Values: values}}})
}

func (p *pen) withChildren(ids ...segment.RecordID) (segment.RecordID, error) {
	var list []segment.Child
	for i, id := range ids {
		list = append(list, segment.Child{Name: fmt.Sprint(i), Node: id})
	}
	c, err := p.Children(list)
	if err != nil {
		return segment.RecordID{}, err
	}
	return p.Node(&segment.Draft{Children: c})
}

// TestWriteReferencesGrowing refers to the segment that another writer has open, which has more records each time.
func TestWriteReferencesGrowing(t *testing.T) {
	store := newStore()
	other := newPen(t, store, segment.Options{})
	w, err := segment.NewWriter(segment.Options{Store: other, Sink: other})
	must(t, err)
	for i := range 5 {
		id := other.id(other.Node(&segment.Draft{}))
		if _, err := w.Map([]segment.Child{{Name: "a", Node: id}}); err != nil {
			t.Errorf("record %d: %v", i, err)
		}
	}
}
