// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"errors"
	"strings"
	"time"

	"github.com/holtdb/holt/kv/internal/page"
)

// Commit makes the changes durable and ends the transaction; after an error none of them is kept. It fails with
// [ErrTxNotWritable], [ErrTxClosed], [ErrMaxSizeReached], the damage that the transaction met, or what the system says.
func (tx *Tx) Commit() error {
	switch {
	case !tx.open():
		return ErrTxClosed
	case *tx.managed():
		panic("assertion failed: managed tx commit not allowed")
	case !tx.Writable():
		return ErrTxNotWritable
	}
	if err := tx.commitLogged(); err != nil {
		return err
	}
	tx.committed()
	return nil
}

// commitLogged commits and tells the logger.
func (tx *Tx) commitLogged() error {
	db, id := tx.db, tx.meta.TxID
	if !db.logs {
		return tx.commit()
	}
	db.logger.Debugf("Committing transaction %d", id)
	err := tx.commit()
	if err != nil {
		db.logger.Errorf("Committing transaction failed: %v", err)
		return err
	}
	db.logger.Debugf("Committing transaction %d successfully", id)
	return nil
}

// committed calls the functions of OnCommit.
func (tx *Tx) committed() {
	for _, fn := range tx.notes.onCommit {
		fn()
	}
}

// commit ends the transaction, whether it succeeds or not.
func (tx *Tx) commit() (err error) {
	defer tx.discard()
	defer tx.catch(&err)
	if err := tx.Err(); err != nil {
		return err
	}
	if err := tx.settle(); err != nil {
		return err
	}
	if err := tx.buildPages(); err != nil {
		return err
	}
	g, err := tx.grow()
	if err != nil {
		return err
	}
	defer g.drop()
	if err := tx.writeAll(g); err != nil {
		return err
	}
	tx.publish(&g)
	tx.end(true)
	return nil
}

// buildPages turns the nodes into pages with their places, and the free list.
func (tx *Tx) buildPages() error {
	w := tx.w
	start := time.Now()
	tx.root().rebalance()
	if w.stats.Rebalance > 0 {
		w.stats.RebalanceTime += time.Since(start)
	}
	start = time.Now()
	w.chooseExtents()
	if err := tx.root().spill(); err != nil {
		return err
	}
	w.stats.SpillTime += time.Since(start)
	tx.meta.Root = tx.root().root
	if verify {
		tx.db.freelist.verify(w.freed)
	}
	tx.trim()
	return tx.buildFreelist()
}

// settle makes durable what another process, or a commit without sync, has left in the cache of the system, before the
// first page is overwritten that was free in that state: a power cut could otherwise take the state and leave the one
// before it, with that page gone.
func (tx *Tx) settle() error {
	db := tx.db
	if db.settled || !db.syncs() {
		return nil
	}
	if err := db.file.SyncData(); err != nil {
		return err
	}
	db.settled = true
	return nil
}

// writeAll writes the pages, makes them durable, and then the meta page that refers to them; or it writes both and makes
// them durable at once.
func (tx *Tx) writeAll(g growth) error {
	db, w := tx.db, tx.w
	start := time.Now()
	if err := w.writePages(); err != nil {
		return err
	}
	tx.writeAhead()
	paired := tx.pairs()
	if wrote := w.early || len(w.dirty) > 0; wrote && db.syncs() && !paired {
		if err := db.file.SyncData(); err != nil {
			return err
		}
	}
	if db.StrictMode {
		tx.checkStrictly(g)
	}
	if paired {
		page.PutPaired(w.meta, tx.meta, w.sums)
	} else {
		page.PutMeta(w.meta, tx.meta)
	}
	err := tx.writeMeta(!paired)
	w.stats.WriteTime += time.Since(start)
	if err == nil {
		db.paired = paired
	}
	return err
}

// maxPaired bounds what Open has to read to see whether a commit has arrived.
const maxPaired = 4 << 20

// pairs says whether the meta page of this commit can go down together with the pages.
func (tx *Tx) pairs() bool {
	db, w := tx.db, tx.w
	return db.singleSync && db.syncs() && !db.StrictMode && !tx.notes.rest && !w.early && w.written <= maxPaired &&
		len(w.sums) <= page.MaxSums(tx.pageSize, tx.meta.TxID)
}

// checkStrictly panics if the pages just written are not sound.
func (tx *Tx) checkStrictly(g growth) {
	tx.show(tx.fileData(g))
	var all []string
	for err := range tx.Check() {
		all = append(all, err.Error())
	}
	if len(all) > 0 {
		panic("check fail: " + strings.Join(all, "\n"))
	}
}

// writeMeta is the commit point. If it fails nobody knows which meta page the file will have after a crash, and the
// pages of this commit must not be overwritten while it may be the new one: so the old one is put back, and if that
// fails too no more writes are accepted.
func (tx *Tx) writeMeta(alone bool) error {
	db, w := tx.db, tx.w
	off := int64(tx.meta.TxID%2) * int64(tx.pageSize)
	if m := &tx.meta; m.Root >= m.HWM || m.Freelist >= m.HWM && m.Freelist != page.NoFreelist {
		tx.corrupt(m.Root, "pgid (%d, %d) above high water mark (%d)", m.Root, m.Freelist, m.HWM)
	}
	copy(w.oldMeta, tx.data[off:off+int64(tx.pageSize)])
	err := db.writePage(w.meta, off, alone)
	if err == nil {
		w.stats.Write++
		return nil
	}
	db.settled = db.settled && db.syncs() // or a power cut may bring back the new one
	if undo := db.writePage(w.oldMeta, off, alone); undo != nil {
		db.refuse(errors.Join(err, undo))
	}
	return err
}

// writePage writes a page and makes it durable, alone if nothing else has to be.
func (db *DB) writePage(p []byte, off int64, alone bool) error {
	var err error
	switch {
	case !db.syncs():
		_, err = db.file.WriteAt(p, off)
	case alone:
		_, err = db.file.WriteThrough(p, off)
	default:
		if _, err = db.file.WriteAt(p, off); err == nil {
			err = db.file.SyncData()
		}
	}
	return err
}

// publish makes the committed state the one that transactions see from now on.
func (tx *Tx) publish(g *growth) {
	db, w := tx.db, tx.w
	maps := tx.maps
	if g.maps != nil {
		maps = g.maps
		db.mapLen = int64(len(maps.bytes()))
		db.mu.Lock()
		tx.maps.refs-- // of being the current one; tx still reads through it
		tx.maps.end = tx.n + 1
		db.retired = append(db.retired, tx.maps)
		db.mu.Unlock()
	}
	db.snap.Store(db.newSnapshot(tx.meta, maps, tx.fileData(*g)))
	observed := db.readers.open() > 0
	db.fileSize, g.maps = g.fileSize, nil
	db.settled = db.syncs()
	if tx.meta.HWM < w.hwm {
		db.lowered.Store(tx.meta.TxID)
	}
	db.freelist.reserve(tx.meta.HWM)
	db.freelist.commit(tx.meta.TxID, w.allocated, w.freed, observed)
}
