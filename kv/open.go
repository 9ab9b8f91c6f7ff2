// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv/internal/page"
)

// Open opens a database file, and creates it with the given mode bits if there is none. Nil options are
// [DefaultOptions].
//
// The file is locked as long as it is open: for one process to write, or for any number to read. Errors: [ErrTimeout]
// when the lock was not free in time; [ErrInvalid], [ErrVersionMismatch] or [ErrChecksum] when neither meta page is
// valid, by what is wrong with the first; [*CorruptError] when the free list is damaged, or pages are missing at the end of
// a file to be written; what the system says.
func Open(path string, mode os.FileMode, options *Options) (*DB, error) {
	return OpenContext(context.Background(), path, mode, options)
}

// OpenContext is Open with a context for the wait for the lock, and for the search for free pages if there is one.
func OpenContext(ctx context.Context, path string, mode os.FileMode, options *Options) (*DB, error) {
	if options == nil {
		options = DefaultOptions
	}
	db := newDB(options)
	if db.logs {
		db.logger.Infof("Opening db file (%s) with mode %s and with options: %s", path, mode, options)
	}
	if err := db.open(ctx, path, mode, options); err != nil {
		if db.logs {
			db.logger.Errorf("Opening bbolt db (%s) failed: %v", path, err)
		}
		return nil, err
	}
	if db.logs {
		db.logger.Infof("Opening bbolt db (%s) successfully", path)
	}
	db.startShrinking(options)
	return db, nil
}

func newDB(o *Options) *DB {
	db := &DB{
		NoSync:          o.NoSync,
		NoFreelistSync:  o.NoFreelistSync,
		FreelistType:    o.FreelistType,
		NoGrowSync:      o.NoGrowSync,
		PreLoadFreelist: o.PreLoadFreelist,
		MmapFlags:       o.MmapFlags,
		MaxBatchSize:    DefaultMaxBatchSize,
		MaxBatchDelay:   DefaultMaxBatchDelay,
		AllocSize:       DefaultAllocSize,
		MaxSize:         o.MaxSize,
		Mlock:           o.Mlock,
		fs:              o.fs,
		openFile:        o.OpenFile,
		readOnly:        o.ReadOnly,
		bolt:            o.BoltPlacement,
		syncList:        o.SyncFreelist || o.BoltPlacement,
		singleSync:      o.SingleSync,
		gullible:        o.gullible,
		imagesMax:       cmp.Or(o.imagesMax, imagesMax),
		noStats:         o.NoStatistics,
		progress:        o.Progress,
		loading:         make(chan struct{}, 1),
		leaving:         make(chan struct{}),
		quit:            make(chan struct{}),
		slot:            make(chan struct{}, 1),
		stats:           new(TxStats),
	}
	if db.fs == nil {
		db.fs = file.OS
	}
	db.logger, db.logs = newLogger(o)
	return db
}

// open opens and reads the file. After an error nothing stays open.
func (db *DB) open(ctx context.Context, path string, mode os.FileMode, o *Options) (err error) {
	flag := os.O_RDWR | os.O_CREATE
	if db.readOnly {
		flag = os.O_RDONLY
	}
	if db.file, err = db.openPath(path, flag, mode); err != nil {
		return err
	}
	db.path = db.file.Name()
	var maps *mapping
	defer func() {
		if err == nil {
			return
		}
		if maps != nil {
			err = errors.Join(err, maps.close())
		}
		// Closing gives the lock back too. Its own error would hide what went wrong first.
		_ = db.file.Close()
	}()
	if err := db.lock(ctx, o); err != nil {
		return err
	}
	if err := db.prepare(path, o); err != nil {
		return err
	}
	if maps, err = db.newMapping(max(db.fileSize, int64(o.InitialMmapSize))); err != nil {
		return err
	}
	if db.fileSize, err = db.file.Size(); err != nil { // mapping a file can make it longer
		return err
	}
	if err := db.lockMemory(maps, db.fileSize); err != nil {
		return err
	}
	if err := db.readMetas(maps); err != nil {
		return err
	}
	if !db.readOnly {
		db.writer = newWriter(db.pageSize)
	}
	if err := db.openFreelist(ctx); err != nil {
		return err
	}
	if !db.readOnly && !db.NoFreelistSync && db.syncList && db.snap.Load().meta.Freelist == page.NoFreelist {
		return db.storeFreelist(&maps)
	}
	return nil
}

// openPath opens a file by the user's function, or through the file system.
func (db *DB) openPath(path string, flag int, mode os.FileMode) (file.File, error) {
	if db.openFile == nil {
		return db.fs.OpenFile(path, flag, mode)
	}
	f, err := db.openFile(path, flag, mode)
	if err != nil {
		return nil, err
	}
	return file.Wrap(f), nil
}

