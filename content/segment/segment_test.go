// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/content/segment"
)

// The two segments of the store that Oak makes for one commit of /hello with x = 42.
const (
	firstID  = "d0b2a37e-54db-4246-af4b-1035142fd65e"
	secondID = "1f5f0022-09bc-4938-ae1e-e92d8b333d80"

	firstHex = `30614b0d 00000000 0000 00000000 00000000 00000006 00000000000000000000
		00000000 04 0003ffd4  00000001 04 0003ffcc  00000002 06 0003ffc0
		00000003 06 0003ffbc  00000004 07 0003ffb0  00000005 07 0003ff9c 000000000000
		0000 00000005 0000 00000002 0000 00000004 0000
		0000 00000004 0000 00000003
		20000000
		00000000 0000 00000001 0000
		04 726f6f74 000000
		28 7b22776964223a22696e6974222c22736e6f223a302c2274223a313739363034313537313638307d 000000`

	secondHex = `30614b0d 00000000 0000 00000000 00000001 00000009 00000000000000000000
		d0b2a37e54db4246af4b1035142fd65e
		00000000 04 0003ffd0  00000001 04 0003ffc8  00000002 06 0003ffbc
		00000003 04 0003ffb8  00000004 06 0003ffac  00000005 04 0003ffa8
		00000006 07 0003ff94  00000007 07 0003ff80  00000008 07 0003ff6c
		0000000000000000000000
		0000 00000008 0001 00000002 0000 00000007 0000
		0000 00000007 0000 00000002 0000 00000006 0000
		0000 00000006 0000 00000004 0000 00000005 0000
		02 3432 00
		20000001 0000 00000003 03 00
		01 78 0000
		00000000 0000 00000001 0000
		05 68656c6c6f 0000
		2c 7b22776964223a227379732e30303030222c22736e6f223a322c2274223a313739363034313537323033367d 000000`
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := parseHex(s)
	must(t, err)
	return b
}

func parseHex(s string) ([]byte, error) { return hex.DecodeString(strings.Join(strings.Fields(s), "")) }

func parseID(t testing.TB, s string) segment.ID {
	t.Helper()
	id, err := segment.ParseID(s)
	must(t, err)
	return id
}

// vectorStore has the two segments.
func vectorStore(t testing.TB) *memStore {
	t.Helper()
	store, err := smallestStore()
	must(t, err)
	return store
}

func smallestStore() (*memStore, error) {
	store := newStore()
	for name, text := range map[string]string{firstID: firstHex, secondID: secondHex} {
		id, err := segment.ParseID(name)
		if err != nil {
			return nil, err
		}
		if store.raw[id], err = parseHex(text); err != nil {
			return nil, err
		}
	}
	return store, nil
}

// TestVectors holds the segments written down here against those in the archive.
func TestVectors(t *testing.T) {
	archive, _ := readStore(t, "../testdata/tiny")
	written := vectorStore(t)
	if len(archive.raw) != 2 {
		t.Fatalf("%d segments", len(archive.raw))
	}
	for id, data := range archive.raw {
		if !bytes.Equal(data, written.raw[id]) {
			t.Errorf("segment %s:\nhave %x\nwant %x", id, written.raw[id], data)
		}
	}
}

func TestSegment(t *testing.T) {
	store := vectorStore(t)
	s, err := store.Segment(parseID(t, secondID))
	must(t, err)
	if s.ID().String() != secondID || s.Version() != 13 || s.Count() != 9 || len(s.Bytes()) != 288 {
		t.Errorf("%s, version %d, %d records, %d bytes", s.ID(), s.Version(), s.Count(), len(s.Bytes()))
	}
	if s.References() != 1 || s.Reference(0).String() != firstID {
		t.Errorf("%d references, %s", s.References(), s.Reference(0))
	}
	info, err := s.Info()
	want := segment.Info{Writer: "sys.0000", Serial: 2, Time: time.UnixMilli(1796041572036).UTC()}
	if err != nil || info != want {
		t.Errorf("info %v, want %v: %v", info, want, err)
	}
	if g := s.Generation(); g != (segment.Generation{}) {
		t.Errorf("generation %s", g)
	}
	r, err := s.Record(8)
	must(t, err)
	hex := secondID + ".00000008"
	if r.ID().Hex() != hex || r.Offset() != 0x8c || r.Segment() != s || r.Type() != segment.RecordNode {
		t.Errorf("record %s, offset %#x, %s", r.ID(), r.Offset(), r.Type())
	}
}

