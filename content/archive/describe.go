// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import "github.com/holtdb/holt/content/segment"

// finder finds the bytes of segments.
type finder interface {
	Segment(id segment.ID) ([]byte, bool)
}

// parsing is a [segment.Store] that parses what a finder finds, every time. It serves for what is rarely needed: ids of
// binaries that are kept in other segments than the records they belong to.
type parsing struct{ finder }

func (p parsing) Segment(id segment.ID) (*segment.Segment, error) {
	if p.finder == nil {
		return nil, &segment.NotFoundError{Segment: id}
	}
	data, ok := p.finder.Segment(id)
	if !ok {
		return nil, &segment.NotFoundError{Segment: id}
	}
	return segment.ParseIn(p, id, data)
}

// parse parses a segment of which the references are found by others.
func parse(others finder, id segment.ID, data []byte) (*segment.Segment, error) {
	return segment.ParseIn(parsing{others}, id, data)
}

// described is what an archive records about a segment.
type described struct {
	generation segment.Generation
	references []segment.ID
	blobs      []string
}

// describe finds it in the segment itself. With an error it lacks the ids of binaries that cannot be read.
func describe(s *segment.Segment) (described, error) {
	blobs, err := blobIDs(s)
	return described{generation: s.Generation(), references: references(s), blobs: blobs}, err
}

// describeLeniently leaves out what cannot be read: ids of binaries, when the segment that has them is lost.
func describeLeniently(s *segment.Segment) (described, error) {
	d, err := describe(s)
	if isLost(err) {
		err = nil
	}
	return d, err
}

// describeReadable leaves out all ids of binaries that cannot be read.
func describeReadable(s *segment.Segment) (described, error) {
	d, _ := describe(s) // the ids are all that can be wrong
	return d, nil
}

// trailerOf puts together what an archive records about its segments.
func trailerOf(entries []Entry, about func(id segment.ID) described) (Graph, BlobReferences) {
	var graph Graph
	var blobs BlobReferences
	for _, e := range entries {
		d := about(e.ID)
		if len(d.references) > 0 {
			graph = append(graph, References{e.ID, d.references})
		}
		blobs.add(e.Generation, e.ID, d.blobs)
	}
	graph.sort()
	blobs.sort()
	return graph, blobs
}
