// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"github.com/holtdb/holt/cmd/holt/internal/annot"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content/segment"
)

// Sizes of the format.
const (
	headerBytes   = 32
	rowBytes      = 9
	recordIDBytes = 6
)

// section is a titled run of pieces of a segment.
type section struct {
	title  string
	pieces []annot.Piece
}

func printFields(p *annot.Printer, sections iter.Seq2[section, error]) error {
	for s, err := range sections {
		p.Section(s.title)
		for _, piece := range s.pieces {
			if err := p.Print(piece); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// segmentFields is all of a segment.
func segmentFields(s *segment.Segment) iter.Seq2[section, error] {
	if s.ID().IsBulk() {
		return bulkFields(s)
	}
	return func(yield func(section, error) bool) {
		rows := slices.SortedStableFunc(s.Records(), func(a, b segment.Row) int { return a.Offset() - b.Offset() })
		for _, sec := range []section{headerSection(s), referenceSection(s), tableSection(s), gapSection(s, rows)} {
			if !yield(sec, nil) {
				return
			}
		}
		for _, row := range rows {
			for sec, err := range recordSection(row) {
				if !yield(sec, err) {
					return
				}
			}
		}
	}
}

func bulkFields(s *segment.Segment) iter.Seq2[section, error] {
	return func(yield func(section, error) bool) {
		sec := section{title: "blocks"}
		size := len(s.Bytes())
		for at := 0; at < size; at += segment.BlockSize {
			number := segment.MaxSize - size + at
			sec.pieces = append(sec.pieces, annot.Piece{
				Off: int64(at), Len: int64(min(segment.BlockSize, size-at)), Name: "block", Value: fmt.Sprintf("record %d", number),
			})
		}
		yield(sec, nil)
	}
}

// fields collects pieces that lie one behind the other.
type fields struct {
	data   []byte
	at     int
	pieces []annot.Piece
}

// add takes the next n bytes, as far as they are there.
func (f *fields) add(n int, name, format string, args ...any) []byte {
	n = max(min(n, len(f.data)-f.at), 0)
	if n > 0 {
		f.pieces = append(f.pieces, annot.Piece{
			Off: int64(f.at), Len: int64(n), Name: name, Value: fmt.Sprintf(format, args...),
		})
	}
	b := f.data[f.at : f.at+n]
	f.at += n
	return b
}

func headerSection(s *segment.Segment) section {
	f := fields{data: s.Bytes()}
	g := s.Generation()
	f.add(3, "magic", "")
	f.add(1, "version", "%d", s.Version())
	f.add(4, "full generation", "%d, compacted %v", g.Full, g.Compacted)
	f.add(2, "reserved", "")
	f.add(4, "generation", "%d", g.Generation)
	f.add(4, "references", "%d", s.References())
	f.add(4, "records", "%d", s.Count())
	f.add(10, "reserved", "")
	return section{"header", f.pieces}
}

func referenceSection(s *segment.Segment) section {
	f := fields{data: s.Bytes(), at: headerBytes}
	for i := range s.References() {
		f.add(segment.IDSize, fmt.Sprintf("reference %d", i+1), "%s", s.Reference(i))
	}
	return section{"references", f.pieces}
}

func tableSection(s *segment.Segment) section {
	f := fields{data: s.Bytes(), at: headerBytes + segment.IDSize*s.References()}
	for row := range s.Records() {
		f.add(rowBytes, fmt.Sprintf("record %d", row.ID().Number), "%s at %#x", row.Type, row.Offset())
	}
	return section{"table of records", f.pieces}
}

func gapSection(s *segment.Segment, rows []segment.Row) section {
	f := fields{data: s.Bytes(), at: headerBytes + segment.IDSize*s.References() + rowBytes*s.Count()}
	end := len(f.data)
	if len(rows) > 0 {
		end = rows[0].Offset()
	}
	f.add(end-f.at, "padding", "")
	return section{"gap", f.pieces}
}

// recordSection is one record. It is taken apart as far as it can be.
func recordSection(row segment.Row) iter.Seq2[section, error] {
	return func(yield func(section, error) bool) {
		upTo := row.Segment().Bytes()[:row.Offset()+len(row.Bytes)]
		f := recordFields{fields: fields{data: upTo, at: row.Offset()}, row: row}
		links, err := row.Links()
		f.links = links
		if err == nil {
			f.record()
		}
		f.rest()
		title := fmt.Sprintf("record %d %s", row.ID().Number, row.Type)
		yield(section{title, f.pieces}, err)
	}
}

// recordFields takes a record apart.
type recordFields struct {
	fields
	row   segment.Row
	links []segment.Link
}

func (f *recordFields) record() {
	switch f.row.Type {
	case segment.RecordLeaf:
		f.leaf()
	case segment.RecordBranch:
		f.branch()
	case segment.RecordBucket:
		f.each("entry", len(f.links))
	case segment.RecordList:
		f.add(4, "count", "%d", f.word(0))
		f.each("entries", len(f.links))
	case segment.RecordValue, segment.RecordBlobID:
		f.value()
	case segment.RecordTemplate:
		f.template()
	case segment.RecordNode:
		f.node()
	}
}

// rest is what is behind: alignment, or what nobody knows.
func (f *recordFields) rest() {
	n := len(f.data) - f.at
	name := "data"
	if n < 4 && f.row.Type != segment.RecordBlock {
		name = "padding"
	}
	f.add(n, name, "")
}

func (f *recordFields) word(off int) uint32 {
	if off+4 > len(f.row.Bytes) {
		return 0
	}
	return binary.BigEndian.Uint32(f.row.Bytes[off:])
}

// link takes a record id.
func (f *recordFields) link(name string) {
	off := f.at - f.row.Offset()
	i := slices.IndexFunc(f.links, func(l segment.Link) bool { return l.Off == off })
	if i < 0 {
		return // the record ends before
	}
	id := f.links[i].ID
	if id.Segment == f.row.Segment().ID() {
		f.add(recordIDBytes, name, "record %d", id.Number)
		return
	}
	f.add(recordIDBytes, name, "%s", id)
}

func (f *recordFields) each(name string, n int) {
	for range n {
		f.link(name)
	}
}

func (f *recordFields) leaf() {
	head := f.word(0)
	f.add(4, "head", "level %d, %d entries", head>>29, head&(1<<29-1))
	n := len(f.links) / 2
	for i := range n {
		f.add(4, "hash", "%#08x", f.word(4+4*i))
	}
	for range n {
		f.link("name")
		f.link("value")
	}
}

func (f *recordFields) branch() {
	head := f.word(0)
	if head == 1<<32-1 {
		f.add(4, "head", "diff")
		f.add(4, "hash", "%#08x", f.word(4))
		f.link("name")
		f.link("value")
		f.link("base")
		return
	}
	f.add(4, "head", "level %d, %d entries", head>>29, head&(1<<29-1))
	f.add(4, "bitmap", "%032b", f.word(4))
	f.each("bucket", len(f.links))
}

func (f *recordFields) value() {
	v, err := f.row.Value()
	if err != nil {
		return
	}
	lead := f.row.Bytes[0]
	switch {
	case v.IsExternal() && len(f.links) > 0:
		f.add(1, "head", "")
		f.link("id")
	case v.IsExternal():
		id, err := v.BlobID()
		if err == nil {
			f.add(2, "length", "%d", id.Len())
			f.bytes("id", id)
		}
	case v.IsLong():
		f.add(8, "length", "%d", v.Len())
		f.link("blocks")
	default:
		size := 1
		if lead >= 0x80 {
			size = 2
		}
		f.add(size, "length", "%d", v.Len())
		f.bytes("bytes", v)
	}
}

func (f *recordFields) bytes(name string, v segment.Value) {
	b, _ := v.Bytes()
	const most = 60
	shown := text.Quote(b[:min(len(b), most)])
	if len(b) > most {
		shown += "…"
	}
	f.add(len(b), name, "%s", shown)
}

// The bits of a template's head.
const (
	templatePrimary  = 1 << 31
	templateMixins   = 1 << 30
	templateNoChild  = 1 << 29
	templateChildren = 1 << 28
)

func (f *recordFields) template() {
	head := f.word(0)
	mixins, count := int(head>>18&0x3FF), int(head&0x3FFFF)
	kind := "one child"
	switch {
	case head&templateNoChild != 0:
		kind = "no children"
	case head&templateChildren != 0:
		kind = "children"
	}
	f.add(4, "head", "%s, %s, %s", kind, properties(count), text.Plural(mixins, "mixin"))
	if head&templatePrimary != 0 {
		f.link("primary type")
	}
	if head&templateMixins != 0 {
		f.each("mixin", mixins)
	}
	if head&(templateNoChild|templateChildren) == 0 {
		f.link("child name")
	}
	if count == 0 {
		return
	}
	f.link("names")
	for i := range count {
		if off := f.at - f.row.Offset(); off < len(f.row.Bytes) {
			f.add(1, "type", "%d %s", i, segment.Type(f.row.Bytes[off]))
		}
	}
}

// node names the record ids as the template does. If that cannot be read, their place has to do.
func (f *recordFields) node() {
	f.link("stable id")
	f.link("template")
	names := []string{"third", "fourth"}
	if n, err := f.row.Node(); err == nil {
		names = nodeLinks(n)
	}
	for _, name := range names {
		f.link(name)
	}
}

func nodeLinks(n segment.Node) (names []string) {
	t := n.Template()
	head := binary.BigEndian.Uint32(t.Segment().Bytes()[t.Offset():])
	switch {
	case head&templateNoChild != 0:
	case head&templateChildren != 0:
		names = append(names, "children")
	default:
		names = append(names, "child")
	}
	if head&0x3FFFF > 0 {
		names = append(names, "values")
	}
	return names
}