func TestGeneration(t *testing.T) {
	data := unhex(t, secondHex)
	binary.BigEndian.PutUint32(data[4:], 1<<31|7)
	binary.BigEndian.PutUint32(data[10:], 9)
	for version, want := range map[byte]segment.Generation{
		12: {Generation: 9, Full: 9, Compacted: true},
		13: {Generation: 9, Full: 7, Compacted: true},
	} {
		data[3] = version
		s, err := segment.Parse(parseID(t, secondID), data)
		must(t, err)
		if g := s.Generation(); g != want || s.Version() != int(version) {
			t.Errorf("version %d: generation %s, want %s", s.Version(), g, want)
		}
	}
}

func TestBulk(t *testing.T) {
	for _, n := range []int{1, 5, 4096, segment.MaxSize} {
		s, err := segment.Parse(segment.NewBulkID(), make([]byte, n))
		must(t, err)
		if len(s.Bytes()) != n || s.Count() != 0 || s.References() != 0 || s.Version() != 0 ||
			s.Generation() != (segment.Generation{}) {
			t.Errorf("a bulk segment of %d bytes has something else", n)
		}
		if _, err := s.Record(0); err == nil {
			t.Error("a bulk segment has a record")
		}
		if _, err := s.Info(); err == nil {
			t.Error("a bulk segment has an info record")
		}
	}
}

