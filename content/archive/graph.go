// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"slices"

	"github.com/holtdb/holt/content/segment"
)

// A Graph says which segments those of an archive refer to. Segments that refer to none are not in it.
type Graph []References

// References are the segments that one refers to.
type References struct {
	From segment.ID
	To   []segment.ID
}

// minReferences is the least that a source takes by the format's own rule, which is less than it can take.
const minReferences = 34

// parseGraph finds the graph whose entry ends at a position of the archive. Its entry begins at start.
func parseGraph(data []byte, end int) (g Graph, start int, err error) {
	body, f, start, err := part(data, end, "graph", minReferences, magicGraph)
	if err != nil {
		return nil, 0, err
	}
	d := decoder{b: body, at: end - footerSize - len(body)}
	for range f.count() {
		r := References{From: d.id()}
		r.To = make([]segment.ID, d.count(idSize))
		for i := range r.To {
			r.To[i] = d.id()
		}
		g = append(g, r)
	}
	return g, start, d.end("graph")
}

// encode is the data of the graph's entry, with its footer.
func (g Graph) encode() []byte {
	var b []byte
	for _, r := range g {
		b = appendID(b, r.From)
		b = be.AppendUint32(b, uint32(len(r.To)))
		for _, id := range r.To {
			b = appendID(b, id)
		}
	}
	return appendFooter(b, len(g), 0, magicGraph)
}

// sort puts the sources in order; the targets are left in that of the segment's table.
func (g Graph) sort() {
	slices.SortFunc(g, func(a, b References) int { return a.From.Compare(b.From) })
}

// references is the table of a data segment.
func references(s *segment.Segment) []segment.ID {
	ids := make([]segment.ID, s.References())
	for i := range ids {
		ids[i] = s.Reference(i)
	}
	return ids
}
