// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holtdb/holt/content/segment"
)

// pen is a writer into a store in memory, which checks each segment it is given.
type pen struct {
	t testing.TB
	*segment.Writer
	store *memStore
	opts  segment.Options
	made  uint64
	fail  error // what the sink answers
	rows  map[segment.RecordID]segment.Row
}

// pens is how many there were that share a store with others, whose ids must differ.
var pens atomic.Uint64

// newPen has options with other ids and times than usual: the same in each run.
func newPen(t testing.TB, store *memStore, o segment.Options) *pen {
	t.Helper()
	p := &pen{t: t, store: store, rows: map[segment.RecordID]segment.Row{}}
	if len(store.raw) > 0 {
		p.made = pens.Add(1) << 32
	}
	if o.IDs == nil {
		o.IDs = &segment.IDs{New: p.newID}
	}
	if o.Now == nil {
		o.Now = func() time.Time { return time.UnixMilli(1796041572036) }
	}
	if o.Store == nil {
		o.Store = store
	}
	if o.Sink == nil {
		o.Sink = p
	}
	p.opts = o
	var err error
	p.Writer, err = segment.NewWriter(o)
	must(t, err)
	return p
}

func (p *pen) newID(bulk bool) segment.ID {
	p.made++
	kind := uint64(0xA)
	if bulk {
		kind = 0xB
	}
	return segment.ID{MSB: p.made<<63 | p.made<<16 | 0x4000, LSB: kind<<60 | p.made}
}

// Append is that of a sink.
func (p *pen) Append(s *segment.Segment) error {
	p.t.Helper()
	if p.fail != nil {
		return p.fail
	}
	if _, ok := p.store.raw[s.ID()]; ok {
		p.t.Errorf("segment %s is written twice", s.ID())
	}
	parsed, err := segment.Parse(s.ID(), s.Bytes())
	must(p.t, err)
	if s.ID().IsData() {
		p.checkData(parsed)
	}
	p.store.raw[s.ID()] = s.Bytes()
	return nil
}

func (p *pen) checkData(s *segment.Segment) {
	p.t.Helper()
	if again := reencode(s); !bytes.Equal(again, s.Bytes()) {
		p.t.Errorf("segment %s:\nhave %x\nwant %x", s.ID(), s.Bytes(), again)
	}
	g := p.Generation()
	if s.Generation() != g || s.Version() != 13 {
		p.t.Errorf("segment %s: generation %s, version %d", s.ID(), s.Generation(), s.Version())
	}
	used := map[segment.ID]bool{}
	for row := range s.Records() {
		links, err := row.Links()
		must(p.t, err)
		for _, l := range links {
			used[l.ID.Segment] = true
		}
	}
	for i := range s.References() {
		id := s.Reference(i)
		raw, ok := p.store.raw[id]
		if !ok || !used[id] {
			p.t.Errorf("segment %s refers to %s, written before: %t; used: %t", s.ID(), id, ok, used[id])
			continue
		}
		if id.IsBulk() {
			continue
		}
		t, err := segment.Parse(id, raw)
		must(p.t, err)
		if h := t.Generation(); h.Compacted && h.Full < g.Full || !h.Compacted && h.Generation < g.Generation {
			p.t.Errorf("segment %s of %s refers to %s of %s", s.ID(), g, id, h)
		}
	}
}

// reencode lays out a segment anew from what was parsed, straight from the format.
func reencode(s *segment.Segment) []byte {
	be := binary.BigEndian
	g := s.Generation()
	full := uint32(g.Full)
	if g.Compacted {
		full |= 1 << 31
	}
	head := append(be.AppendUint32([]byte("0aK\x0d"), full), 0, 0)
	head = be.AppendUint32(head, uint32(g.Generation))
	head = be.AppendUint32(head, uint32(s.References()))
	head = be.AppendUint32(head, uint32(s.Count()))
	head = append(head, make([]byte, 10)...)
	for i := range s.References() {
		head = append(head, make([]byte, 16)...)
		s.Reference(i).Put(head[len(head)-16:])
	}
	used := 0
	for row := range s.Records() {
		used += len(row.Bytes)
		head = be.AppendUint32(head, row.ID().Number)
		head = append(head, byte(row.Type))
		head = be.AppendUint32(head, uint32(segment.MaxSize-used))
	}
	n := (len(head) + used + 15) &^ 15
	if n+32 > segment.MaxSize {
		n = segment.MaxSize
	}
	out := make([]byte, n)
	copy(out, head)
	end := n
	for row := range s.Records() {
		end -= len(row.Bytes)
		copy(out[end:], row.Bytes)
	}
	return out
}

// id demands that writing went well.
func (p *pen) id(id segment.RecordID, err error) segment.RecordID {
	p.t.Helper()
	must(p.t, err)
	return id
}

func (p *pen) text(s string) segment.RecordID {
	p.t.Helper()
	return p.id(p.String(s))
}

func (p *pen) binary(b []byte) segment.RecordID {
	p.t.Helper()
	return p.id(p.Binary(bytes.NewReader(b)))
}

// open flushes and finds a record.
func (p *pen) open(id segment.RecordID) segment.Record {
	p.t.Helper()
	must(p.t, p.Flush())
	r, err := segment.Find(p.store, id)
	must(p.t, err)
	return r
}

func (p *pen) openNode(id segment.RecordID) segment.Node {
	p.t.Helper()
	n, err := p.open(id).Node()
	must(p.t, err)
	return n
}

func (p *pen) openMap(id segment.RecordID) segment.Map {
	p.t.Helper()
	m, err := p.open(id).Map()
	must(p.t, err)
	return m
}

// openValue finds a value, and demands the type of its record.
func (p *pen) openValue(id segment.RecordID, want segment.RecordType) segment.Value {
	p.t.Helper()
	r := p.open(id)
	if r.Type() != want {
		p.t.Errorf("record %s is a %s, want %s", id, r.Type(), want)
	}
	v, err := r.Value()
	must(p.t, err)
	return v
}

// node writes a node of properties and children.
func (p *pen) node(props []property, children ...segment.Child) segment.RecordID {
	p.t.Helper()
	c, err := p.Children(children)
	must(p.t, err)
	return p.id(p.Node(&segment.Draft{Fields: p.fields(props), Children: c}))
}

func (p *pen) fields(props []property) []segment.Field {
	p.t.Helper()
	fields := make([]segment.Field, len(props))
	for i, prop := range props {
		fields[i] = segment.Field{Name: prop.name, Type: prop.typ}
		for _, v := range prop.values {
			write := p.text
			if prop.typ.Base() == segment.TypeBinary {
				write = func(v string) segment.RecordID { return p.binary([]byte(v)) }
			}
			fields[i].Values = append(fields[i].Values, write(v))
		}
	}
	return fields
}

// named writes a leaf node per name, each with a property that has the name as value.
func (p *pen) named(names ...string) []segment.Child {
	p.t.Helper()
	children := make([]segment.Child, len(names))
	for i, name := range names {
		children[i] = segment.Child{Name: name, Node: p.node([]property{{"is", segment.TypeString, []string{name}}})}
	}
	return children
}
