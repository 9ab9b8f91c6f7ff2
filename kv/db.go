// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv/internal/page"
)

// DB is an open database file. Its methods may be called from several goroutines; its fields are to be set before that.
type DB struct {
	// StrictMode runs a full check after every commit and panics on what it finds. Slow; for tests.
	StrictMode bool
	// NoSync leaves out every sync: a crash of the machine may then lose or damage the database.
	NoSync bool
	// NoFreelistSync does not store the free list from the next commit on; whoever opens and writes it then scans it.
	NoFreelistSync bool
	// FreelistType is what the options said. Both types behave the same here.
	FreelistType FreelistType
	// NoGrowSync lets the file grow by being written to, without setting and syncing its size first.
	NoGrowSync bool
	// PreLoadFreelist is what the options said.
	PreLoadFreelist bool
	// MmapFlags are or-ed into the flags of the next mapping.
	MmapFlags int
	// MaxBatchSize bounds the calls that one transaction of Batch runs, [DefaultMaxBatchSize] at first; 0 or less turns
	// batching off.
	MaxBatchSize int
	// MaxBatchDelay is the longest a call of Batch may wait for others to join it, [DefaultMaxBatchDelay] at first.
	MaxBatchDelay time.Duration
	// AllocSize is the number of bytes by which a file larger than that grows ahead of need, [DefaultAllocSize] at first.
	AllocSize int
	// MaxSize is the number of bytes the file may not grow beyond; 0 means no limit.
	MaxSize int
	// Mlock keeps the file in physical memory.
	Mlock bool

	fs         file.FS
	openFile   func(string, int, os.FileMode) (*os.File, error)
	file       file.File
	path       string
	pageSize   int
	readOnly   bool
	bolt       bool // place pages as bbolt does
	singleSync bool // make commits durable with one sync
	gullible   bool // as in Options
	syncList   bool // store the free list with each commit
	// imagesMax is the constant, unless a test says otherwise.
	imagesMax int
	logger    Logger
	logs      bool // the logger does not discard

	leave    sync.Once
	leaving  chan struct{} // closed when Close begins
	quit     chan struct{} // closed when Close has the place of the one writer
	slot     chan struct{} // holds a token while a write transaction is open; guards the fields up to mu
	writer   *writer
	settled  bool // what this handle has found in the file is known to be durable
	paired   bool // the newest meta page is a paired one
	fileSize int64
	backed   uint64 // pages below are known to have places on the disk: written to, not only part of the length
	mapLen   int64  // length of the current mapping
	freelist freelist
	loading  chan struct{}     // holds a token while the free list is being loaded
	progress func(pages int64) // is told of pages that are looked at to find the free ones
	scratch  []uint64
	lowered  atomic.Uint64 // the last transaction that lowered the high water mark

	snap    atomic.Pointer[snapshot] // of the last commit; nil once closed
	readers readers

	mu      sync.Mutex    // guards what follows
	retired []*mapping    // that were current once and may still be in use
	closing chan struct{} // made by Close, closed when the last reader ends
	ended   bool          // closing is closed
	failed  error         // why no more writes are accepted
	counts  pageCounts

	noStats bool
	stats   *TxStats // changed atomically; allocated by itself, as 32-bit machines want it

	batch      batcher
	background sync.WaitGroup // ends after leaving
}

// pageCounts are figures of the free list after the last write transaction.
type pageCounts struct{ free, pending int }

// Sync makes everything written so far durable; for use with NoSync. Errors: [ErrDatabaseNotOpen], what the system says.
func (db *DB) Sync() (err error) {
	if db.logs {
		db.logger.Debugf("Syncing bbolt db (%s)", db.Path())
		defer func() {
			if err != nil {
				db.logger.Errorf("Syncing bbolt db (%s) failed: %v", db.Path(), err)
			} else {
				db.logger.Debugf("Syncing bbolt db (%s) successfully", db.Path())
			}
		}()
	}
	if db.snap.Load() == nil {
		return ErrDatabaseNotOpen
	}
	return db.file.SyncData()
}

// Path is the name of the file, empty once closed.
func (db *DB) Path() string {
	if db.snap.Load() == nil {
		return ""
	}
	return db.path
}

// IsReadOnly says whether the database was opened read-only.
func (db *DB) IsReadOnly() bool { return db.readOnly }

// Logger is the logger in use, never nil.
func (db *DB) Logger() Logger {
	if db.logger == nil {
		return discardLogger{}
	}
	return db.logger
}

func (db *DB) String() string { return fmt.Sprintf("DB<%q>", db.Path()) }

// GoString is what %#v prints.
func (db *DB) GoString() string { return fmt.Sprintf("bolt.DB{path:%q}", db.Path()) }

// Info tells where the file is mapped. It panics on a closed database.
func (db *DB) Info() *Info {
	return &Info{Data: uintptr(unsafe.Pointer(&db.snap.Load().maps.bytes()[0])), PageSize: db.pageSize}
}

// Stats are the figures of the database so far; zero with NoStatistics.
func (db *DB) Stats() Stats {
	if db.noStats || db.stats == nil {
		return Stats{}
	}
	db.mu.Lock()
	counts := db.counts
	db.mu.Unlock()
	begun, cursors := db.readers.counts()
	stats := db.stats.load()
	stats.CursorCount += int64(cursors)
	return Stats{
		TxStats:       stats,
		FreePageN:     counts.free,
		PendingPageN:  counts.pending,
		FreeAlloc:     (counts.free + counts.pending) * db.pageSize,
		FreelistInuse: page.FreelistSize(counts.free + counts.pending),
		TxN:           int(begun),
		OpenTxN:       db.readers.open(),
	}
}

// stat describes the file that is open.
func (db *DB) stat() (fs.FileInfo, error) { return db.file.Stat() }

// refuse stops all further writes: what the file holds is no longer known for sure.
func (db *DB) refuse(cause error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.failed = fmt.Errorf("kv: %s takes no more writes until it is reopened: %w", db.path, cause)
}
