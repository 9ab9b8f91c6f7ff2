// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/holtdb/holt/content/segment"
)

// Check holds every byte of the archive against what a writer leaves: headers, checksums, padding, the trailer against the
// segments. It goes on after the first finding. Of the newest archive of a store, if it has no index, it
// checks what a scan finds: more may have been written when the writer was stopped, or is being written.
func (r *Reader) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		c := checker{r: r, yield: yield, going: true}
		c.segments()
		switch {
		case !r.Scanned():
			c.trailer()
		case r.unclosed != nil:
			c.lost()
		}
	}
}

type checker struct {
	r     *Reader
	yield func(error) bool
	going bool

	whole bool // all segments could be parsed
	graph Graph
	blobs BlobReferences
}

func (c *checker) report(err error) {
	if err != nil && c.going {
		c.going = c.yield(err)
	}
}

func (c *checker) at(off int, format string, args ...any) {
	c.report(in(c.r.path, damaged(off, format, args...)))
}

// segments checks each, and that nothing but segments that were written anew is between them.
func (c *checker) segments() {
	c.whole = true
	at := 0
	for e := range c.r.Entries() {
		if !c.going {
			return
		}
		if gap := int(e.Off) - blockSize - at; gap < 0 {
			c.at(int(e.Off), "segment %s overlaps the one before", e.ID)
		} else if gap > 0 && !c.r.Scanned() {
			c.gap(at, int(e.Off)-blockSize)
		}
		c.segment(e)
		at = int(e.Off) + ceilBlock(e.Len)
		c.zeros(int(e.Off)+e.Len, min(at, len(c.r.data)))
	}
	if c.going && c.whole && !c.r.Scanned() && at < c.trailerStart() {
		c.gap(at, c.trailerStart())
	}
}

// lost reports that there is no index, and what a scan could not read for want of it.
func (c *checker) lost() {
	c.report(c.r.unclosed)
	for _, p := range c.r.lost {
		c.report(&CorruptError{c.r.path, p.Segment, p.Off, errors.New(p.Reason)})
	}
}

// gap checks what is between two positions: entries of segments that were written anew.
func (c *checker) gap(from, to int) {
	for from < to {
		n := c.replaced(from, to)
		if n == 0 {
			c.at(from, "%d bytes that are no segment of the index", to-from)
			return
		}
		from += n
	}
}

// replaced is the length of an entry of a segment that the index has further behind; 0 if there is none.
func (c *checker) replaced(from, to int) int {
	h := (*tarHeader)(c.r.data[from:])
	if h.size() > int64(to-from-blockSize) {
		return 0
	}
	length := blockSize + ceilBlock(int(h.size()))
	found := scan(c.r.data[from : from+length]).entries
	if len(found) != 1 || found[0].Off != blockSize {
		return 0
	}
	if other, ok := c.r.Entry(found[0].ID); !ok || other.Off <= int64(from+blockSize) {
		return 0
	}
	return length
}

func (c *checker) segment(e Entry) {
	r := c.r
	c.report(r.verify(e))
	h := r.header(e)
	if err := h.check(entryName(e.ID, r.bytes(e)), e.Len); err != nil {
		c.at(int(e.Off)-blockSize, "%v", err)
	}
	s, err := r.parse(e)
	if err != nil {
		c.whole = false
		c.report(err)
		return
	}
	if s.Generation() != e.Generation {
		c.report(r.corrupt(e, fmt.Errorf("generation %v by the index, %v by the segment", e.Generation, s.Generation())))
	}
	d, err := describe(s)
	if err != nil {
		c.whole = false
		c.report(r.corrupt(e, err))
		return
	}
	if len(d.references) > 0 {
		c.graph = append(c.graph, References{e.ID, d.references})
	}
	c.blobs.add(e.Generation, e.ID, d.blobs)
}

func (c *checker) zeros(from, to int) {
	for i, b := range c.r.data[from:to] {
		if b != 0 {
			c.at(from+i, "padding that is not zero")
			return
		}
	}
}

// trailerStart is where the binary references begin, as far as that is known.
func (c *checker) trailerStart() int {
	_, start, err := parseGraph(c.r.data, c.r.end)
	if err == nil {
		_, _, start, err = parseBlobs(c.r.data, start)
	}
	if err != nil {
		return 0
	}
	return start
}

func (c *checker) trailer() {
	r := c.r
	end := len(r.data) - endSize
	c.zeros(end, len(r.data))
	c.entry(r.end, end, len(r.index.rows)+footerSize, "idx")
	if f, err := footerAt(r.data, end); err != nil || int(f.size()) != ceilBlock(len(r.index.rows)+footerSize) {
		c.at(end-8, "index: the size is wrong")
	}
	graph, at, err := parseGraph(r.data, r.end)
	if err != nil {
		c.report(in(r.path, err))
		return
	}
	c.entry(at, r.end, len(graph.encode()), "gph")
	blobs, magic, start, err := parseBlobs(r.data, at)
	if err != nil {
		c.report(in(r.path, err))
		return
	}
	c.entry(start, at, len(blobs.encode(magic)), "brf")
	if c.whole {
		c.compare(graph, blobs)
	}
}

// entry checks header and padding of an entry of the trailer.
func (c *checker) entry(from, end, size int, suffix string) {
	h := (*tarHeader)(c.r.data[from:])
	name := h.name()
	if n := len(name) - len(suffix) - 1; n < 0 || name[n:] != "."+suffix {
		c.at(from, "the header names %q instead of something that ends in .%s", name, suffix)
		return
	}
	if err := h.check(name, end-from-blockSize); err != nil {
		c.at(from, "%v", err)
	}
	c.zeros(from+blockSize, end-size)
}

// compare holds graph and binary references against the segments.
func (c *checker) compare(graph Graph, blobs BlobReferences) {
	if err := sameGraph(graph, c.graph, c.r); err != nil {
		c.report(&CorruptError{Path: c.r.path, Off: int64(c.r.end), Err: err})
	}
	blobs.sort()
	c.blobs.sort()
	for i := range blobs { // a set with nothing in it may be there or not
		blobs[i].Segments = slices.DeleteFunc(blobs[i].Segments, func(s SegmentBlobs) bool { return len(s.IDs) == 0 })
	}
	blobs = slices.DeleteFunc(blobs, func(g BlobGroup) bool { return len(g.Segments) == 0 })
	if len(blobs)+len(c.blobs) > 0 && !reflect.DeepEqual(blobs, c.blobs) {
		c.at(c.r.end, "the binary references are not those of the segments")
	}
}

// sameGraph demands that the stored graph has what the segments say. References to segments that a cleanup removed may be
// missing.
func sameGraph(stored, found Graph, r *Reader) error {
	to := map[segment.ID][]segment.ID{}
	for _, s := range stored {
		if _, ok := to[s.From]; ok {
			return fmt.Errorf("graph: segment %s is there twice", s.From)
		}
		to[s.From] = s.To
	}
	for _, f := range found {
		s := to[f.From]
		delete(to, f.From)
		for _, id := range s {
			if !slices.Contains(f.To, id) {
				return fmt.Errorf("graph: segment %s does not refer to %s", f.From, id)
			}
		}
		for _, id := range f.To {
			if _, kept := r.Entry(id); kept && !slices.Contains(s, id) {
				return fmt.Errorf("graph: segment %s refers to %s, which is missing", f.From, id)
			}
		}
	}
	if len(to) > 0 {
		return errors.New("graph: segments that refer to none, or are not there")
	}
	return nil
}
