// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/file"
)

var be = binary.BigEndian

func u32[N int | int32 | int64 | uint32](n N) []byte { return be.AppendUint32(nil, uint32(n)) }

func idBytes(id segment.ID) []byte {
	b := make([]byte, segment.IDSize)
	id.Put(b)
	return b
}

// press is a writer of records in memory.
type press struct {
	*segment.Writer
	t     *testing.T
	store map[segment.ID]*segment.Segment
}

// pressed is the generation of what is written: all of its bytes differ.
var pressed = segment.Generation{Generation: 0x01020304, Full: 0x05060708, Compacted: true}

func newPress(t *testing.T) *press {
	t.Helper()
	return press{t: t, store: map[segment.ID]*segment.Segment{}}.next()
}

// next goes on in new segments, of a writer that knows nothing.
func (p press) next() *press {
	p.t.Helper()
	if p.Writer != nil {
		must(p.t, p.Flush())
	}
	w, err := segment.NewWriter(segment.Options{Store: shelf(p.store), Sink: shelf(p.store), Generation: pressed})
	must(p.t, err)
	return &press{w, p.t, p.store}
}

// shelf is where segments are.
type shelf map[segment.ID]*segment.Segment

func (m shelf) Append(s *segment.Segment) error {
	m[s.ID()] = s
	return nil
}

func (m shelf) Segment(id segment.ID) (*segment.Segment, error) {
	if s := m[id]; s != nil {
		return s, nil
	}
	return nil, &segment.NotFoundError{Segment: id}
}

func (p *press) text(s string) segment.RecordID {
	p.t.Helper()
	id, err := p.String(s)
	must(p.t, err)
	return id
}

func (p *press) texts(list ...string) []segment.RecordID {
	var ids []segment.RecordID
	for _, s := range list {
		ids = append(ids, p.text(s))
	}
	return ids
}

// leaves writes nodes without anything.
func (p *press) leaves(n int) []segment.RecordID {
	ids := make([]segment.RecordID, n)
	for i := range ids {
		var err error
		ids[i], err = p.Node(&segment.Draft{})
		must(p.t, err)
	}
	return ids
}

// find finishes the segment, and says where a record is in it.
func (p *press) find(id segment.RecordID) (s *segment.Segment, at int) {
	p.t.Helper()
	must(p.t, p.Flush())
	s = p.store[id.Segment]
	r, err := s.Record(id.Number)
	must(p.t, err)
	return s, r.Offset()
}

// bytes is a record, up to the one behind it.
func (p *press) bytes(id segment.RecordID) []byte {
	p.t.Helper()
	s, at := p.find(id)
	for r := range s.Records() {
		if r.Offset() == at {
			return r.Bytes
		}
	}
	p.t.Fatal("no such record")
	return nil
}

// rid is a record id as FORMAT.md has it in the segment of another record.
func (p *press) rid(in, id segment.RecordID) []byte {
	p.t.Helper()
	s, _ := p.find(in)
	if id.Segment == in.Segment {
		return append([]byte{0, 0}, u32(int(id.Number))...)
	}
	for i := range s.References() {
		if s.Reference(i) == id.Segment {
			return append([]byte{0, byte(i + 1)}, u32(int(id.Number))...)
		}
	}
	p.t.Fatalf("%s does not refer to %s", in.Segment, id.Segment)
	return nil
}

func (p *press) rids(in segment.RecordID, ids ...segment.RecordID) [][]byte {
	var list [][]byte
	for _, id := range ids {
		list = append(list, p.rid(in, id))
	}
	return list
}

