// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"sync/atomic"

	"github.com/holtdb/holt/kv/internal/page"
)

// Tx is a transaction: a snapshot to read, or the one place where the database is changed.
//
// A transaction with its buckets and cursors is for one goroutine at a time. Keys and values it returns are valid until
// it ends and must not be written to.
type Tx struct {
	// WriteFlag is or-ed into the flags with which WriteTo opens the file anew; 0 reads through the open one.
	WriteFlag int

	db       *DB // nil once ended
	path     string
	meta     page.MetaRecord
	maps     *mapping
	data     []byte // what the file holds, as far as it is mapped
	limit    uint64 // page ids below it can be read
	held     heldPages
	pageSize int
	root     Bucket
	w        *writer // nil in a read transaction
	writable bool
	last     bool          // run by Close
	managed  bool          // run by View or Update, which end it
	cursors  atomic.Int64  // so that goroutines which share a read transaction, though they should not, get away with it
	stats    *TxStats      // of an ended write transaction
	err      *CorruptError // the first damage that was met
	thrown   *CorruptError // the last
	onCommit []func()
	checks   *checks
}

// attach points tx at a snapshot, whose mapping stays until it ends. The caller holds db.mu.
func (tx *Tx) attach(s *snapshot) {
	s.maps.refs++
	tx.path = tx.db.path
	tx.meta = s.meta
	tx.pageSize = tx.db.pageSize
	tx.maps = s.maps
	tx.held = s.maps.held
	tx.show(s.data)
}

// rootHeader is the header of the root bucket. Page 0 would make it an inline bucket, which it cannot be; page 1 is as
// wrong and is noticed when it is read.
func (tx *Tx) rootHeader() InBucket {
	return InBucket{root: max(tx.meta.Root, 1), seq: tx.meta.Sequence}
}

// show sets the bytes that tx reads.
func (tx *Tx) show(data []byte) {
	tx.data = data
	tx.limit = min(tx.meta.HWM, uint64(len(data)/tx.pageSize))
}

// run runs fn, commits if the transaction can be committed, and ends it in any case.
func (tx *Tx) run(fn func(*Tx) error) (err error) {
	tx.managed = true
	defer tx.discard()
	defer tx.catch(&err)
	err = fn(tx)
	tx.managed = false
	if err != nil || !tx.writable {
		return err
	}
	return tx.commitLogged()
}

// discard ends tx if it is still open.
func (tx *Tx) discard() {
	if tx.db != nil {
		tx.end(false)
	}
}

// Rollback ends the transaction and drops its changes. It is how a read transaction ends.
func (tx *Tx) Rollback() error {
	if tx.managed {
		panic("assertion failed: managed tx rollback not allowed")
	}
	if tx.db == nil {
		return ErrTxClosed
	}
	tx.end(false)
	return nil
}

// end closes tx and gives back what it holds.
func (tx *Tx) end(committed bool) {
	db := tx.db
	tx.checks.stop()
	if tx.w != nil {
		if !committed {
			db.freelist.undo(tx.w.allocated, tx.w.freed, tx.w.hwm)
		}
		tx.w.stats.CursorCount += tx.cursors.Load()
		if !db.noStats {
			db.stats.add(&tx.w.stats)
		}
		stats := tx.w.stats
		tx.stats = &stats
		tx.w.reset()
	} else if !db.noStats && tx.cursors.Load() != 0 {
		db.stats.IncCursorCount(tx.cursors.Load())
	}
	db.mu.Lock()
	unused := db.release(tx.maps)
	if tx.w == nil {
		db.readers.remove(tx.meta.TxID)
		if db.readers.open == 0 && db.closing != nil {
			close(db.closing)
		}
	} else {
		db.counts.free, db.counts.pending = db.freelist.counts()
	}
	db.mu.Unlock()
	db.unmap(unused)
	tx.db, tx.data, tx.maps, tx.limit = nil, nil, nil, 0
	tx.root = Bucket{tx: tx}
	if tx.w != nil {
		tx.w = nil
		<-db.slot
	}
}

