// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"context"
	"fmt"
	"io/fs"
	"math"
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

	quit     chan struct{} // closed by Close
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
	background sync.WaitGroup // ends after quit
}

// snapshot is one committed state, and how to read it. It does not change, except for the one of a write transaction,
// which begins as a copy of the newest.
type snapshot struct {
	db       *DB
	n        uint64 // the first that was current after opening is 1, and each commit makes the next
	meta     page.MetaRecord
	maps     *mapping
	held     heldPages
	data     []byte // the mapping, as far as the file fills it
	limit    uint64 // page ids below it can be read
	pageSize int
	path     string
	closed   bool // no transaction may begin any more
}

func (db *DB) newSnapshot(meta page.MetaRecord, maps *mapping, data []byte) *snapshot {
	s := &snapshot{db: db, n: 1, meta: meta, maps: maps, held: maps.held, pageSize: db.pageSize, path: db.path}
	s.show(data)
	if last := db.snap.Load(); last != nil {
		s.n, s.closed = last.n+1, last.closed
	}
	if maps.first == 0 {
		maps.first = s.n
	}
	return s
}

// in is s in another mapping.
func (s *snapshot) in(maps *mapping, data []byte) *snapshot {
	moved := *s
	moved.maps, moved.held = maps, maps.held
	moved.show(data)
	maps.first = s.n
	return &moved
}

// show sets the bytes that are read.
func (s *snapshot) show(data []byte) {
	s.data = data
	s.limit = min(s.meta.HWM, uint64(len(data)/s.pageSize))
}

// pageCounts are figures of the free list after the last write transaction.
type pageCounts struct{ free, pending int }

// Begin starts a transaction. A read transaction sees the last commit and keeps its pages from being reused; end it
// with Rollback, soon. Of write transactions there is one at a time, and Begin waits for it to end. Neither kind ever
// waits for the other.
//
// If the file has no list of its free pages, the first write transaction looks at the whole file to find them. Where it
// meets damage, or its context ends, Begin returns that error, and the next one tries again; reading goes on.
func (db *DB) Begin(writable bool) (*Tx, error) {
	return db.BeginContext(context.Background(), writable)
}

// BeginContext is Begin with a bound on the wait for another write transaction, and on the search for free pages that
// the first one may have to make, see Options.PreLoadFreelist. A transaction outlives ctx.
func (db *DB) BeginContext(ctx context.Context, writable bool) (tx *Tx, err error) {
	if !db.logs {
		return db.begin(ctx, writable)
	}
	db.logger.Debugf("Starting a new transaction [writable: %t]", writable)
	if tx, err = db.begin(ctx, writable); err != nil {
		db.logger.Errorf("Starting a new transaction [writable: %t] failed: %v", writable, err)
	} else {
		db.logger.Debugf("Starting a new transaction [writable: %t] successfully", writable)
	}
	return tx, err
}

func (db *DB) begin(ctx context.Context, writable bool) (*Tx, error) {
	if writable {
		return db.beginWrite(ctx)
	}
	tx, err := db.beginRead()
	if err == nil && !db.noStats {
		tx.reader.begun.add(1)
	}
	return tx, err
}

func (db *DB) beginRead() (*Tx, error) {
	s := db.snap.Load()
	if s == nil || s.closed {
		return nil, ErrDatabaseNotOpen
	}
	at := db.readers.announce(s)
	if s = db.settle(at, s); s == nil {
		return nil, ErrDatabaseNotOpen
	}
	tx := at.newTx()
	tx.snapshot, tx.reader = s, at
	return tx, nil
}

// settle is the second step of a reader that has announced s: it returns the snapshot that is current, which nobody can
// take away any more, or nil if the database is being closed, and at is given back.
func (db *DB) settle(at *reader, s *snapshot) *snapshot {
	for {
		now := db.snap.Load()
		if now == s {
			return s
		}
		if now == nil || now.closed {
			db.readers.leave(at)
			db.reap()
			return nil
		}
		at.n.Store(now.n)
		if now.maps != s.maps {
			db.reap() // whoever gave it up may have taken this reader for one that uses it
		}
		s = now
	}
}

func (db *DB) beginWrite(ctx context.Context) (*Tx, error) {
	if db.readOnly {
		return nil, ErrDatabaseReadOnly
	}
	if err := db.acquire(ctx); err != nil {
		return nil, err
	}
	tx, err := db.tryWrite(ctx)
	if err != nil {
		<-db.slot
	}
	return tx, err
}

// tryWrite makes a write transaction, if one can begin. The caller has the place of the one writer.
func (db *DB) tryWrite(ctx context.Context) (*Tx, error) {
	if err := db.loadFreelist(ctx); err != nil {
		return nil, err
	}
	db.mu.Lock()
	if err := db.refusal(); err != nil {
		db.mu.Unlock()
		return nil, err
	}
	return db.startWrite(), nil
}

