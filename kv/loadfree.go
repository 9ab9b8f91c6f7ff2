// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/holtdb/holt/kv/internal/page"
	"github.com/holtdb/holt/kv/internal/pageset"
)

// loadFreelist fills the free list from the stored one, or by looking at which pages are in use.
func (db *DB) loadFreelist(ctx context.Context, progress func(pages int64)) (err error) {
	tx, err := db.beginRead()
	if err != nil {
		return err
	}
	defer tx.discard()
	defer tx.catch(&err)
	if db.freelist.isLoaded() {
		return nil
	}
	if err := tx.complete(); err != nil {
		return err
	}
	if tx.meta.Freelist == page.NoFreelist {
		used, err := tx.reachable(ctx, progress)
		if err != nil {
			return err
		}
		db.freelist.loadComplement(used, tx.meta.HWM)
	} else if err := tx.loadStored(); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.counts.free, db.counts.pending = db.freelist.counts()
	return nil
}

// complete returns an error if the file ends before the last page that it should have.
func (tx *Tx) complete() error {
	if hwm := tx.meta.HWM; hwm > tx.limit {
		return tx.damage(tx.limit, fmt.Sprintf("the file ends before page %d, the last of %d", hwm-1, hwm))
	}
	return nil
}

// loadStored reads the stored free list.
func (tx *Tx) loadStored() error {
	p, err := tx.freelistPage()
	if err != nil {
		return err
	}
	ids, ok := p.FreelistIDs()
	if !ok {
		return tx.damage(tx.meta.Freelist, "the free list is longer than its page")
	}
	if err := tx.db.freelist.load(ids, tx.meta.HWM); err != nil {
		return tx.damage(tx.meta.Freelist, fmt.Sprintf("invalid freelist page: %d: %v", tx.meta.Freelist, err))
	}
	return nil
}

// freelistPage is the page with the stored free list, which there is.
func (tx *Tx) freelistPage() (page.Page, error) {
	id := tx.meta.Freelist
	if id < 2 || id >= tx.limit {
		return nil, tx.damage(id, fmt.Sprintf("invalid freelist page: %d, out of bounds: %d", id, tx.limit))
	}
	size := uint64(tx.pageSize)
	p := page.Page(tx.data[id*size : (id+1)*size])
	switch {
	case p.Flags() != page.Freelist:
		return nil, tx.damage(id, fmt.Sprintf("invalid freelist page: %d, page type is %s", id, page.TypeName(p.Flags())))
	case p.ID() != id:
		return nil, tx.damage(id, fmt.Sprintf("assertion failed: Page expected to be: %d, but self identifies as %d", id, p.ID()))
	case uint64(p.Overflow()) >= tx.limit-id:
		return nil, tx.damage(id, fmt.Sprintf("overflow of %d pages leads beyond the end, %d", p.Overflow(), tx.limit))
	}
	return page.Page(tx.data[id*size : (id+uint64(p.Overflow())+1)*size]), nil
}

// scan finds the pages that the trees of a snapshot are made of, on all CPUs.
type scan struct {
	crew     crew[uint64]
	ctx      context.Context
	view     *snapshot
	used     *pageset.Shared
	progress func(pages int64)

	mu  sync.Mutex
	err error // the first
}

// scanStep is the number of pages after which a scan looks up.
const scanStep = 1024

// reachable returns the pages that the trees are made of, or the damage that it meets: a page that is reached twice above
// all, without which pages in a cycle would lead round for ever.
func (tx *Tx) reachable(ctx context.Context, progress func(pages int64)) (*pageset.Shared, error) {
	s := scan{ctx: ctx, view: tx.snapshot, used: pageset.NewShared(tx.limit), progress: progress}
	s.crew.run(crewSize(tx.limit), tx.meta.Root, func(id uint64) {
		if err := s.below(id); err != nil {
			s.fail(err)
		}
	})
	return s.used, cmp.Or(s.err, ctx.Err())
}

func (s *scan) fail(err error) {
	s.crew.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// below visits page id and everything that it leads to, but for what others take over.
func (s *scan) below(id uint64) (err error) {
	tx := Tx{snapshot: s.view} // of its own, for the damage that it meets
	defer tx.catch(&err)
	visited := int64(0)
	for todo := []uint64{id}; len(todo) > 0; {
		if len(todo) > 1 && s.crew.wanted() {
			s.crew.offer(todo[0]) // what has lain there longest leads to most
			todo = todo[1:]
		}
		id, todo = todo[len(todo)-1], todo[:len(todo)-1]
		p := tx.page(id)
		for n := range uint64(p.Overflow()) + 1 {
			if !s.used.Add(id + n) {
				tx.corrupt(id, "freepages: failed to get all reachable pages (page %d: multiple references)", id)
			}
		}
		todo = tx.appendRefs(todo, id, p)
		if visited++; visited%scanStep == 0 {
			if err := s.ctx.Err(); err != nil {
				return err
			}
			s.report(scanStep)
		}
	}
	s.report(visited % scanStep)
	return nil
}

func (s *scan) report(pages int64) {
	if s.progress != nil && pages > 0 {
		s.progress(pages)
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
