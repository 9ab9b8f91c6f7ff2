// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"cmp"
	"context"
	"runtime"
	"sync"

	"github.com/holtdb/holt/kv/internal/page"
	"github.com/holtdb/holt/kv/internal/pageset"
)

// scan finds the pages that the trees of a snapshot are made of, on all CPUs.
type scan struct {
	sweep    sweep
	ctx      context.Context
	view     *snapshot
	used     *pageset.Shared
	progress func(pages int64)

	mu  sync.Mutex
	err error // the first
}

// What touch reads of how many pages: the header and the records of 19 elements, and no more altogether than stays in the
// cache nearest to the processor.
const (
	touchStep = 32
	touchLine = 64
	touched   = 5 * touchLine
)

// reachable returns the pages that the trees are made of, or the damage that it meets: a page that is reached twice above
// all, without which pages in a cycle would lead round for ever.
func (tx *Tx) reachable(ctx context.Context, progress func(pages int64)) (*pageset.Shared, error) {
	s := scan{ctx: ctx, view: tx.snapshot, used: pageset.NewShared(tx.limit), progress: progress}
	s.use(tx, tx.meta.Root)
	n := crewSize(tx.limit)
	s.sweep.begin(n, tx.meta.Root, tx.limit)
	var others sync.WaitGroup
	for range n - 1 {
		others.Go(s.visit)
	}
	s.visit()
	others.Wait()
	return s.used, cmp.Or(s.err, ctx.Err())
}

// use notes that a tree leads to page id.
func (s *scan) use(tx *Tx, id uint64) {
	if id < 2 || id >= tx.limit {
		tx.badPageID(id)
	}
	s.add(tx, id, id)
}

// add notes that page n belongs to the run of page id.
func (s *scan) add(tx *Tx, id, n uint64) {
	if !s.used.Add(n) {
		tx.corrupt(id, "freepages: failed to get all reachable pages (page %d: multiple references)", id)
	}
}

// visit visits pages as long as there are any.
func (s *scan) visit() {
	var refs []uint64
	for ids := s.sweep.next(nil, nil); len(ids) > 0; ids = s.sweep.next(refs, ids) {
		var err error
		if refs, err = s.visitAll(ids, refs[:0]); err != nil {
			s.fail(err)
		} else if s.progress != nil {
			s.progress(int64(len(ids)))
		}
	}
}

// visitAll visits the pages ids and appends to refs the pages that they lead to.
func (s *scan) visitAll(ids, refs []uint64) (_ []uint64, err error) {
	tx := Tx{snapshot: s.view} // of its own, for the damage that it meets
	defer tx.catch(&err)
	if err := s.ended(); err != nil {
		return nil, err
	}
	for i, id := range ids {
		if i%touchStep == 0 {
			runtime.KeepAlive(tx.touch(ids[i:min(i+touchStep, len(ids))]))
		}
		p := tx.page(id)
		for n := range uint64(p.Overflow()) {
			s.add(&tx, id, id+1+n)
		}
		found := len(refs)
		refs = tx.appendRefs(refs, id, p)
		for _, ref := range refs[found:] {
			s.use(&tx, ref)
		}
	}
	return refs, nil
}

// ended says why to look no further, if so.
func (s *scan) ended() error {
	select {
	case <-s.view.db.leaving:
		return ErrDatabaseNotOpen
	default:
		return s.ctx.Err()
	}
}

// touch reads a byte of each line of the start of some pages. None of these reads waits for another, so that the processor
// fetches many lines of memory at a time, where a visit would wait for that of the header and then for those of the table.
func (tx *Tx) touch(ids []uint64) (sum byte) {
	size := uint64(tx.pageSize)
	for _, id := range ids {
		start := tx.data[id*size:][:min(size, touched)]
		for at := 0; at < len(start); at += touchLine {
			sum += start[at]
		}
	}
	return sum
}

func (s *scan) fail(err error) {
	s.sweep.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// appendRefs adds the pages that page id refers to: its children, or the roots of the buckets in it.
func (tx *Tx) appendRefs(refs []uint64, id uint64, p page.Page) []uint64 {
	if p.Flags() == page.Branch {
		for i := range p.Count() {
			refs = append(refs, p.Child(i))
		}
		return refs
	}
	if !p.HasBuckets() {
		return refs
	}
	for i := range p.Count() {
		flags, _, value, ok := p.LeafElem(i)
		if !ok {
			tx.badElement(id, i)
		}
		if flags&page.BucketFlag == 0 {
			continue
		}
		root, _, _, ok := page.BucketValue(value)
		if !ok {
			tx.badBucket(id, value)
		}
		if root != 0 {
			refs = append(refs, root)
		}
	}
	return refs
}