// startWrite makes a write transaction. The caller has the place of the one writer, which goes to the transaction, and
// holds db.mu, which is unlocked.
func (db *DB) startWrite() *Tx {
	s := db.snap.Load()
	s.maps.refs++
	db.mu.Unlock()
	t := &writeTx{view: *s}
	tx := &t.Tx
	tx.snapshot, tx.notes = &t.view, &t.own
	tx.meta.TxID++
	db.scratch = db.seen(s, db.scratch[:0])
	db.freelist.release(db.scratch)

	tx.w = db.writer
	tx.w.tx, tx.w.hwm = tx, tx.meta.HWM
	tx.w.plain.Grow(tx.meta.HWM)
	t.top = tx.rootBucket()
	t.edit.bucket, t.top.edit = &t.top, &t.edit
	t.own.root = &t.top
	return tx
}

// seen adds the numbers of the transactions whose states readers see, ascending. Any snapshot will do: transactions are
// numbered without gaps, as snapshots are.
func (db *DB) seen(s *snapshot, ids []uint64) []uint64 {
	ids = db.readers.appendTo(ids)
	for i := range ids {
		ids[i] += s.meta.TxID - s.n
	}
	return ids
}

// refusal says why no write transaction can begin, if so. The caller holds db.mu.
func (db *DB) refusal() error {
	switch s := db.snap.Load(); {
	case s == nil || s.closed:
		return ErrDatabaseNotOpen
	case db.failed != nil:
		return db.failed
	case s.meta.TxID == math.MaxUint64:
		return &CorruptError{
			Path: db.path, Page: 1, Off: int64(db.pageSize),
			Reason: "no transaction can follow the last one: its number is the highest there is",
		}
	}
	return nil
}

// acquire waits for the place of the one writer.
func (db *DB) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if db.slot == nil {
		return ErrDatabaseNotOpen // never was
	}
	select {
	case db.slot <- struct{}{}:
		return nil
	default:
	}
	select {
	case db.slot <- struct{}{}:
		return nil
	case <-db.quit:
		return ErrDatabaseNotOpen
	case <-ctx.Done():
		return ctx.Err()
	}
}

// View runs fn in a read transaction and returns its error, or the [*CorruptError] of damage it met.
func (db *DB) View(fn func(*Tx) error) error {
	return db.ViewContext(context.Background(), fn)
}

// ViewContext is View, refused if ctx has ended.
func (db *DB) ViewContext(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := db.BeginContext(ctx, false)
	if err != nil {
		return err
	}
	return tx.run(fn)
}

// Update runs fn in a write transaction and commits it. If fn returns an error or panics, or damage was met, nothing of
// it is kept. When Update returns nil the changes are durable.
func (db *DB) Update(fn func(*Tx) error) error {
	return db.UpdateContext(context.Background(), fn)
}

// UpdateContext is Update with a bound on the wait for another write transaction, refused if ctx has ended.
func (db *DB) UpdateContext(ctx context.Context, fn func(*Tx) error) error {
	tx, err := db.update(ctx, fn)
	if err == nil {
		tx.committed()
	}
	return err
}

// update is UpdateContext without the functions of [Tx.OnCommit].
func (db *DB) update(ctx context.Context, fn func(*Tx) error) (*Tx, error) {
	tx, err := db.BeginContext(ctx, true)
	if err != nil {
		return nil, err
	}
	return tx, tx.run(fn)
}

// Sync makes everything written so far durable; for use with NoSync.
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
	if db.file == nil {
		return ErrDatabaseNotOpen
	}
	return db.file.SyncData()
}

// Close ends the use of the file. It waits for every open transaction to end; meanwhile no new one begins. Then it
// stores the free pages, if they are known and no commit did; if that fails the file is sound all the same. A second
// Close does nothing.
func (db *DB) Close() error {
	if db.slot == nil {
		return nil // it was never open
	}
	db.slot <- struct{}{}
	defer func() { <-db.slot }()

	s := db.snap.Load()
	if s == nil {
		return nil
	}
	db.mu.Lock()
	sound := db.refusal() == nil
	db.mu.Unlock()
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

// finish commits a transaction that does nothing but store the free list, if none is stored and one can and should be,
// and leave a meta page that needs no checksums. The caller has the place of the one writer, and nobody else can get
// it.
func (db *DB) finish() error {
	list := !db.NoFreelistSync && db.snap.Load().meta.Freelist == page.NoFreelist && db.freelist.isLoaded()
	if db.readOnly || !list && !db.paired {
		return nil
	}
	db.mu.Lock()
	tx := db.startWrite()
	tx.notes.rest = true
	err := tx.commit()
	db.slot <- struct{}{} // the transaction gave it back
	return err
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
