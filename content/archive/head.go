// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"

	"github.com/holtdb/holt/content/segment"
)

// findHead goes back in the journal up to a revision whose segment is there.
func (d *Dir) findHead() error {
	usable := false
	for r, err := range revisions(d.journal) {
		if err != nil {
			return err
		}
		if _, ok := d.Segment(r.ID.Segment); ok {
			d.head = r.ID
			return nil
		}
		usable = true
		d.opts.Logger.Warn("the journal names a segment that is not there: going back", "revision", r.ID.String())
	}
	if d.opts.NoHead || !d.opts.ReadOnly && !usable && d.isNew() {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrNoHead, d.path)
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
