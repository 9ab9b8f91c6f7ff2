// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"io"
	"iter"

	"github.com/holtdb/holt/content/segment"
)

// What the tests of the inside use.
var (
	ParseRevision   = parseRevision
	ParseCollection = parseCollection
	MagicBlobs      = [2]uint32{magicBlobs1, magicBlobs2}
)

func (r Revision) Line() string   { return string(r.line()) }
func (c Collection) Line() string { return string(c.line()) }

func Backward(r io.ReaderAt, length int64) iter.Seq2[string, error] { return backward(r, length) }

const MaxLine = maxLine

// RecodeGraph parses a graph that ends with b, and encodes what it found. ok is false if there is nothing.
func RecodeGraph(b []byte) (again []byte, ok bool) {
	g, _, err := parseGraph(b, len(b))
	if err != nil {
		return nil, false
	}
	return g.encode(), true
}

// RecodeBlobs does the same with binary references.
func RecodeBlobs(b []byte) (again []byte, ok bool) {
	refs, magic, _, err := parseBlobs(b, len(b))
	if err != nil {
		return nil, false
	}
	return refs.encode(magic), true
}

// ParseBlobs parses binary references that end with b, and says of which version they are.
func ParseBlobs(b []byte) (refs BlobReferences, version int, err error) {
	refs, magic, _, err := parseBlobs(b, len(b))
	if magic == magicBlobs1 {
		return refs, 1, err
	}
	return refs, 2, err
}

// RecodeIndex does the same with an archive and its index.
func RecodeIndex(b []byte) (again []byte, ok bool) {
	x, _, err := parseIndex(b)
	if err != nil {
		return nil, false
	}
	return x.encode(), true
}

// EncodeIndex1 is an index of version 1.
func EncodeIndex1(entries []Entry) []byte {
	x := newIndex(entries)
	var rows []byte
	for i := range x.len() {
		rows = append(rows, x.rows[i*indexRow2:i*indexRow2+indexRow1]...)
	}
	return index{rows, indexRow1}.encode()
}

// Encode is the data of binary references.
func (refs BlobReferences) Encode(magic uint32) []byte { return refs.encode(magic) }

// Encode is the data of a graph.
func (g Graph) Encode() []byte { return g.encode() }

// SetMax limits the length of the closed archive.
func (w *Writer) SetMax(n int) { w.max = n }

// Current is the archive that is being written to.
func (d *Dir) Current() *Writer { return d.current }

// Views is the number of mappings there were.
func (w *Writer) Views() int { return len(w.views) }

// MayHave is the filter of ids of archives that are only read.
func MayHave(archives []Archive) func(id segment.ID) bool { return newIDFilter(archives).mayHave }
