// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"fmt"
	"runtime"
)

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
	mapLen, err := tx.extend()
	if err != nil {
		return g, err
	}
	g.fileSize = db.fileSize
	if db.NoGrowSync {
		g.fileSize = max(g.fileSize, int64(tx.meta.HWM)*int64(tx.pageSize))
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

// extend makes the file long enough for the pages allocated so far, unless it becomes so by being written to, and says
// how long its mapping is to be.
func (tx *Tx) extend() (mapLen int64, err error) {
	db := tx.db
	wanted := int64(tx.meta.HWM+1) * int64(tx.pageSize)
	mapLen, err = mapSize(max(wanted, db.mapLen), tx.pageSize)
	if err != nil || wanted <= db.fileSize || db.NoGrowSync {
		return mapLen, err
	}
	size := db.growTo(wanted, mapLen)
	if err := db.setSize(size); err != nil {
		return 0, err
	}
	db.fileSize = size
	return mapLen, nil
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

// aheadSize is the number of bytes that are written behind the last page when a durable commit gets there. A small commit
// takes about five pages, so that one in a dozen does.
const aheadSize = 256 << 10

// writeAhead writes zeros behind the pages of a commit that goes on where the file was long enough, but not written to.
// There a file system has to find places first and to make them durable as well, which takes as long as the commit
// itself: better for many at once. Pages beyond the high water mark belong to no state.
func (tx *Tx) writeAhead() {
	db, w, from := tx.db, tx.w, tx.meta.HWM
	if !db.syncs() || from <= max(w.hwm, db.backed) {
		return
	}
	pageSize := uint64(tx.pageSize)
	to := min(from+aheadSize/pageSize, uint64(db.fileSize)/pageSize)
	if to <= from {
		return // the file grows by being written to
	}
	db.backed = to
	w.iov = w.iov[:0]
	for id := from; id < to; id++ {
		w.iov = append(w.iov, w.zeros)
	}
	// Nobody needs them: what was wrong about the disk will be told when something is written that counts.
	_, _ = db.file.WriteVecAt(w.iov, int64(from*pageSize))
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

// fileData is what is mapped of the file once it has grown.
func (tx *Tx) fileData(g growth) []byte {
	maps := tx.maps
	if g.maps != nil {
		maps = g.maps
	}
	data := maps.bytes()
	return data[:min(int64(len(data)), g.fileSize)]
}
