// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/holtdb/holt/kv/internal/page"
)

// The end of the file moves down in three steps, so that no state that can be needed again lacks a page:
//
//  1. A commit lowers the high water mark over free pages, and over none that a reader or the state before it has.
//  2. Another commit replaces the other meta page, which still had the old mark: whichever of the two is taken at the
//     next open, the file is long enough.
//  3. Once no reader of a snapshot with an old mark is left, whose mapping may be touched anywhere below that, the file
//     is cut behind the higher of the two marks, and mapped anew.

// cutsMapped says whether a file can be cut while it is mapped.
const cutsMapped = runtime.GOOS != "windows"

// lower lowers the high water mark as far as it goes and cuts the file.
func (s *shrinker) lower(ctx context.Context) error {
	if err := s.trim(ctx); err != nil {
		return err
	}
	if err := s.trimmed(ctx, true); err != nil { // with the free list, which Close then need not find room for
		return err
	}
	for {
		done, err := s.db.cut(ctx, 1)
		if err != nil || done || !s.wait(ctx) {
			return cmp.Or(err, ctx.Err())
		}
	}
}

// maxTrims bounds the commits that only lower the high water mark. A free list that is stored with every commit moves
// about near the end.
const maxTrims = 4

// trim commits until there are no free pages at the end, and both meta pages have the same high water mark.
func (s *shrinker) trim(ctx context.Context) error {
	for range maxTrims {
		before := s.db.space().hwm
		if err := s.trimmed(ctx, false); err != nil {
			return err
		}
		if s.db.space().hwm == before {
			return nil
		}
	}
	return nil
}

// trimmed commits a transaction that changes nothing but the high water mark. store says that it is to leave a free list.
func (s *shrinker) trimmed(ctx context.Context, store bool) error {
	tx, err := s.db.beginWrite(ctx)
	if err != nil {
		return err
	}
	tx.w.shrink = shrinkStep{low: true, trims: true}
	tx.notes.rest = store
	return s.commit(tx)
}

// muchOf is the part of the file that is worth to be cut off before the end.
const muchOf = 16

// cutMuch cuts the file if that makes it much shorter.
func (s *shrinker) cutMuch(ctx context.Context) error {
	size, err := s.db.length()
	if err != nil {
		return err
	}
	much := size / muchOf
	if size-int64(s.db.space().hwm)*int64(s.db.pageSize) < much {
		return nil
	}
	_, err = s.db.cut(ctx, much)
	return err
}

// cut cuts off what lies behind the last page that either meta page knows of, if that is so many bytes or more. It
// returns false if there are readers for whom the file has to stay as it is.
func (db *DB) cut(ctx context.Context, least int64) (done bool, err error) {
	if !cutsMapped {
		return true, nil // Close does it
	}
	tx, err := db.beginWrite(ctx)
	if err != nil {
		return false, err
	}
	defer tx.discard()
	size := tx.fileEnd()
	switch {
	case db.fileSize-size < least:
		return true, nil
	case len(db.scratch) > 0 && db.scratch[0] < db.lowered.Load():
		return false, nil
	}
	if err := tx.settle(); err != nil {
		return false, err
	}
	maps, err := db.newMapping(size)
	if err != nil {
		return false, fmt.Errorf("kv: mapping %s: %w", tx.path, err)
	}
	if err := db.lockMemory(maps, size); err != nil {
		return false, errors.Join(fmt.Errorf("kv: locking %s in memory: %w", tx.path, err), maps.close())
	}
	err = db.setSize(size)
	db.backed = 0
	db.fileSize = size // if that failed it may be longer, which does no harm
	tx.remap(maps)
	return err == nil, err
}

// fileEnd is the number of bytes that the file needs for what either meta page, if it is valid, says; as long as it is if
// that is more. The caller has the place of the one writer.
func (s *snapshot) fileEnd() int64 {
	hwm := s.meta.HWM
	for _, off := range []int{0, s.pageSize} {
		if m := page.MetaOf(s.data[off:]); m.ValidateFor(s.pageSize) == nil {
			hwm = max(hwm, m.HWM())
		}
	}
	if size := s.db.fileSize; hwm > uint64(size)/uint64(s.pageSize) {
		return size
	}
	return int64(hwm) * int64(s.pageSize)
}

// remap makes a shorter mapping of the whole file the current one. Transactions that have begun keep theirs.
func (tx *Tx) remap(maps *mapping) {
	db := tx.db
	data := maps.bytes()
	data = data[:min(int64(len(data)), db.fileSize)]
	db.mapLen = int64(len(maps.bytes()))
	now := db.snap.Load() // which nobody else can replace
	db.mu.Lock()
	tx.maps.refs--          // of being the current one; tx still has it
	tx.maps.end = now.n + 1 // the readers of this one state that have the new mapping are taken for those of the old one
	db.retired = append(db.retired, tx.maps)
	db.mu.Unlock()
	db.snap.Store(now.in(maps, data))
}

// cutUnmapped cuts the file of a closed database where it could not be done before, if it was shrunk.
func (db *DB) cutUnmapped(end int64) error {
	if cutsMapped || db.lowered.Load() == 0 || end >= db.fileSize {
		return nil
	}
	return db.setSize(end)
}

// oldest is the oldest transaction whose state has readers.
func (db *DB) oldest() uint64 {
	if s := db.snap.Load(); s != nil {
		if ids := db.seen(s, nil); len(ids) > 0 {
			return ids[0]
		}
	}
	return math.MaxUint64
}
