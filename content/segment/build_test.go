// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/holtdb/holt/content/segment"
)

// builder makes segments record by record, straight from the format and by no code of the package. A record in it is a
// row of bytes, numbers and record ids.
type builder struct {
	t     testing.TB
	store *memStore
	limit int // bytes of a segment
	made  uint64

	id      segment.ID
	refs    []segment.ID
	records []builtRecord
	used    int

	names     map[string]segment.RecordID // those in this segment
	templates map[string]segment.RecordID
}

type builtRecord struct {
	kind segment.RecordType
	data []byte // with padding
}

type nested []any // parts of a record within others

func newBuilder(t testing.TB) *builder {
	b := &builder{t: t, store: newStore(), limit: segment.MaxSize}
	b.begin()
	return b
}

// newID makes the same ids in each run: every other one is negative to Java.
func (b *builder) newID(kind uint64) segment.ID {
	b.made++
	return segment.ID{MSB: b.made<<63 | b.made<<16 | 0x4000, LSB: kind<<60 | b.made}
}

func (b *builder) begin() {
	b.id, b.refs, b.records, b.used = b.newID(0xA), nil, nil, 0
	b.names, b.templates = map[string]segment.RecordID{}, map[string]segment.RecordID{}
	b.value([]byte(fmt.Sprintf(`{"wid":"sys.0001","sno":%d,"t":1796041572036}`, b.made)))
}

// record adds a record of parts: byte, uint16, uint32, uint64, []byte, segment.RecordID, nested.
func (b *builder) record(kind segment.RecordType, parts ...any) segment.RecordID {
	b.t.Helper()
	fresh := map[segment.ID]bool{}
	size := b.measure(parts, fresh)
	slot := (size + 3) &^ 3
	if b.length(len(fresh), 1, slot) > b.limit {
		if len(b.records) == 1 {
			b.t.Fatalf("a record of %d bytes", size)
		}
		b.flush()
		return b.record(kind, parts...)
	}
	b.used += slot
	data := b.encode(make([]byte, 0, slot), parts)
	b.records = append(b.records, builtRecord{kind, data[:slot]})
	return segment.RecordID{Segment: b.id, Number: uint32(len(b.records) - 1)}
}

func (b *builder) length(refs, records, used int) int {
	return (32 + 16*(len(b.refs)+refs) + 9*(len(b.records)+records) + b.used + used + 15) &^ 15
}

// measure is the size of the parts; fresh gets the segments that they refer to for the first time.
func (b *builder) measure(parts []any, fresh map[segment.ID]bool) int {
	n := 0
	for _, part := range parts {
		switch p := part.(type) {
		case nested:
			n += b.measure(p, fresh)
		case segment.RecordID:
			n += 6
			if p.Segment != b.id && !slices.Contains(b.refs, p.Segment) {
				fresh[p.Segment] = true
			}
		default:
			n += binary.Size(p)
		}
	}
	return n
}

func (b *builder) encode(dst []byte, parts []any) []byte {
	for _, part := range parts {
		switch p := part.(type) {
		case nested:
			dst = b.encode(dst, p)
		case segment.RecordID:
			dst = binary.BigEndian.AppendUint16(dst, b.ref(p.Segment))
			dst = binary.BigEndian.AppendUint32(dst, p.Number)
		default:
			var err error
			dst, err = binary.Append(dst, binary.BigEndian, p)
			must(b.t, err)
		}
	}
	return dst
}

func (b *builder) ref(id segment.ID) uint16 {
	if id == b.id {
		return 0
	}
	if i := slices.Index(b.refs, id); i >= 0 {
		return uint16(i + 1)
	}
	b.refs = append(b.refs, id)
	return uint16(len(b.refs))
}

// flush ends the segment and begins another.
func (b *builder) flush() {
	out := make([]byte, b.length(0, 0, 0))
	copy(out, "0aK\x0d")
	binary.BigEndian.PutUint32(out[14:], uint32(len(b.refs)))
	binary.BigEndian.PutUint32(out[18:], uint32(len(b.records)))
	at := 32
	for _, id := range b.refs {
		id.Put(out[at:])
		at += 16
	}
	end := len(out)
	for i, r := range b.records {
		end -= len(r.data)
		copy(out[end:], r.data)
		binary.BigEndian.PutUint32(out[at:], uint32(i))
		out[at+4] = byte(r.kind)
		binary.BigEndian.PutUint32(out[at+5:], uint32(end+segment.MaxSize-len(out)))
		at += 9
	}
	b.store.raw[b.id] = out
	b.begin()
}

// open ends the segment and returns a record.
func (b *builder) open(id segment.RecordID) segment.Record {
	b.t.Helper()
	if len(b.records) > 1 {
		b.flush()
	}
	r, err := segment.Find(b.store, id)
	must(b.t, err)
	return r
}

