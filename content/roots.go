// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
)

// roots are the super-roots of a store, by age: by the time in the info of their segment, its place in the archives, and
// their number. Each takes 8 bytes.
type roots struct{ segments []rootSegment }

// rootSegment is a segment with super-roots in it.
type rootSegment struct {
	id    segment.ID
	time  time.Time
	place int    // the more the later it was written
	roots []root // by number
}

type root struct {
	number      uint32
	checkpoints bool // it has that child, as all later ones have
}

// findRoots looks through all segments for what is a super-root:
//
//  1. It has no properties. Its children are root and checkpoints, or root alone.
//  2. It is no other node's child. So inner nodes with such children are told from it.
//  3. If it has root alone, no older one has checkpoints: that child never goes away again.
func (s *Store) findRoots(ctx context.Context, unreadable func(error)) (*roots, error) {
	f := rootFinder{store: s, ctx: ctx, found: map[segment.ID]*rootSegment{}}
	if err := f.each(f.collect, unreadable); err != nil {
		return nil, err
	}
	if err := f.each(f.strike, func(error) {}); err != nil {
		return nil, err
	}
	return f.sorted(), nil
}

type rootFinder struct {
	store *Store
	ctx   context.Context //nolint:containedctx // lives as long as one call
	found map[segment.ID]*rootSegment
	place int // of the segment that is looked at
}

// each goes through the data segments.
func (f *rootFinder) each(do func(s *segment.Segment), unreadable func(error)) error {
	f.place = 0
	for _, a := range slices.Backward(f.store.Archives()) {
		for e := range a.Entries() {
			f.place++
			if e.ID.IsBulk() {
				continue
			}
			if f.ctx.Err() != nil {
				return context.Cause(f.ctx)
			}
			seg, err := f.store.Segment(e.ID)
			if err != nil {
				unreadable(err)
				continue
			}
			do(seg)
		}
	}
	return nil
}

func (f *rootFinder) collect(s *segment.Segment) {
	var list []root
	nodes := int64(0)
	for r := range s.Records() {
		if r.Type != segment.RecordNode {
			continue
		}
		nodes++
		if checkpoints, ok := isSuperRoot(r.Record); ok {
			list = append(list, root{r.ID().Number, checkpoints})
		}
	}
	f.store.opts.Progress(nodes)
	if len(list) > 0 {
		at := time.Time{}
		if info, err := s.Info(); err == nil {
			at = info.Time
		}
		f.found[s.ID()] = &rootSegment{s.ID(), at, f.place, list}
	}
}

// isSuperRoot goes by properties and children. What cannot be read is none: see [recovery.dropUnfound].
func isSuperRoot(r segment.Record) (checkpoints, ok bool) {
	n, err := r.Node()
	if err != nil || n.PropertyCount() > 0 {
		return false, false
	}
	if name, only, err := n.Template().ChildName(); only || err != nil {
		return false, only && string(name) == "root"
	}
	if count, err := n.ChildCount(); err != nil || count != 2 {
		return false, false
	}
	_, content, _ := n.Child("root")
	_, checkpoints, _ = n.Child("checkpoints")
	return checkpoints, content && checkpoints
}

// strike removes what is named as a child. Only nodes and parts of maps name nodes, of which each names itself perhaps.
func (f *rootFinder) strike(s *segment.Segment) {
	for r := range s.Records() {
		if r.Type != segment.RecordNode && r.Type != segment.RecordLeaf && r.Type != segment.RecordBranch {
			continue
		}
		links, err := r.Links()
		if err != nil {
			continue
		}
		for _, l := range links {
			if found := f.found[l.ID.Segment]; found != nil && l.ID != r.ID() {
				found.strike(l.ID.Number)
			}
		}
	}
}

func (s *rootSegment) strike(number uint32) {
	if i, ok := s.find(number); ok {
		s.roots = slices.Delete(s.roots, i, i+1)
	}
}

func (s *rootSegment) find(number uint32) (int, bool) {
	return slices.BinarySearchFunc(s.roots, number, func(r root, n uint32) int { return cmp.Compare(r.number, n) })
}

func (f *rootFinder) sorted() *roots {
	list := &roots{}
	for _, s := range f.found {
		if len(s.roots) > 0 {
			list.segments = append(list.segments, *s)
		}
	}
	slices.SortFunc(list.segments, func(a, b rootSegment) int {
		return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.place, b.place))
	})
	checkpoints := false
	for i := range list.segments {
		s := &list.segments[i]
		s.roots = slices.DeleteFunc(s.roots, func(r root) bool {
			checkpoints = checkpoints || r.checkpoints
			return checkpoints && !r.checkpoints
		})
	}
	list.segments = slices.DeleteFunc(list.segments, func(s rootSegment) bool { return len(s.roots) == 0 })
	return list
}

func (l *roots) empty() bool { return len(l.segments) == 0 } // as none has an empty list

// len goes through all segments.
func (l *roots) len() int {
	n := 0
	for _, s := range l.segments {
		n += len(s.roots)
	}
	return n
}

// all goes through them, the oldest first.
func (l *roots) all() iter.Seq[archive.Revision] {
	return func(yield func(archive.Revision) bool) {
		for _, s := range l.segments {
			for _, r := range s.roots {
				if !yield(s.revision(r)) {
					return
				}
			}
		}
	}
}

func (s *rootSegment) revision(r root) archive.Revision {
	return archive.Revision{ID: segment.RecordID{Segment: s.id, Number: r.number}, Time: s.time}
}

// last is the newest one; there must be one.
func (l *roots) last() (r archive.Revision, checkpoints bool) {
	s := &l.segments[len(l.segments)-1]
	last := s.roots[len(s.roots)-1]
	return s.revision(last), last.checkpoints
}

func (l *roots) dropLast() {
	s := &l.segments[len(l.segments)-1]
	s.roots = s.roots[:len(s.roots)-1]
	if len(s.roots) == 0 {
		l.segments = l.segments[:len(l.segments)-1]
	}
}

func (l *roots) has(id segment.RecordID) bool {
	return slices.ContainsFunc(l.segments, func(s rootSegment) bool {
		if s.id != id.Segment {
			return false
		}
		_, ok := s.find(id.Number)
		return ok
	})
}