func (db *DB) lock(ctx context.Context, o *Options) error {
	err := file.Lock(ctx, db.file, !db.readOnly, o.Timeout)
	if errors.Is(err, file.ErrTimeout) {
		return ErrTimeout
	}
	return err
}

// prepare finds out the page size, and makes a database of an empty file.
func (db *DB) prepare(path string, o *Options) (err error) {
	if db.fileSize, err = db.file.Size(); err != nil {
		return err
	}
	db.pageSize = o.PageSize
	if db.pageSize <= 0 {
		db.pageSize = os.Getpagesize()
	}
	if db.fileSize == 0 {
		return db.create(path)
	}
	size, found, err := detectPageSize(db.file, db.fileSize)
	switch {
	case err != nil:
		return err
	case found:
		db.pageSize = size
	case !db.readOnly && db.unfinished():
		return db.create(path)
	}
	if db.fileSize < 2*int64(db.pageSize) {
		return fmt.Errorf("file size too small %d", db.fileSize)
	}
	return nil
}

// detectPageSize reads the page size from the first meta page, or else from the second, wherever that may be.
func detectPageSize(f io.ReaderAt, fileSize int64) (size int, found bool, err error) {
	const probe, minMeta = 4096, page.HeaderSize + page.MetaSize
	buf := make([]byte, probe)
	readable := false
	var failed error
	try := func(off int64, whole bool) (int, bool) {
		n, err := f.ReadAt(buf, off)
		if err != nil && !errors.Is(err, io.EOF) || whole && n < probe {
			failed = cmp.Or(failed, err)
			return 0, false
		}
		readable = true
		if n < minMeta {
			return 0, false
		}
		m := page.MetaOf(buf)
		size := int(m.PageSize())
		return size, m.Validate() == nil && size >= minMeta && int64(size) == int64(m.PageSize())
	}
	first, ok := try(0, true)
	if ok && fileSize >= 2*int64(first) {
		return first, true, nil
	}
	for off := int64(1024); off <= 16<<20 && off < fileSize-1024; off *= 2 {
		// The second meta page lies where it says that it does; what looks like one elsewhere may be somebody's value.
		if size, ok := try(off, false); ok && int64(size) == off {
			return size, true, nil
		}
	}
	switch {
	case ok: // the file is too small for what its first meta says, and the second says nothing
		return first, true, nil
	case readable:
		return 0, false, nil
	case failed != nil && !errors.Is(failed, io.EOF):
		return 0, false, fmt.Errorf("%w: %w", ErrInvalid, failed)
	}
	return 0, false, ErrInvalid
}

// readMetas makes the newest valid meta page the current snapshot.
func (db *DB) readMetas(maps *mapping) error {
	data := maps.bytes()
	data = data[:min(int64(len(data)), db.fileSize)]
	switch {
	case db.pageSize < page.HeaderSize+page.MetaSize: // as the options say: there is none in the file
		return ErrInvalid
	case len(data) < 2*db.pageSize:
		return fmt.Errorf("file size too small %d", db.fileSize)
	}
	metas := [2]page.Page{data[:db.pageSize], data[db.pageSize : 2*db.pageSize]}
	state, errs, err := page.Newest(metas, db.file, db.fileSize)
	if err != nil {
		return err
	}
	torn := errors.Is(errs[1-state], page.ErrIncomplete)
	switch {
	case torn && db.gullible:
		state, torn = 1-state, false
	case torn && errs[state] != nil:
		return fmt.Errorf("%w: the newest commit is incomplete, and the one before is not there: %w", ErrInvalid, errs[state])
	case errs[state] != nil:
		return errs[state]
	}
	m := page.MetaOf(metas[state])
	db.mapLen = int64(len(maps.bytes()))
	db.snap.Store(db.newSnapshot(m.Record(), maps, data))
	db.paired = m.Paired()
	if torn && !db.readOnly {
		return db.discredit(1-state, m.Record())
	}
	return nil
}

// discredit overwrites the meta page of a commit that did not arrive as a whole with the state before. It must not be
// left: bbolt would believe it, and so might this package once other pages are written where those of it are missing.
func (db *DB) discredit(torn int, meta page.MetaRecord) error {
	buf := page.Page(make([]byte, db.pageSize))
	page.PutMeta(buf, meta)
	buf.SetID(uint64(torn))
	if _, err := db.file.WriteAt(buf, int64(torn)*int64(db.pageSize)); err != nil {
		return err
	}
	return db.file.SyncData()
}

// storeFreelist commits an empty transaction, so that the file has a free list again.
func (db *DB) storeFreelist(maps **mapping) error {
	tx, err := db.Begin(true)
	if err != nil {
		return err
	}
	err = tx.Commit()
	*maps = db.snap.Load().maps
	return err
}