func (b *builder) openNode(id segment.RecordID) segment.Node {
	b.t.Helper()
	n, err := b.open(id).Node()
	must(b.t, err)
	return n
}

func (b *builder) bulk(data []byte) segment.ID {
	id := b.newID(0xB)
	b.store.raw[id] = data
	return id
}

// value stores up to 16511 bytes in line, more in bulk segments and blocks: bulk segments as far as they become full.
func (b *builder) value(data []byte) segment.RecordID {
	switch n := len(data); {
	case n < 0x80:
		return b.record(segment.RecordValue, byte(n), data)
	case n < 0x4080:
		return b.record(segment.RecordValue, uint16(n-0x80)|0x8000, data)
	}
	head := uint64(len(data)-0x4080) | 0xC0<<56
	var blocks []segment.RecordID
	for ; len(data) >= segment.MaxSize; data = data[segment.MaxSize:] {
		blocks = append(blocks, b.bulkBlocks(data[:segment.MaxSize])...)
	}
	for part := range slices.Chunk(data, segment.BlockSize) {
		blocks = append(blocks, b.record(segment.RecordBlock, part))
	}
	return b.record(segment.RecordValue, head, b.list(blocks))
}

// binary stores more than 16511 bytes in bulk segments only.
func (b *builder) binary(data []byte) segment.RecordID {
	if len(data) < 0x4080 {
		return b.value(data)
	}
	var blocks []segment.RecordID
	for part := range slices.Chunk(data, segment.MaxSize) {
		blocks = append(blocks, b.bulkBlocks(part)...)
	}
	return b.record(segment.RecordValue, uint64(len(data)-0x4080)|0xC0<<56, b.list(blocks))
}

func (b *builder) bulkBlocks(data []byte) []segment.RecordID {
	id := b.bulk(data)
	var blocks []segment.RecordID
	for at := 0; at < len(data); at += segment.BlockSize {
		blocks = append(blocks, segment.RecordID{Segment: id, Number: uint32(segment.MaxSize - len(data) + at)})
	}
	return blocks
}

func (b *builder) blobID(id string) segment.RecordID {
	if len(id) < 4096 {
		return b.record(segment.RecordBlobID, uint16(len(id))|0xE000, []byte(id))
	}
	return b.record(segment.RecordBlobID, byte(0xF0), b.value([]byte(id)))
}

// name stores a text once per segment.
func (b *builder) name(s string) segment.RecordID {
	if id, ok := b.names[s]; ok {
		return id
	}
	id := b.value([]byte(s))
	if id.Segment == b.id {
		b.names[s] = id
	}
	return id
}

func (b *builder) list(ids []segment.RecordID) segment.RecordID {
	for len(ids) > 1 {
		var buckets []segment.RecordID
		for part := range slices.Chunk(ids, 255) {
			if len(part) > 1 {
				part = []segment.RecordID{b.record(segment.RecordBucket, rids(part)...)}
			}
			buckets = append(buckets, part...)
		}
		ids = buckets
	}
	return ids[0]
}

func rids(ids []segment.RecordID) []any {
	parts := make([]any, len(ids))
	for i, id := range ids {
		parts[i] = id
	}
	return parts
}

func (b *builder) array(ids ...segment.RecordID) segment.RecordID {
	if len(ids) == 0 {
		return b.record(segment.RecordList, uint32(0))
	}
	return b.record(segment.RecordList, uint32(len(ids)), b.list(ids))
}

// property is one of a node to be built. Values of an array are texts, or what they are of.
type property struct {
	name   string
	typ    segment.Type
	values []string
}

type child struct {
	name string
	node segment.RecordID
}

// node builds a node with its template and map of children.
func (b *builder) node(props []property, children ...child) segment.RecordID {
	tmpl := b.template(props, children)
	rest := others(props)
	parts := []any{tmpl}
	switch len(children) {
	case 0:
	case 1:
		parts = append(parts, children[0].node)
	default:
		parts = append(parts, b.mapOf(children))
	}
	if len(rest) > 0 {
		values := make([]segment.RecordID, len(rest))
		for i, p := range rest {
			values[i] = b.propertyValue(p)
		}
		parts = append(parts, b.list(values))
	}
	return b.nodeOf(parts...)
}

// nodeOf makes a node whose stable id is its own.
func (b *builder) nodeOf(parts ...any) segment.RecordID {
	fresh := map[segment.ID]bool{}
	if b.length(len(fresh), 1, b.measure(parts, fresh)+6) > b.limit {
		b.flush()
	}
	self := segment.RecordID{Segment: b.id, Number: uint32(len(b.records))}
	if id := b.record(segment.RecordNode, append([]any{self}, parts...)...); id != self {
		b.t.Fatalf("a node became %s instead of %s", id, self)
	}
	return self
}

