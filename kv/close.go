// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"fmt"

	"github.com/holtdb/holt/kv/internal/page"
)

// Close ends the use of the file. It waits for every open transaction to end; meanwhile no new one begins, and one that is
// about to begin gives up the search for free pages. Then Close stores these, if they are known and no commit did; if that
// fails the file is sound all the same. A second Close does nothing.
func (db *DB) Close() error {
	if db.slot == nil {
		return nil // it was never open
	}
	db.leave.Do(func() { close(db.leaving) })
	db.slot <- struct{}{}
	defer func() { <-db.slot }()

	s := db.snap.Load()
	if s == nil {
		return nil
	}
	db.mu.Lock()
	sound := db.refusal() == nil
	db.mu.Unlock()
	db.drain(s)

	var errs [4]error
	if sound {
		errs[0] = db.finish()
	}
	current := db.snap.Load()
	end := current.fileEnd()
	db.snap.Store(nil)
	db.reap()
	if errs[1] = current.maps.close(); errs[1] == nil && sound {
		errs[1] = db.cutUnmapped(end)
	}
	if !db.readOnly {
		errs[2] = db.file.Unlock()
	}
	errs[3] = db.file.Close()
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("kv: close: %w", err)
		}
	}
	return nil
}

// drain has no transaction begin any more that would see s, the newest snapshot, and waits until those that see any have
// ended, and goroutines of the database. The caller has the place of the one writer.
func (db *DB) drain(s *snapshot) {
	close(db.quit)
	last := *s
	last.closed = true
	db.snap.Store(&last) // before anyone can find that there are no readers
	db.mu.Lock()
	db.closing = make(chan struct{})
	db.mu.Unlock()
	db.reap()
	<-db.closing
	db.background.Wait()
}

// finish commits a transaction that does nothing but store the free list, if none is stored and one can and should be,
// and leave a meta page that needs no checksums. The caller has the place of the one writer, and keeps it.
func (db *DB) finish() error {
	list := !db.NoFreelistSync && db.snap.Load().meta.Freelist == page.NoFreelist && db.freelist.isLoaded()
	if db.readOnly || !list && !db.paired {
		return nil
	}
	db.mu.Lock()
	tx := db.startWrite()
	tx.notes.rest, tx.notes.keepSlot = true, true
	return tx.commit()
}