// draft is a node of some shape, with properties p0, p1 … that are LONG, BOOLEAN, LONG …
func (p *press) draft(primary bool, mixins, children, other int) *segment.Draft {
	p.t.Helper()
	d := &segment.Draft{}
	for i := range other {
		f := segment.Field{Name: fmt.Sprint("p", i), Type: segment.TypeLong, Values: p.texts("42")}
		if i%2 == 1 {
			f.Type, f.Values = segment.TypeBooleans, p.texts("true", "false")
		}
		d.Fields = append(d.Fields, f)
	}
	if primary {
		d.Fields = append(d.Fields, segment.Field{Name: "jcr:primaryType", Type: segment.TypeName, Values: p.texts("nt:x")})
	}
	if mixins >= 0 {
		f := segment.Field{Name: "jcr:mixinTypes", Type: segment.TypeNames}
		for i := range mixins {
			f.Values = append(f.Values, p.text(fmt.Sprint("mix:", i)))
		}
		d.Fields = append(d.Fields, f)
	}
	var list []segment.Child
	for i := range children {
		child, err := p.Node(&segment.Draft{})
		must(p.t, err)
		list = append(list, segment.Child{Name: fmt.Sprint("child", i), Node: child})
	}
	var err error
	d.Children, err = p.Children(list)
	must(p.t, err)
	return d
}

// before is the record that was written ahead of another.
func before(id segment.RecordID) segment.RecordID {
	return segment.RecordID{Segment: id.Segment, Number: id.Number - 1}
}

func structures(t *testing.T) map[string]structure {
	all := map[string]structure{}
	p := newPress(t)
	elsewhere := p.text("a value in another segment")
	p = p.next()
	lists(p, all, elsewhere)
	tries(p.next(), all)
	nodes(p.next(), all, elsewhere)
	tables(p.next(), all, elsewhere)
	archives(t, p, all)
	return all
}

func lists(p *press, all map[string]structure, elsewhere segment.RecordID) {
	value, err := p.Binary(strings.NewReader(strings.Repeat("b", 20000)))
	must(p.t, err)
	all["Long value"] = structure{p.bytes(value)[:14], nil, []cell{
		one("length", 0xC0, 0, 0, 0, 0, 0, 0x0D, 0xA0), several("blocks", p.rid(value, before(value))),
	}}
	other := p.text("a value in a third segment")
	p = p.next()
	array, err := p.Array([]segment.RecordID{other, elsewhere, other})
	must(p.t, err)
	all["LIST"] = structure{p.bytes(array)[:10], nil, []cell{
		several("size", u32(3)), several("list", p.rid(array, before(array))),
	}}
	all["Record id"] = structure{p.bytes(before(array))[6:12], nil, []cell{
		one("segment", 0, 2), several("number", u32(int(elsewhere.Number))),
	}}
}

func tries(p *press, all map[string]structure) {
	values := p.leaves(4)
	leaf, err := p.Map([]segment.Child{
		{Name: "root", Node: values[0]}, {Name: "a", Node: values[1]}, {Name: "checkpoints", Node: values[2]},
	})
	must(p.t, err)
	keys := p.texts("a", "checkpoints", "root") // those that are there
	r, err := segment.Find(p, leaf)
	must(p.t, err)
	base, err := r.Map()
	must(p.t, err)
	diff, err := p.UpdateMap(base, []segment.Child{{Name: "checkpoints", Node: values[3]}})
	must(p.t, err)
	all["Leaf"] = structure{p.bytes(leaf)[:4+3*16], map[string]int{"n": 3}, []cell{
		several("head", u32(3)),
		several("hash i", u32(0x3C9CBB27), u32(uint32(0xBC751619)), u32(uint32(0xC28924EE))),
		several("key i", p.rids(leaf, keys...)...),
		several("value i", p.rids(leaf, values[1], values[2], values[0])...),
	}}
	all["Diff"] = structure{p.bytes(diff)[:26], nil, []cell{
		one("head", 0xFF, 0xFF, 0xFF, 0xFF), several("hash", u32(uint32(0xBC751619))),
		several("key", p.rid(diff, keys[1])), several("value", p.rid(diff, values[3])), several("base", p.rid(diff, leaf)),
	}}

	p = p.next()
	var children []segment.Child
	value := p.leaves(1)[0]
	for i := range 40 {
		children = append(children, segment.Child{Name: fmt.Sprint("name", i), Node: value})
	}
	branch, err := p.Map(children)
	must(p.t, err)
	var buckets [32][]byte
	bitmap := 0
	s, _ := p.find(branch)
	for r := range s.Records() {
		if r.Type == segment.RecordLeaf {
			i := r.Bytes[4] >> 3 // the upper bits of the first hash
			buckets[i] = p.rid(branch, r.ID())
			bitmap |= 1 << i
		}
	}
	var present [][]byte
	for _, b := range buckets {
		if b != nil {
			present = append(present, b)
		}
	}
	all["Branch"] = structure{p.bytes(branch)[:8+6*bits.OnesCount(uint(bitmap))], nil, []cell{
		several("head", u32(40)), several("bitmap", u32(bitmap)), several("bucket i", present...),
	}}
}

