// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

// Sample describes a data segment to be made: one without content, but with all that a store records about it.
type Sample struct {
	ID         segment.ID // the zero id stands for a new one
	Generation segment.Generation
	References []segment.ID
	Blobs      []string // ids of binaries kept outside, of less than 4096 bytes
	Text       string   // a string in it, record 1, of 128 to 16511 bytes; none if it is empty
	Elsewhere  []int    // ids of binaries in record 1 of other segments: their numbers among References, from 1 on
	Writer     string   // of the segment's info; sys.0000 if it is empty
	Fill       int      // bytes of a block in it
}

// Segment makes it.
func (s Sample) Segment(t testing.TB) *segment.Segment {
	t.Helper()
	id := s.ID
	if id == (segment.ID{}) {
		id = segment.NewDataID()
	}
	parsed, err := segment.Parse(id, s.bytes())
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func (s Sample) bytes() []byte {
	writer := s.Writer
	if writer == "" {
		writer = "sys.0000"
	}
	info := fmt.Sprintf(`{"wid":"%s","sno":0,"t":1796041571680}`, writer)
	var b body
	b.add(segment.RecordValue, append([]byte{byte(len(info))}, info...))
	if s.Text != "" {
		b.add(segment.RecordValue, append(binary.BigEndian.AppendUint16(nil, 0x8000|uint16(len(s.Text)-128)), s.Text...))
	}
	for _, other := range s.Elsewhere {
		b.add(segment.RecordBlobID, []byte{0xF0, byte(other >> 8), byte(other), 0, 0, 0, 1})
	}
	for _, blob := range s.Blobs {
		b.add(segment.RecordBlobID, append(binary.BigEndian.AppendUint16(nil, 0xE000|uint16(len(blob))), blob...))
	}
	if s.Fill > 0 {
		block := make([]byte, s.Fill)
		for i := range block {
			block[i] = byte(i * 7)
		}
		b.add(segment.RecordBlock, block)
	}
	b.add(segment.RecordNode, make([]byte, 12)) // only its type matters
	return b.segment(s.Generation, s.References)
}

// Root is the node of a sample: what can be the head.
func Root(s *segment.Segment) segment.RecordID {
	for r := range s.RecordsOf(segment.RecordNode) {
		return r.ID()
	}
	return segment.RecordID{Segment: s.ID()}
}

// body is the records of a segment under construction: they lie one before the other, ahead of its end.
type body struct {
	rows  []byte
	bytes []byte
}

func (b *body) add(kind segment.RecordType, record []byte) {
	slot := make([]byte, (len(record)+3)&^3)
	copy(slot, record)
	b.bytes = append(slot, b.bytes...)
	b.rows = binary.BigEndian.AppendUint32(b.rows, uint32(len(b.rows)/9))
	b.rows = append(b.rows, byte(kind))
	b.rows = binary.BigEndian.AppendUint32(b.rows, uint32(segment.MaxSize-len(b.bytes)))
}

func (b *body) segment(g segment.Generation, references []segment.ID) []byte {
	be := binary.BigEndian
	head := make([]byte, 32)
	copy(head, "0aK\x0d")
	full := uint32(g.Full)
	if g.Compacted {
		full |= 1 << 31
	}
	be.PutUint32(head[4:], full)
	be.PutUint32(head[10:], uint32(g.Generation))
	be.PutUint32(head[14:], uint32(len(references)))
	be.PutUint32(head[18:], uint32(len(b.rows)/9))
	for _, id := range references {
		head = append(head, make([]byte, segment.IDSize)...)
		id.Put(head[len(head)-segment.IDSize:])
	}
	head = append(head, b.rows...)
	gap := -(len(head) + len(b.bytes)) & 15
	return append(append(head, make([]byte, gap)...), b.bytes...)
}

// Bulk makes a bulk segment of n bytes.
func Bulk(t testing.TB, n int) *segment.Segment {
	t.Helper()
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i * 13)
	}
	s, err := segment.Parse(segment.NewBulkID(), data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
