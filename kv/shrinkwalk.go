// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"
	"slices"

	"github.com/holtdb/holt/kv/internal/page"
)

// position is a place in the walk over all buckets, in the order of keys, a bucket directly behind the leaf that names
// it. It is made of keys, so that it means something in a later transaction too.
type position struct {
	names [][]byte // of the buckets from the top down
	from  []byte   // a key that belongs to the next leaf, nil for the first one
	done  bool     // behind everything
}

// job is a page to rewrite.
type job struct {
	names [][]byte // of its bucket
	key   []byte   // that leads to it
	depth int      // how far below the root of the bucket it lies
	merge bool     // with the page of the job before
}

// survey looks at pages from a position on and collects what there is to do.
type survey struct {
	tx     *Tx
	target uint64 // pages from here on are to be moved
	bound  int    // pages after which there is enough to do
	looks  int    // pages that may still be looked at
	left   uint64 // the same, beyond which they form a cycle

	names   [][]byte // of the bucket that is being looked at
	jobs    []job
	cost    int // pages that they rewrite
	merges  bool
	next    position
	stopped bool
}

// looksPerPage is how many pages are looked at for each that may be rewritten.
const looksPerPage = 4

// leastGain is the number of pages of which one has to become free to make it worth merging them.
const leastGain = 20

func (s *shrinker) survey(tx *Tx, at position) *survey {
	v := &survey{tx: tx, target: s.target, bound: s.bound, looks: looksPerPage * s.bound, left: tx.limit}
	v.bucket(max(tx.meta.Root, 1), &at)
	if !v.stopped {
		v.next.done = true
	}
	return v
}

// bucket looks at the bucket with this root, from a position on if there is one.
func (v *survey) bucket(root uint64, at *position) {
	if len(v.names) == maxNesting {
		v.tx.tooNested(root)
	}
	f := &leaves{survey: v, names: slices.Clone(v.names)}
	f.tree(heldPage{id: root}, 0, at)
	f.decide()
}

// stop ends the survey ahead of a leaf.
func (v *survey) stop(from []byte) {
	v.stopped = true
	v.next = position{names: slices.Clone(v.names), from: bytes.Clone(from)}
}

// beyond says whether a run lies where the file is to have ended, and there is a place for it further down.
func (v *survey) beyond(id uint64, pages int) bool {
	if id+uint64(pages) <= v.target {
		return false
	}
	free, ok := v.tx.db.freelist.find(0, pages)
	return ok && free < id
}

// leaves are neighbours in one bucket about which nothing has been decided.
type leaves struct {
	*survey
	names [][]byte
	rows  []leafRow
	pages int    // of all of them
	slots []slot // sizes of all elements
}

type leafRow struct {
	id    uint64
	pages int
	key   []byte // that leads there
	depth int
}

// tree looks at a page and those below it, from a position on if there is one.
func (f *leaves) tree(at heldPage, depth int, from *position) {
	tx := f.tx
	switch {
	case depth >= maxDepth:
		tx.tooDeep(at.id)
	case f.left == 0:
		tx.tooMany(at.id)
	}
	f.left--
	p := tx.page(at.id)
	tx.hold(at.id, p, at.keys)
	if p.Flags() == page.Leaf {
		f.leaf(at, p, depth, from)
		return
	}
	var key []byte
	if from != nil {
		key = from.key()
	}
	first := p.SearchBranch(key)
	switch {
	case p.Count() == 0:
		tx.emptyBranch(at.id)
	case first < 0:
		tx.badSearch(at.id, p)
	}
	if key == nil && f.beyond(at.id, int(p.Overflow())+1) {
		f.jobs = append(f.jobs, job{names: f.names, key: bytes.Clone(at.keys.lo), depth: depth})
		f.cost += int(p.Overflow()) + 1
	}
	for i := first; i < p.Count() && !f.stopped; i++ {
		f.tree(heldPage{p.Child(i), tx.below(at.id, p, i, at.keys)}, depth+1, from)
		from = nil
	}
}

// key is where to go on in the topmost bucket of the position.
func (at *position) key() []byte {
	if len(at.names) > 0 {
		return at.names[0]
	}
	return at.from
}

// leaf looks at a leaf and at the buckets in it.
func (f *leaves) leaf(at heldPage, p page.Page, depth int, from *position) {
	inside := from != nil && len(from.names) > 0 // what is to come of it lies in one of its buckets, and behind that
	if !inside {
		if f.cost >= f.bound || f.looks <= 0 {
			f.stop(at.keys.lo)
			return
		}
		f.add(at, p, depth)
	}
	for i := range p.Count() {
		flags, name, value, ok := p.LeafElem(i)
		if !ok {
			f.tx.badElement(at.id, i)
		}
		if flags&page.BucketFlag == 0 {
			continue
		}
		var rest *position
		if inside {
			switch c := bytes.Compare(name, from.names[0]); {
			case c < 0:
				continue
			case c == 0:
				rest = &position{names: from.names[1:], from: from.from}
			}
		}
		root, _, _, ok := page.BucketValue(value)
		if !ok {
			f.tx.badBucket(at.id, value)
		}
		if root == 0 {
			continue
		}
		f.survey.names = append(f.survey.names, bytes.Clone(name))
		f.bucket(root, rest)
		f.survey.names = f.survey.names[:len(f.survey.names)-1]
		if f.stopped {
			return
		}
	}
}

// add puts a leaf to the others, and decides about them if they are enough.
func (f *leaves) add(at heldPage, p page.Page, depth int) {
	pages := int(p.Overflow()) + 1
	f.looks -= pages
	f.rows = append(f.rows, leafRow{at.id, pages, bytes.Clone(at.keys.lo), depth})
	f.pages += pages
	for i := range p.Count() {
		_, ksize, vsize, ok := p.Span(i)
		if !ok {
			f.tx.badElement(at.id, i)
		}
		f.slots = append(f.slots, slot{ksize: ksize, vsize: vsize})
	}
	if f.pages >= f.bound {
		f.decide()
	}
}

// decide finds out what to do about the leaves: to make one of them all, which becomes full pages again, if that gains
// some, or else to move those that lie near the end.
func (f *leaves) decide() {
	gain := f.pages - packed(f.slots, int64(f.tx.pageSize))
	merge := len(f.rows) > 1 && gain > 0 && gain*leastGain >= f.pages
	for i, r := range f.rows {
		if merge || f.beyond(r.id, r.pages) {
			f.jobs = append(f.jobs, job{f.names, r.key, r.depth, merge && i > 0})
			f.cost += r.pages
		}
	}
	f.merges = f.merges || merge
	f.rows, f.slots, f.pages = f.rows[:0], f.slots[:0], 0
}

// packed is the number of pages that elements take when they are put together and split again, full page after full page.
func packed(slots []slot, pageSize int64) (pages int) {
	size := int64(page.HeaderSize)
	for i := range slots {
		size += elemSize(slots[i])
	}
	for {
		n, left := len(slots), size
		if !justFull(slots, size, int(pageSize)) {
			n, left = split(slots, size, pageSize, maxFill)
		}
		pages += int((left + pageSize - 1) / pageSize)
		if n == len(slots) {
			return pages
		}
		slots, size = slots[n:], size-left+page.HeaderSize
	}
}