func nodes(p *press, all map[string]structure, original segment.RecordID) {
	d := p.draft(true, 2, 1, 3)
	tmpl, err := p.Template(d)
	must(p.t, err)
	node, err := p.Node(d)
	must(p.t, err)
	child := p.childOf(node)
	copied, err := p.Node(&segment.Draft{StableID: original})
	must(p.t, err)

	in := p.bytes(tmpl)
	vars := map[string]int{"P": 1, "M": 2, "C": 1, "K": 3}
	all["TEMPLATE"] = structure{in[:4+5*6+3], vars, []cell{
		several("head", u32(uint32(0xC0080003))),
		several("primary type", p.rid(tmpl, p.textThere("nt:x"))),
		several("mixin types", bytes.Join(p.rids(tmpl, p.textThere("mix:0"), p.textThere("mix:1")), nil)),
		several("name of the child", p.rid(tmpl, p.textThere("child0"))),
		several("names", p.rid(tmpl, before(tmpl))),
		one("types", 3, 0xFA, 3), // LONG, BOOLEANS, LONG
	}}
	all["NODE"] = structure{p.bytes(node)[:24], map[string]int{"C": 1}, []cell{
		several("stable id", p.rid(node, node)), several("template", p.rid(node, tmpl)),
		several("child", p.rid(node, child)), several("values", p.rid(node, before(node))),
	}}
	all["Stable id"] = structure{p.bytes(before(copied)), nil, []cell{
		several("segment", idBytes(original.Segment)), several("number", u32(int(original.Number))),
	}}
}

// textThere is a string that is in the only segment there is.
func (p *press) textThere(s string) segment.RecordID {
	p.t.Helper()
	for _, seg := range p.store {
		for r := range seg.Records() {
			if r.Type == segment.RecordValue && bytes.HasPrefix(r.Bytes, append([]byte{byte(len(s))}, s...)) {
				return r.ID()
			}
		}
	}
	p.t.Fatalf("no %q", s)
	return segment.RecordID{}
}

// childOf is the only child of a node.
func (p *press) childOf(id segment.RecordID) segment.RecordID {
	p.t.Helper()
	s, _ := p.find(id)
	r, err := s.Record(id.Number)
	must(p.t, err)
	n, err := r.Node()
	must(p.t, err)
	child, ok, err := n.Child("child0")
	if !ok || err != nil {
		p.t.Fatalf("no child: %v", err)
	}
	return child.ID()
}

func tables(p *press, all map[string]structure, elsewhere segment.RecordID) {
	array, err := p.Array([]segment.RecordID{elsewhere})
	must(p.t, err)
	s, at := p.find(array)
	b := s.Bytes()
	const rowsAt = 32 + 16
	row := b[rowsAt+9 : rowsAt+18]
	all["Data segment"] = structure{b, map[string]int{"R": 1, "N": 2}, []cell{
		several("magic", []byte("0aK")), one("version", 13), one("compacted, full generation", 0x85, 6, 7, 8),
		one("reserved", 0, 0), one("generation", 1, 2, 3, 4), several("number of references", u32(1)),
		several("number of records", u32(2)), several("reserved", make([]byte, 10)),
		several("reference i", idBytes(elsewhere.Segment)), several("row i", b[rowsAt:rowsAt+9], row),
		several("zeros, records", b[rowsAt+18:]),
	}}
	all["Row of the record table"] = structure{row, nil, []cell{
		several("number", u32(1)), one("type", 3), several("offset", u32(262144-len(b)+at)),
	}}
	if g := s.Generation(); g != pressed {
		p.t.Errorf("generation %v", g)
	}
	old := bytes.Clone(b)
	old[3] = 12
	s, err = segment.Parse(s.ID(), old)
	must(p.t, err)
	if g := s.Generation(); g != (segment.Generation{Generation: 0x01020304, Full: 0x01020304, Compacted: true}) {
		p.t.Errorf("generation %v of version 12", g)
	}
}