// TestParseRefuses changes one thing each time.
func TestParseRefuses(t *testing.T) {
	id := parseID(t, secondID)
	for reason, change := range map[string]func(b []byte) []byte{
		"magic":               func(b []byte) []byte { b[0] = '1'; return b },
		"version 11":          func(b []byte) []byte { b[3] = 11; return b },
		"version 14":          func(b []byte) []byte { b[3] = 14; return b },
		"of 272 bytes":        func(b []byte) []byte { return append(b[:0:0], b[:272]...) },
		"of 287 bytes":        func(b []byte) []byte { return b[:287] },
		"of 16 bytes":         func(b []byte) []byte { return b[:16] },
		"of 0 bytes":          func(b []byte) []byte { return nil },
		"of 262160 bytes":     func(b []byte) []byte { return append(make([]byte, segment.MaxSize+16-len(b)), b...) },
		"-1 references":       put32(14, 1<<32-1),
		"17 references":       put32(14, 17),
		"27 records":          put32(18, 27), // of which the last passes the end by 3 bytes
		"-1 records":          put32(18, 1<<32-1),
		"2147483647 records":  put32(18, 1<<31-1),
		"do not ascend":       put32(0x30, 1),
		"unknown type 9":      func(b []byte) []byte { b[0x34] = 9; return b },
		"offset 0x3ffd2":      put32(0x35, 0x3ffd2), // not a multiple of 4
		"offset 0x40000":      put32(0x35, 0x40000),
		"offset 0x3ff60":      put32(0x35, 0x3ff60), // in the table
		"offset 0x0, outside": put32(0x35, 0),
		"offset 0xfffffffc":   put32(0x35, 0xfffffffc),
	} {
		t.Run(reason, func(t *testing.T) {
			data := change(unhex(t, secondHex))
			_, err := segment.Parse(id, data)
			if reason == "of 272 bytes" { // cut, but at a proper length: what moved is the records
				reason = "outside"
			}
			e, ok := errors.AsType[*segment.CorruptError](err)
			if !ok || e.Segment != id || !strings.Contains(err.Error(), reason) {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := segment.Parse(segment.NewBulkID(), nil); err == nil {
		t.Error("a bulk segment of no bytes")
	}
	if _, err := segment.Parse(segment.NewBulkID(), make([]byte, segment.MaxSize+1)); err == nil {
		t.Error("a bulk segment of too many bytes")
	}
	if _, err := segment.Parse(segment.ID{}, unhex(t, secondHex)); !errors.Is(err, segment.ErrID) {
		t.Errorf("a segment without id: %v", err)
	}
}

func put32(at int, v uint32) func(b []byte) []byte {
	return func(b []byte) []byte {
		binary.BigEndian.PutUint32(b[at:], v)
		return b
	}
}

// TestSparse numbers the records otherwise than 0, 1, 2 …
func TestSparse(t *testing.T) {
	for _, last := range []uint32{1001, 1<<32 - 1} {
		numbers := []uint32{0, 1, 2, 3, 4, 10, 11, 1000, last}
		data := unhex(t, secondHex)
		for i, n := range numbers {
			put32(0x30+9*i, n)(data)
		}
		put32(0x8e, last)(data) // the super-root's own id
		put32(0x9a, 1000)(data) // its child
		store := vectorStore(t)
		id := parseID(t, secondID)
		store.raw[id] = data
		s, err := store.Segment(id)
		must(t, err)
		for _, n := range numbers {
			r, err := s.Record(n)
			if err != nil || r.ID().Number != n {
				t.Errorf("record %d: %s, %v", n, r.ID(), err)
			}
		}
		for _, n := range []uint32{5, 8, 9, 12, 999, 1002, 1<<32 - 2} {
			if r, err := s.Record(n); err == nil {
				t.Errorf("record %d is %s", n, r.ID())
			}
		}
		top, err := s.Record(last)
		must(t, err)
		n, err := top.Node()
		must(t, err)
		if root, ok, err := n.Child("root"); !ok || err != nil || root.ID().Number != 1000 {
			t.Errorf("root: %v, %v", ok, err)
		}
	}
}

func TestReferences(t *testing.T) {
	store := vectorStore(t)
	id := parseID(t, secondID)
	first := parseID(t, firstID)
	delete(store.raw, first)
	s, err := store.Segment(id)
	must(t, err)
	r, err := s.Record(8)
	must(t, err)
	_, err = r.Node()
	e, ok := errors.AsType[*segment.NotFoundError](err)
	if !ok || e.Segment != first || !strings.Contains(err.Error(), secondID) {
		t.Errorf("a reference to a missing segment: %v", err)
	}
	store.raw[first] = unhex(t, firstHex)
	if _, err = r.Node(); err != nil {
		t.Errorf("once the segment is there: %v", err)
	}
	delete(store.parsed, first)
	delete(store.raw, first)
	if _, err = r.Node(); err != nil {
		t.Errorf("a segment once used was not remembered: %v", err)
	}

	alone, err := segment.Parse(id, unhex(t, secondHex))
	must(t, err)
	r, err = alone.Record(8)
	must(t, err)
	if _, err = r.Node(); err == nil {
		t.Error("a segment without a store led to another")
	}
	for _, ref := range []byte{2, 255} {
		data := unhex(t, secondHex)
		data[0x93] = ref // of the super-root's template
		bad, err := segment.ParseIn(store, id, data)
		must(t, err)
		r, err := bad.Record(8)
		must(t, err)
		_, err = r.Node()
		if e, ok := errors.AsType[*segment.CorruptError](err); !ok || e.Record != 8 || e.Off != 0x92 {
			t.Errorf("reference %d: %v", ref, err)
		}
	}
}

func TestRecords(t *testing.T) {
	s, err := vectorStore(t).Segment(parseID(t, secondID))
	must(t, err)
	var have []string
	for r := range s.Records() {
		links, err := r.Links()
		must(t, err)
		text := r.Type.String() + " " + hex.EncodeToString(r.Bytes)
		for _, l := range links {
			text += " " + l.ID.String()
		}
		have = append(have, text)
	}
	want := []string{
		"VALUE 2c7b22776964223a227379732e30303030222c22736e6f223a322c2274223a313739363034313537323033367d000000",
		"VALUE 0568656c6c6f0000",
		"TEMPLATE 000000000000000000010000 " + secondID + ":1",
		"VALUE 01780000",
		"TEMPLATE 20000001000000000003" + "0300 " + secondID + ":3",
		"VALUE 02343200",
		"NODE 0000000000060000000000040000000000050000 " + secondID + ":6 " + secondID + ":4 " + secondID + ":5",
		"NODE 0000000000070000000000020000000000060000 " + secondID + ":7 " + secondID + ":2 " + secondID + ":6",
		"NODE 0000000000080001000000020000000000070000 " + secondID + ":8 " + firstID + ":2 " + secondID + ":7",
	}
	if !slices.Equal(have, want) {
		t.Errorf("have\n%s\nwant\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
	for range s.Records() {
		break // must not panic
	}
}

// TestLinks compares the links of records of all types with the record ids they were made of.
func TestLinks(t *testing.T) {
	b := newBuilder(t)
	text := b.name("text")
	many := slices.Repeat([]segment.RecordID{text}, 255)
	node := b.node(nil)
	for _, tt := range []struct {
		kind  segment.RecordType
		parts []any
	}{
		{segment.RecordLeaf, []any{uint32(0)}},
		{segment.RecordLeaf, []any{uint32(2), uint64(0), text, node, node, text}},
		{segment.RecordBranch, []any{uint32(40), uint32(5), node, text}},
		{segment.RecordBranch, []any{uint32(1<<32 - 1), uint32(5), text, node, text}},
		{segment.RecordBucket, rids(many)},
		{segment.RecordBucket, rids(many[:2])},
		{segment.RecordBucket, rids(many[:3])},
		{segment.RecordList, []any{uint32(0)}},
		{segment.RecordList, []any{uint32(7), text}},
		{segment.RecordValue, []any{[]byte("\x03abc")}},
		{segment.RecordValue, []any{uint64(0xC0 << 56), text}},
		{segment.RecordBlock, []any{[]byte{0xC0, 0, 0, 0}}},
		{segment.RecordBlobID, []any{[]byte("\xe0\x02ab")}},
		{segment.RecordBlobID, []any{byte(0xF0), text}},
		{segment.RecordNode, []any{text, node}},
		{segment.RecordNode, []any{text, node, text}},
		{segment.RecordNode, []any{text, node, text, node}},
		{segment.RecordTemplate, []any{uint32(1 << 29)}},
		{segment.RecordTemplate, []any{uint32(3<<30 | 2<<18 | 3), text, node, text, node, text, []byte{1, 2, 3}}},
	} {
		id := b.record(tt.kind, tt.parts...)
		var want []any
		for _, p := range tt.parts {
			if id, ok := p.(segment.RecordID); ok {
				want = append(want, id)
			}
		}
		r := b.open(id)
		for row := range r.Segment().Records() {
			if row.ID() != id {
				continue
			}
			links, err := row.Links()
			must(t, err)
			var have []any
			for _, l := range links {
				have = append(have, l.ID)
			}
			if row.Type != tt.kind || !slices.Equal(have, want) {
				t.Errorf("%s: %v, want %v", row.Type, have, want)
			}
		}
	}
}

// TestLinksRefused has records that are shorter than what is in them needs.
func TestLinksRefused(t *testing.T) {
	b := newBuilder(t)
	for _, tt := range []struct {
		kind  segment.RecordType
		parts []any
	}{
		{segment.RecordLeaf, []any{uint32(1), uint32(0)}},
		{segment.RecordLeaf, []any{uint32(1<<29 - 1), uint32(0)}},
		{segment.RecordBranch, []any{uint32(40)}},
		{segment.RecordBranch, []any{uint32(40), uint32(3), uint64(0)}},
		{segment.RecordBranch, []any{uint32(1<<32 - 1), uint32(0)}},
		{segment.RecordList, []any{uint32(1)}},
		{segment.RecordValue, []any{uint64(0xC0 << 56)}},
		{segment.RecordBlobID, []any{uint32(0xF0 << 24)}},
		{segment.RecordTemplate, []any{uint32(0)}},
		{segment.RecordBucket, []any{uint16(9), uint32(0)}}, // there is no reference 9
	} {
		id := b.record(tt.kind, tt.parts...)
		for row := range b.open(id).Segment().Records() {
			if links, err := row.Links(); row.ID() == id && !isCorrupt(err) {
				t.Errorf("%s %v: %v, %v", tt.kind, tt.parts, links, err)
			}
		}
	}
}

func TestInfoRefuses(t *testing.T) {
	for what, text := range map[string]string{
		"not an info record": `{"wid":"init","sno":true,"t":1796041571680}`,
		"no JSON":            `not JSON`,
		"empty":              ``,
	} {
		data := unhex(t, firstHex)
		copy(data[0x94:], append([]byte{byte(len(text))}, text...))
		s, err := segment.Parse(parseID(t, firstID), data)
		must(t, err)
		_, err = s.Info()
		if e, ok := errors.AsType[*segment.CorruptError](err); !ok || e.Record != 0 || e.Off != 0x94 {
			t.Errorf("%s: %v", what, err)
		}
	}
	data := unhex(t, firstHex)
	binary.BigEndian.PutUint64(data[0x94:], 0xC0<<56) // a long value
	s, err := segment.Parse(parseID(t, firstID), data)
	must(t, err)
	if info, err := s.Info(); !isCorrupt(err) {
		t.Errorf("info in blocks: %v, %v", info, err)
	}
	put32(18, 0)(data)
	s, err = segment.Parse(parseID(t, firstID), data)
	must(t, err)
	if _, err := s.Info(); err == nil {
		t.Error("info of a segment without records")
	}
}
