// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/holtdb/holt/kv/internal/page"
)

// Commit makes the changes durable and ends the transaction; after an error none of them is kept. It fails with
// [ErrTxNotWritable], [ErrTxClosed], [ErrMaxSizeReached], the damage that the transaction met, or what the system says.
func (tx *Tx) Commit() error {
	switch db := tx.db; {
	case tx.managed:
		panic("assertion failed: managed tx commit not allowed")
	case db == nil:
		return ErrTxClosed
	case !tx.writable:
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
	if db.quiet {
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
	for _, fn := range tx.onCommit {
		fn()
	}
}

// commit ends the transaction, whether it succeeds or not.
func (tx *Tx) commit() (err error) {
	defer tx.discard()
	defer tx.catch(&err)
	if tx.err != nil {
		return tx.err
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
	tx.root.rebalance()
	if w.stats.Rebalance > 0 {
		w.stats.RebalanceTime += time.Since(start)
	}
	start = time.Now()
	w.chooseExtent()
	if err := tx.root.spill(); err != nil {
		return err
	}
	w.stats.SpillTime += time.Since(start)
	tx.meta.Root = tx.root.root
	if verify {
		tx.db.freelist.verify(w.freed)
	}
	return tx.buildFreelist()
}

// buildFreelist replaces the stored free list.
func (tx *Tx) buildFreelist() error {
	w, f := tx.w, &tx.db.freelist
	if tx.meta.Freelist != page.NoFreelist {
		old, err := tx.freelistPage()
		if err != nil {
			return err
		}
		ids, ok := old.FreelistIDs()
		if !ok {
			return tx.damage(tx.meta.Freelist, "the free list is longer than its page")
		}
		tx.checkSpare(tx.meta.Freelist, old, uint64(page.HeaderSize+8+len(ids)))
		w.free(run{tx.meta.Freelist, old.Overflow() + 1})
	}
	if tx.db.NoFreelistSync {
		tx.meta.Freelist = page.NoFreelist
		return nil
	}
	pages := f.size()/tx.pageSize + 1
	id, err := w.allocate(pages)
	if err != nil {
		return err
	}
	_, buf := w.images.alloc(pages * tx.pageSize)
	clear(buf[f.write(buf, id, uint32(pages-1)):])
	w.dirty = append(w.dirty, dirtyRun{id, pages, len(w.segs), len(w.segs) + 1})
	w.segs = append(w.segs, buf)
	tx.meta.Freelist = id
	return nil
}

// chooseExtent looks for free pages side by side where this commit fits as a whole.
func (w *writer) chooseExtent() {
	if w.tx.db.bolt {
		return
	}
	w.tx.root.touchWays()
	pages := w.tx.db.freelist.size()/w.tx.pageSize + 1
	for _, n := range w.nodes[:w.used] {
		pages += int(min(n.size/int64(w.tx.pageSize), math.MaxInt32)) + 1
	}
	w.next, _ = w.tx.db.freelist.find(pages)
}

// touchWays makes nodes of the pages that hold the headers of changed buckets, as spill would. It returns whether b is to
// be written itself.
func (b *Bucket) touchWays() bool {
	for name, child := range b.edit.children {
		if child.touchWays() {
			b.leaf([]byte(name))
		}
	}
	return b.edit.node != nil
}

// allocate takes a run of pages that no snapshot in use can see: a free one, or one behind all others.
func (w *writer) allocate(n int) (id uint64, err error) {
	tx := w.tx
	id, ok := tx.db.freelist.take(w.next, n)
	if !ok && w.next != 0 {
		w.next = 0
		id, ok = tx.db.freelist.take(0, n)
	}
	switch {
	case !ok:
		id = tx.meta.HWM
		if limit := tx.db.MaxSize; limit > 0 && (id+uint64(n))*uint64(tx.pageSize) > uint64(limit) {
			return 0, ErrMaxSizeReached
		}
		tx.meta.HWM += uint64(n)
	case w.next != 0:
		w.next = id + uint64(n)
	}
	w.allocated = append(w.allocated, run{id, uint32(n)})
	w.stats.PageCount += int64(n)
	w.stats.PageAlloc += int64(n) * int64(tx.pageSize)
	return id, nil
}

// growth is what becomes of the file's size and mapping when the commit succeeds.
type growth struct {
	maps     *mapping // a new one, or nil
	fileSize int64
}

// drop takes back a new mapping after a failed commit. That nobody needs it is not changed by an error.
func (g *growth) drop() {
	if g.maps != nil {
		_ = g.maps.close()
	}
}

// grow makes the file and its mapping large enough for all pages.
func (tx *Tx) grow() (g growth, err error) {
	db := tx.db
	g.fileSize = db.fileSize
	if tx.meta.HWM == tx.w.hwm {
		return g, nil
	}
	wanted := int64(tx.meta.HWM+1) * int64(tx.pageSize)
	mapLen, err := mapSize(max(wanted, db.mapLen), tx.pageSize)
	if err != nil {
		return g, err
	}
	if wanted > g.fileSize {
		g.fileSize = db.growTo(wanted, mapLen)
		if !db.NoGrowSync {
			if err := db.setSize(g.fileSize); err != nil {
				return g, err
			}
		} else {
			g.fileSize = max(db.fileSize, int64(tx.meta.HWM)*int64(tx.pageSize))
		}
	}
	if mapLen > db.mapLen {
		if g.maps, err = db.newMapping(mapLen); err != nil {
			return g, fmt.Errorf("kv: mapping %s: %w", tx.path, err)
		}
		if runtime.GOOS == "windows" {
			g.fileSize = max(g.fileSize, mapLen) // a file is as long as its mapping
		}
	}
	maps := g.maps
	if maps == nil {
		maps = tx.maps
	}
	there := g.fileSize
	if db.NoGrowSync {
		there = db.fileSize // what the file grows by is not there before it is written
	}
	if err := db.lockMemory(maps, there); err != nil {
		g.drop()
		return g, fmt.Errorf("kv: locking %s in memory: %w", tx.path, err)
	}
	return g, nil
}

// growTo says how long to make a file that is too short: the mapping while it is small, then a step ahead of need, but
// not beyond the limit.
func (db *DB) growTo(wanted, mapLen int64) int64 {
	size := wanted + int64(db.AllocSize)
	if mapLen <= int64(db.AllocSize) {
		size = mapLen
	}
	if limit := int64(db.MaxSize); limit > 0 {
		size = min(size, max(limit, wanted-int64(db.pageSize)))
	}
	return size
}

// syncs says whether commits are made durable.
func (db *DB) syncs() bool { return !db.NoSync || IgnoreNoSync }

// setSize sets the length of the file and makes it durable.
func (db *DB) setSize(size int64) error {
	if err := db.file.Truncate(size); err != nil {
		return fmt.Errorf("file resize error: %w", err)
	}
	if !db.syncs() {
		return nil
	}
	if err := db.file.Sync(); err != nil {
		return fmt.Errorf("file sync error: %w", err)
	}
	return nil
}

// writeAll writes the pages, makes them durable, and then the meta page that refers to them.
func (tx *Tx) writeAll(g growth) error {
	db, w := tx.db, tx.w
	start := time.Now()
	if err := w.writePages(); err != nil {
		return err
	}
	if db.syncs() {
		if err := db.file.SyncData(); err != nil {
			return err
		}
	}
	if db.StrictMode {
		tx.checkStrictly(g)
	}
	err := tx.writeMeta()
	w.stats.WriteTime += time.Since(start)
	return err
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

// fileData is what is mapped of the file once it has grown.
func (tx *Tx) fileData(g growth) []byte {
	maps := tx.maps
	if g.maps != nil {
		maps = g.maps
	}
	data := maps.bytes()
	return data[:min(int64(len(data)), g.fileSize)]
}

// writeMeta is the commit point. If it fails nobody knows which meta page the file will have after a crash, and the
// pages of this commit must not be overwritten while it may be the new one: so the old one is put back, and if that
// fails too no more writes are accepted.
func (tx *Tx) writeMeta() error {
	db, w := tx.db, tx.w
	off := int64(tx.meta.TxID%2) * int64(tx.pageSize)
	if m := &tx.meta; m.Root >= m.HWM || m.Freelist >= m.HWM && m.Freelist != page.NoFreelist {
		tx.corrupt(m.Root, "pgid (%d, %d) above high water mark (%d)", m.Root, m.Freelist, m.HWM)
	}
	copy(w.oldMeta, tx.data[off:off+int64(tx.pageSize)])
	page.PutMeta(w.meta, tx.meta)
	err := db.writePage(w.meta, off)
	if err == nil {
		w.stats.Write++
		return nil
	}
	if undo := db.writePage(w.oldMeta, off); undo != nil {
		db.refuse(errors.Join(err, undo))
	}
	return err
}

// writePage writes a page and makes it durable.
func (db *DB) writePage(p []byte, off int64) error {
	if _, err := db.file.WriteAt(p, off); err != nil {
		return err
	}
	if !db.syncs() {
		return nil
	}
	return db.file.SyncData()
}

// publish makes the committed state the one that transactions see from now on.
func (tx *Tx) publish(g *growth) {
	db, w := tx.db, tx.w
	s := &snapshot{meta: tx.meta, maps: tx.maps, data: tx.fileData(*g)}
	db.mu.Lock()
	if g.maps != nil {
		tx.maps.refs-- // of being the current one; tx still reads through it
		s.maps = g.maps
		db.mapLen = int64(len(g.maps.bytes()))
	}
	db.snap = s
	observed := db.readers.open > 0
	db.mu.Unlock()
	db.fileSize, g.maps = g.fileSize, nil
	db.freelist.reserve(tx.meta.HWM)
	db.freelist.commit(tx.meta.TxID, w.allocated, w.freed, observed)
}
