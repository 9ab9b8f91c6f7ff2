// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"

	"github.com/holtdb/holt/content/segment"
)

// findHead goes back in the journal up to a revision whose segment is there.
func (d *Dir) findHead() error {
	search := headSearch{dir: d}
	for r, err := range revisions(d.journal) {
		if err != nil {
			return err
		}
		if search.has(r.ID.Segment) {
			d.head = r.ID
			break
		}
		search.miss(r.ID)
	}
	if n := search.misses; n > 0 {
		d.opts.Logger.Warn("the journal names segments that are not there: going back",
			"revisions", n, "newest", search.newest.String())
	}
	if d.head != (segment.RecordID{}) || d.opts.NoHead || !d.opts.ReadOnly && search.misses == 0 && d.isNew() {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrNoHead, d.path)
}

// headSearch is one of findHead. To look a segment up in every archive is costly where a million lines lead nowhere: after
// many misses most are told by a filter.
type headSearch struct {
	dir    *Dir
	misses int
	newest segment.RecordID // of the misses
	filter idFilter
}

const manyMisses = 1000

func (s *headSearch) has(id segment.ID) bool {
	if s.filter != nil && !s.filter.mayHave(id) {
		return false
	}
	_, ok := s.dir.Segment(id)
	return ok
}

func (s *headSearch) miss(id segment.RecordID) {
	if s.misses++; s.misses == 1 {
		s.newest = id
	}
	if s.misses == manyMisses {
		s.filter = newIDFilter(s.dir.Archives())
	}
}

// idFilter has a bit for some of the random bits of an id, eight times as many as there are segments.
type idFilter []uint64

func newIDFilter(archives []Archive) idFilter {
	n := 0
	for _, a := range archives {
		n += a.(*Reader).Len() // none is being written to yet
	}
	f := make(idFilter, n/8+1)
	for _, a := range archives {
		x := a.(*Reader).index
		for i := range x.len() {
			word, bit := f.place(x.id(i))
			*word |= bit
		}
	}
	return f
}

func (f idFilter) mayHave(id segment.ID) bool {
	word, bit := f.place(id)
	return *word&bit != 0
}

func (f idFilter) place(id segment.ID) (word *uint64, bit uint64) {
	return &f[id.LSB>>6%uint64(len(f))], 1 << (id.LSB % 64)
}

// nodes is asked for what can be a head: records that are nodes by the table of their segment, of which the last one is
// kept.
type nodes struct {
	finder
	last *segment.Segment
}

func (n *nodes) check(id segment.RecordID) error {
	if n.last == nil || n.last.ID() != id.Segment {
		data, ok := n.Segment(id.Segment)
		if !ok {
			return &segment.NotFoundError{Segment: id.Segment}
		}
		s, err := segment.Parse(id.Segment, data)
		if err != nil {
			return err
		}
		n.last = s
	}
	r, err := n.last.Record(id.Number)
	if err == nil && r.Type() != segment.RecordNode {
		err = fmt.Errorf("%w: record %d of segment %s is a %s", ErrHead, id.Number, id.Segment, r.Type())
	}
	return err
}

// isNew says whether nothing is lost if the store is taken for one without content: there are no segments but those of the
// empty root, with which every store begins. It is so after a crash before that became the head.
func (d *Dir) isNew() bool {
	const few = 8
	n := 0
	for _, a := range d.Archives() {
		for e := range a.Entries() {
			data, _ := a.Segment(e.ID)
			s, err := segment.Parse(e.ID, data)
			if n++; err != nil || e.ID.IsBulk() || n > few {
				return false
			}
			if info, err := s.Info(); err != nil || info.Writer != initialWriter {
				return false
			}
		}
	}
	return true
}

// initialWriter is the name by which the segment of the empty root gives itself away.
const initialWriter = "init"