const formatArchive = "data00000a.tar"

// archived is an archive of one segment with one reference and one external binary, and the segment.
func archived(t *testing.T, p *press) (b []byte, s *segment.Segment) {
	t.Helper()
	elsewhere := p.text("a value in another segment")
	p = p.next()
	_, err := p.Array([]segment.RecordID{elsewhere})
	must(t, err)
	id, err := p.BlobID("blob#1")
	must(t, err)
	s, _ = p.find(id)
	fsys := file.NewMemory()
	w, err := archive.CreateWriter(fsys, formatArchive, func() time.Time { return time.Unix(1796041571, 0) })
	must(t, err)
	must(t, w.Append(s))
	must(t, errors.Join(w.Close(), w.Unmap()))
	return readAll(t, fsys), s
}

func readAll(t *testing.T, fsys file.FS) []byte {
	t.Helper()
	f, err := fsys.OpenFile(formatArchive, os.O_RDONLY, 0)
	must(t, err)
	size, err := f.Size()
	must(t, err)
	b := make([]byte, size)
	_, err = f.ReadAt(b, 0)
	must(t, errors.Join(err, f.Close()))
	return b
}

// The magic numbers of the trailer, by entry and version.
func magics(t *testing.T) map[string]int {
	t.Helper()
	m := map[string]int{}
	for _, r := range documented(t, "magic | entry | version | we write it")["Footer"] {
		var n int
		_, err := fmt.Sscanf(r[0], "0x%X", &n)
		must(t, err)
		m[strings.TrimSpace(r[1]+" "+r[2])] = n
	}
	return m
}

func footer(t *testing.T, data []byte, count, size int, magic string) structure {
	t.Helper()
	m, ok := magics(t)[magic]
	if !ok {
		t.Fatalf("no magic number of %s", magic)
	}
	return structure{nil, nil, []cell{
		several("checksum", u32(int(crc32.ChecksumIEEE(data)))), several("count", u32(count)),
		several("size", u32(size)), several("magic", u32(m)),
	}}
}

func archives(t *testing.T, p *press, all map[string]structure) {
	b, s := archived(t, p.next())
	n := len(s.Bytes())
	name := fmt.Sprintf("%s.%08x", s.ID(), crc32.ChecksumIEEE(s.Bytes()))
	sum := 8 * int(' ')
	for i, c := range b[:512] {
		if i < 148 || i >= 156 {
			sum += int(c)
		}
	}
	all["Entry header"] = structure{b[:512], nil, []cell{
		several("name", append([]byte(name), make([]byte, 100-len(name))...)),
		several("mode", []byte("0000400\x00")), several("owner", []byte("0000000\x00")), several("group", []byte("0000000\x00")),
		several("size", fmt.Appendf(nil, "%011o\x00", n)), several("time", fmt.Appendf(nil, "%011o\x00", 1796041571)),
		several("checksum", fmt.Appendf(nil, "%06o\x00 ", sum)), several("type", []byte("0")),
		several("unused", make([]byte, 355)),
	}}

	end := len(b) - 1024 // of the index; the data of all three fit into a block
	index, graph, blobs := b[end-49:end-16], b[end-1024-52:end-1024-16], b[end-2048-43-16:end-2048-16]
	for _, f := range []struct {
		magic string
		end   int
		data  []byte
		size  int
	}{
		{"index 2", end, index, 512},
		{"graph", end - 1024, graph, 52},
		{"binary references 2", end - 2048, blobs, 59},
	} {
		at := footer(t, f.data, 1, f.size, f.magic)
		at.written = b[f.end-16 : f.end]
		at.check(t, documentedRows(t)["Footer"])
		all["Footer"] = at
	}
	all["Index entry"] = structure{index, nil, []cell{
		several("id", idBytes(s.ID())), several("position", u32(512)), several("length", u32(n)),
		one("generation", 1, 2, 3, 4), one("full generation", 5, 6, 7, 8), one("compacted", 1),
	}}
	all["Graph"] = structure{graph, nil, []cell{
		several("source", idBytes(s.ID())), several("number of targets", u32(1)),
		several("target i", idBytes(s.Reference(0))),
	}}
	all["Group"] = structure{blobs, nil, []cell{
		one("generation", 1, 2, 3, 4), one("full generation", 5, 6, 7, 8), one("compacted", 1),
		several("number of segments", u32(1)), several("segments", blobs[13:]),
	}}
	all["Segment of a group"] = structure{blobs[13:], nil, []cell{
		several("id", idBytes(s.ID())), several("number of ids", u32(1)), several("ids", append(u32(6), "blob#1"...)),
	}}
	readArchive(t, b, s, pressed, "blob#1")
	older(t, all, b, s)
}