func (b *builder) propertyValue(p property) segment.RecordID {
	var ids []segment.RecordID
	for _, v := range p.values {
		if p.typ.Base() == segment.TypeBinary {
			ids = append(ids, b.binary([]byte(v)))
		} else {
			ids = append(ids, b.name(v))
		}
	}
	if p.typ.IsArray() {
		return b.array(ids...)
	}
	return ids[0]
}

// others is the properties that are not special, in their order.
func others(props []property) []property {
	rest := slices.DeleteFunc(slices.Clone(props), func(p property) bool { return isPrimary(p) || isMixins(p) })
	slices.SortFunc(rest, func(a, b property) int {
		return cmp.Or(cmp.Compare(int32(oracleHash(a.name)), int32(oracleHash(b.name))), oracleCompare(a.name, b.name))
	})
	return rest
}

func isPrimary(p property) bool { return p.name == "jcr:primaryType" && p.typ == segment.TypeName }
func isMixins(p property) bool  { return p.name == "jcr:mixinTypes" && p.typ == segment.TypeNames }

func (b *builder) template(props []property, children []child) segment.RecordID {
	rest := others(props)
	head := uint32(len(rest))
	var parts, types []any
	for _, p := range props {
		if isPrimary(p) {
			head |= 1 << 31
			parts = append(parts, b.name(p.values[0]))
		}
	}
	for _, p := range props {
		if isMixins(p) {
			head |= 1<<30 | uint32(len(p.values))<<18
			for _, v := range p.values {
				parts = append(parts, b.name(v))
			}
		}
	}
	switch len(children) {
	case 0:
		head |= 1 << 29
	case 1:
		parts = append(parts, b.name(children[0].name))
	default:
		head |= 1 << 28
	}
	names := make([]segment.RecordID, len(rest))
	for i, p := range rest {
		names[i] = b.name(p.name)
		types = append(types, int8(p.typ))
	}
	key := fmt.Sprint(head, parts, names, types)
	if id, ok := b.templates[key]; ok {
		return id
	}
	if len(names) > 0 {
		parts = append(parts, b.list(names))
	}
	id := b.record(segment.RecordTemplate, head, nested(parts), nested(types))
	if id.Segment == b.id {
		b.templates[key] = id
	}
	return id
}

// mapOf builds a map from scratch.
func (b *builder) mapOf(children []child) segment.RecordID {
	children = slices.Clone(children)
	slices.SortFunc(children, func(a, c child) int {
		return cmp.Or(cmp.Compare(oracleMapHash(a.name), oracleMapHash(c.name)), oracleCompare(a.name, c.name))
	})
	return b.mapAt(0, children)
}

func (b *builder) mapAt(level uint32, children []child) segment.RecordID {
	if len(children) <= 32 || level == 7 {
		return b.leaf(level, children)
	}
	bitmap := uint32(0)
	var buckets []any
	for i := range uint32(32) {
		var in []child
		for _, c := range children {
			if oracleBucket(oracleMapHash(c.name), level) == i {
				in = append(in, c)
			}
		}
		if len(in) > 0 {
			bitmap |= 1 << i
			buckets = append(buckets, b.mapAt(level+1, in))
		}
	}
	return b.record(segment.RecordBranch, level<<29|uint32(len(children)), bitmap, nested(buckets))
}

func (b *builder) leaf(level uint32, children []child) segment.RecordID {
	var hashes, entries []any
	for _, c := range children {
		hashes = append(hashes, oracleMapHash(c.name))
		entries = append(entries, b.name(c.name), c.node)
	}
	return b.record(segment.RecordLeaf, level<<29|uint32(len(children)), nested(hashes), nested(entries))
}

func (b *builder) diff(name string, node, base segment.RecordID) segment.RecordID {
	return b.record(segment.RecordBranch, uint32(1<<32-1), oracleMapHash(name), b.name(name), node, base)
}

// The oracles work on real UTF-16.

func oracleHash(s string) uint32 {
	var h uint32
	for _, unit := range utf16.Encode([]rune(s)) {
		h = 31*h + uint32(unit)
	}
	return h
}

func oracleCompare(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func oracleMapHash(s string) uint32 { return (oracleHash(s)^0xDEECE66D)*0xDEECE66D + 0xB }

func oracleBucket(hash, level uint32) uint32 {
	if level == 6 {
		top := hash >> 29
		if top >= 4 {
			top += 24 // the sign
		}
		return top
	}
	return hash >> (27 - 5*level) & 31
}