// ID is the number of the snapshot that a read transaction sees, or that a write transaction will make; -1 once ended.
func (tx *Tx) ID() int {
	if tx.db == nil {
		return -1
	}
	return int(tx.meta.TxID)
}

// DB is the database, nil once the transaction has ended.
func (tx *Tx) DB() *DB { return tx.db }

// Size is the number of bytes of the file that this transaction sees, as WriteTo writes them.
func (tx *Tx) Size() int64 {
	return int64(tx.meta.HWM) * int64(tx.db.pageSize)
}

// Writable says whether this is a write transaction.
func (tx *Tx) Writable() bool { return tx.writable }

// OnCommit adds a function to be called after a successful commit, when another transaction may already have begun.
func (tx *Tx) OnCommit(fn func()) { tx.onCommit = append(tx.onCommit, fn) }

// Stats are the figures of this transaction.
func (tx *Tx) Stats() TxStats {
	switch {
	case tx.stats != nil:
		return *tx.stats
	case tx.w != nil:
		s := tx.w.stats
		s.CursorCount += tx.cursors.Load()
		return s
	}
	return TxStats{CursorCount: tx.cursors.Load()}
}

// Bucket returns a top-level bucket, nil if there is none of that name.
func (tx *Tx) Bucket(name []byte) *Bucket { return tx.root.lookup(name, new(Bucket)) }

// CreateBucket makes a top-level bucket; see [Bucket.CreateBucket].
func (tx *Tx) CreateBucket(name []byte) (*Bucket, error) { return tx.root.CreateBucket(name) }

// CreateBucketIfNotExists returns a top-level bucket, made if needed; see [Bucket.CreateBucketIfNotExists].
func (tx *Tx) CreateBucketIfNotExists(name []byte) (*Bucket, error) {
	return tx.root.CreateBucketIfNotExists(name)
}

// DeleteBucket deletes a top-level bucket; see [Bucket.DeleteBucket].
func (tx *Tx) DeleteBucket(name []byte) error { return tx.root.DeleteBucket(name) }

// MoveBucket moves the bucket named child from src to dst; nil stands for the top level. See [Bucket.MoveBucket].
func (tx *Tx) MoveBucket(child []byte, src, dst *Bucket) error {
	if src == nil {
		src = &tx.root
	}
	if dst == nil {
		dst = &tx.root
	}
	return src.MoveBucket(child, dst)
}

// Cursor walks over the top level. [Cursor.Bucket] of it is the root bucket, which may hold plain keys too.
func (tx *Tx) Cursor() *Cursor { return tx.root.Cursor() }

// ForEach calls fn for every top-level bucket in the order of their names, and with a nil bucket for a plain key of the
// root. It stops at the first error and returns it.
func (tx *Tx) ForEach(fn func(name []byte, b *Bucket) error) error {
	return tx.root.ForEach(func(k, _ []byte) error { return fn(k, tx.root.Bucket(k)) })
}

// page returns a branch or leaf page with its overflow pages.
func (tx *Tx) page(id uint64) page.Page {
	if id < 2 || id >= tx.limit {
		tx.badPageID(id)
	}
	size := uint64(tx.pageSize)
	p := page.Page(tx.data[id*size : (id+1)*size])
	flags := p.Flags()
	if p.ID() != id || (flags != page.Leaf && flags != page.Branch) {
		tx.badHeader(id, p)
	}
	if more := uint64(p.Overflow()); more != 0 {
		if more >= tx.limit-id {
			tx.corrupt(id, "overflow of %d pages leads beyond the end, %d", more, tx.limit)
		}
		p = page.Page(tx.data[id*size : (id+more+1)*size])
	}
	if !p.TableFits() {
		tx.corrupt(id, "%d elements do not fit the page", p.Count())
	}
	return p
}

// The damage that page and the readers of its elements find.