// older puts an index and binary references of version 1 into an archive, from the tables alone, and reads them. The id is
// another than in the segment, from which it would be taken if what is put there could not be read.
func older(t *testing.T, all map[string]structure, b []byte, s *segment.Segment) {
	t.Helper()
	entry := structure{nil, nil, []cell{
		several("id", idBytes(s.ID())), several("position", u32(512)), several("length", u32(len(s.Bytes()))),
		one("generation", 1, 2, 3, 4),
	}}
	entry.written = entry.assemble(t, "Index entry of version 1")
	group := structure{nil, nil, []cell{
		one("generation", 1, 2, 3, 4), several("number of segments", u32(1)),
		several("segments", bytes.ReplaceAll(all["Segment of a group"].written, []byte("#1"), []byte("#2"))),
	}}
	group.written = group.assemble(t, "Group of version 1")
	all["Index entry of version 1"], all["Group of version 1"] = entry, group

	b = bytes.Clone(b)
	end := len(b) - 1024
	put := func(end int, data []byte, size int, magic string) {
		f := footer(t, data, 1, size, magic).assemble(t, "Footer")
		clear(b[end-512 : end])
		copy(b[end-16-len(data):], append(bytes.Clone(data), f...))
	}
	put(end, entry.written, 512, "index 1")
	put(end-2048, group.written, len(group.written)+16, "binary references 1")
	readArchive(t, b, s, segment.Generation{Generation: 0x01020304, Full: 0x01020304, Compacted: true}, "blob#2")
}

// readArchive demands what there is in the archive of one segment.
func readArchive(t *testing.T, b []byte, s *segment.Segment, g segment.Generation, blob string) {
	t.Helper()
	fsys := file.NewMemory()
	f, err := fsys.OpenFile(formatArchive, os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	_, err = f.WriteAt(b, 0)
	must(t, errors.Join(err, f.Close()))
	r, err := archive.OpenReader(fsys, formatArchive)
	must(t, err)
	e, ok := r.Entry(s.ID())
	if want := (archive.Entry{ID: s.ID(), Off: 512, Len: len(s.Bytes()), Generation: g}); !ok || e != want {
		t.Errorf("entry %+v, want %+v", e, want)
	}
	graph, err := r.Graph()
	want := archive.Graph{{From: s.ID(), To: []segment.ID{s.Reference(0)}}}
	if err != nil || fmt.Sprint(graph) != fmt.Sprint(want) {
		t.Errorf("graph %v, %v", graph, err)
	}
	blobs, err := r.BlobReferences()
	ids := []archive.SegmentBlobs{{Segment: s.ID(), IDs: []string{blob}}}
	if refs := (archive.BlobReferences{{Generation: g, Segments: ids}}); err != nil || fmt.Sprint(blobs) != fmt.Sprint(refs) {
		t.Errorf("binary references %v, want %v, %v", blobs, refs, err)
	}
	for finding := range r.Check() {
		if g == pressed {
			t.Error(finding)
		}
	}
	must(t, r.Close())
}
