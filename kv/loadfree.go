// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"context"
	"fmt"

	"github.com/holtdb/holt/kv/internal/page"
)

// openFreelist is what Open does about the free list: it reads a stored one, which is soon done. Which pages are free
// without one is found out when somebody has to know, unless Open is to know it.
func (db *DB) openFreelist(ctx context.Context) error {
	s := db.snap.Load()
	switch {
	case db.PreLoadFreelist, !db.readOnly && (db.syncList || s.meta.Freelist != page.NoFreelist):
		return db.loadFreelist(ctx)
	case db.readOnly:
		return nil
	}
	tx := Tx{snapshot: s}
	return tx.complete()
}

// loadFreelist fills the free list, unless it was filled before, from the stored one, or by looking at which pages are
// in use, until Close begins. Any goroutine may call it; one does the work. As long as nobody has, no write transaction
// can begin: so the current snapshot is the only one, and a reader need not wait for a writer here.
func (db *DB) loadFreelist(ctx context.Context) (err error) {
	if db.freelist.isLoaded() {
		return nil
	}
	select {
	case db.loading <- struct{}{}:
		defer func() { <-db.loading }()
	case <-ctx.Done():
		return ctx.Err()
	case <-db.leaving:
		return ErrDatabaseNotOpen
	}
	if db.freelist.isLoaded() {
		return nil
	}
	tx, err := db.beginRead()
	if err != nil {
		return err
	}
	defer tx.discard()
	defer tx.catch(&err)
	if err := tx.complete(); err != nil {
		return err
	}
	if tx.meta.Freelist == page.NoFreelist {
		used, err := tx.reachable(ctx, db.progress)
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
