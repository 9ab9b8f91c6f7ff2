// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"

	"github.com/holtdb/holt/content/segment"
)

// waiting is a segment in an archive that is being written, with an id of a binary in a segment that is not there yet.
// What the trailer has of it is without that id until then.
type waiting struct {
	segment *segment.Segment
	about   *described // as in Writer.about, unless the segment was replaced
}

// with finds a segment that is about to be appended, and those that the writer or its store has.
type with struct {
	w    *Writer
	next *segment.Segment
}

func (f with) Segment(id segment.ID) ([]byte, bool) {
	if f.next.ID() == id {
		return f.next.Bytes(), true
	}
	b, ok := f.w.Segment(id)
	if !ok && f.w.other != nil {
		b, ok = f.w.other.Segment(id)
	}
	return b, ok
}

// describeWith describes a segment with what is there once next is. If an id is missing still, wants is where it is.
func (w *Writer) describeWith(next, s *segment.Segment) (d described, wants segment.ID, err error) {
	s, err = parse(with{w, next}, s.ID(), s.Bytes())
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

// completed is a segment that waited for one that is about to be appended.
type completed struct {
	waiting
	now   described
	wants segment.ID // what it waits for next; the zero id if nothing
}

// completedBy describes anew those that wait for a segment. size is by how much the trailer grows.
func (w *Writer) completedBy(next *segment.Segment) (list []completed, size int, err error) {
	for _, l := range w.late[next.ID()] {
		if !w.holds(l) {
			continue
		}
		d, wants, err := w.describeWith(next, l.segment)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, completed{l, d, wants})
		size += d.trailerSize() - l.about.trailerSize()
	}
	return list, size, nil
}

// settle notes what was completed by a segment that was appended.
func (w *Writer) settle(by segment.ID, list []completed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.late, by)
	for _, c := range list {
		*c.about = c.now
		w.await(c.wants, c.waiting)
	}
}

// await lets a segment wait for another, unless that is the zero id.
func (w *Writer) await(wants segment.ID, l waiting) {
	if wants != (segment.ID{}) {
		w.late[wants] = append(w.late[wants], l)
	}
}

// holds says whether a segment was not replaced since.
func (w *Writer) holds(l waiting) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.about[l.segment.ID()] == l.about
}

// waits is how many segments have ids that are not there yet. An archive that is closed with such is without them for
// ever: who collects binaries must not find it.
func (w *Writer) waits() int {
	w.writing.Lock()
	defer w.writing.Unlock()
	n := 0
	for _, list := range w.late {
		for _, l := range list {
			if w.holds(l) {
				n++
			}
		}
	}
	return n
}
