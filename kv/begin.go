// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"context"
	"math"
)

// Begin starts a transaction. A read transaction sees the last commit and keeps its pages from being reused; end it
// with Rollback, soon. Of write transactions there is one at a time, and Begin waits for it to end. Neither kind ever
// waits for the other.
//
// If the file has no list of its free pages, the first write transaction looks at the whole file to find them. Where it
// meets damage, or its context ends, Begin returns that error, and the next one tries again; reading goes on.
//
// Errors: [ErrDatabaseNotOpen], [ErrDatabaseReadOnly], the [*CorruptError] of that search, or what has gone wrong before so
// that no more writes are accepted.
func (db *DB) Begin(writable bool) (*Tx, error) {
	return db.BeginContext(context.Background(), writable)
}

// BeginContext is Begin with a bound on the wait for another write transaction, and on the search for free pages that
// the first one may have to make, see Options.PreLoadFreelist. A transaction outlives ctx.
func (db *DB) BeginContext(ctx context.Context, writable bool) (*Tx, error) {
	if !db.logs {
		return db.begin(ctx, writable)
	}
	return db.logBegin(writable, func() (*Tx, error) { return db.begin(ctx, writable) })
}

// logBegin begins a transaction and tells the logger.
func (db *DB) logBegin(writable bool, begin func() (*Tx, error)) (tx *Tx, err error) {
	db.logger.Debugf("Starting a new transaction [writable: %t]", writable)
	if tx, err = begin(); err != nil {
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
	if s = db.confirm(at, s); s == nil {
		return nil, ErrDatabaseNotOpen
	}
	tx := at.newTx()
	tx.snapshot, tx.reader = s, at
	return tx, nil
}

// confirm is the second step of a reader that has announced s: it returns the snapshot that is current, which nobody can
// take away any more, or nil if the database is being closed, and at is given back.
func (db *DB) confirm(at *reader, s *snapshot) *snapshot {
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
