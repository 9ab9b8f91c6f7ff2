// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"

	"github.com/holtdb/holt/content/segment"
)

// records is what an archive that is being written to records about its segments. One at a time appends, and changes it
// with the archive's mu held.
type records struct {
	about map[segment.ID]*described
	late  map[segment.ID][]waiting // by what they wait for
}

func newRecords() records {
	return records{map[segment.ID]*described{}, map[segment.ID][]waiting{}}
}

// waiting is a segment with an id of a binary in a segment that is not there yet. What is recorded of it is without
// that id until then.
type waiting struct {
	segment *segment.Segment
	about   *described // as in records, unless the segment was replaced
}

// appending is a segment that is about to be appended, and what changes when it is.
type appending struct {
	waiting
	wants     segment.ID // what it waits for; the zero id if nothing
	completed []completed
	growth    int // of what is recorded of others, in bytes of the trailer
}

// completed is a segment that waited for one that is about to be appended.
type completed struct {
	waiting
	now   described
	wants segment.ID // what it waits for next; the zero id if nothing
}

// prepare describes a segment, which was described in its own store with a result, and anew those that wait for it.
// Others are looked for in all that is there.
func (r *records) prepare(s *segment.Segment, d described, err error, there ...finder) (appending, error) {
	found := append(finders{only{s}}, there...)
	a := appending{waiting: waiting{s, &d}}
	if isLost(err) {
		d, a.wants, err = describeWith(found, s)
	}
	if err != nil {
		return a, err
	}
	for _, l := range r.late[s.ID()] {
		if !r.has(l) {
			continue
		}
		now, wants, err := describeWith(found, l.segment)
		if err != nil {
			return a, err
		}
		a.completed = append(a.completed, completed{l, now, wants})
		a.growth += now.trailerSize() - l.about.trailerSize()
	}
	return a, nil
}

// settle notes what changed when a segment was appended.
func (r *records) settle(a appending) {
	id := a.segment.ID()
	r.about[id] = a.about
	delete(r.late, id)
	for _, c := range a.completed {
		*c.about = c.now
		r.await(c.wants, c.waiting)
	}
	r.await(a.wants, a.waiting)
}

// await lets a segment wait for another, unless that is the zero id.
func (r *records) await(wants segment.ID, l waiting) {
	if wants != (segment.ID{}) {
		r.late[wants] = append(r.late[wants], l)
	}
}

// has says whether a segment was not replaced since.
func (r *records) has(l waiting) bool { return r.about[l.segment.ID()] == l.about }

// waits is how many segments have ids that are not there yet. An archive that is closed with such is without them for
// ever: who collects binaries must not find it.
func (r *records) waits() int {
	n := 0
	for _, list := range r.late {
		for _, l := range list {
			if r.has(l) {
				n++
			}
		}
	}
	return n
}

// describeWith describes a segment with what is there. If an id is missing still, wants is where it is.
func describeWith(there finder, s *segment.Segment) (d described, wants segment.ID, err error) {
	s, err = parse(there, s.ID(), s.Bytes())
	if err == nil {
		d, err = describe(s)
	}
	wants, late := lost(err)
	if late {
		err = nil
	}
	return d, wants, err
}

// lost finds out whether an error is that a segment is not there, and which.
func lost(err error) (segment.ID, bool) {
	e, ok := errors.AsType[*segment.NotFoundError](err)
	if !ok {
		return segment.ID{}, false
	}
	return e.Segment, true
}

// only finds one segment.
type only struct{ s *segment.Segment }

func (o only) Segment(id segment.ID) ([]byte, bool) { return o.s.Bytes(), o.s.ID() == id }

// finders find what any of them does. Some may be nil.
type finders []finder

func (list finders) Segment(id segment.ID) ([]byte, bool) {
	for _, f := range list {
		if f == nil {
			continue
		}
		if b, ok := f.Segment(id); ok {
			return b, true
		}
	}
	return nil, false
}
