// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import "github.com/holtdb/holt/kv/internal/page"

// Tx is a transaction: a snapshot to read, or the one place where the database is changed.
//
// A transaction with its buckets and cursors is for one goroutine at a time. Keys and values it returns are valid until
// it ends and must not be written to.
type Tx struct {
	// WriteFlag is or-ed into the flags with which WriteTo opens the file anew; 0 reads through the open one.
	WriteFlag int

	*snapshot // what it reads, for a write transaction its own, as it was when it began; nothing once ended

	reader  *reader // the place of a read transaction
	w       *writer // of a write transaction, while it is open
	cursors tally   // made, those of lookups among them
	notes   *notes  // of a write transaction, and of others that have any
}

// A read transaction is allocated anew each time, since it stays with the user, who may ask it later whether it has
// ended. To be quickly done with, it has little memory of its own: what the garbage collector does about it takes as
// long as all the rest.

// notes are what few read transactions have.
type notes struct {
	err      *CorruptError // the first damage that was met
	thrown   *CorruptError // the last
	stats    TxStats       // of an ended write transaction
	onCommit []func()
	checks   *checks

	// Of a write transaction.
	root     *Bucket
	managed  bool // as in reader
	rest     bool // leaves the file as Close is to leave it: with a free list, if it is known, and a plain meta page
	keepSlot bool // its end does not give up the place of the one writer: who began it has more to do
}

// writeTx is a write transaction with all that belongs to it.
type writeTx struct {
	Tx
	view snapshot
	own  notes
	top  Bucket
	edit bucketEdit
}

// nothing is what an ended transaction reads: there is no DB, and there are no data.
var nothing snapshot

// open says whether tx has begun, which the zero value has not, and not ended.
func (tx *Tx) open() bool { return tx.snapshot != nil && tx.db != nil }

func (tx *Tx) note() *notes {
	if tx.notes == nil {
		tx.notes = new(notes)
	}
	return tx.notes
}

// rootBucket is a new handle of the root bucket.
func (tx *Tx) rootBucket() Bucket {
	return Bucket{InBucket: tx.rootHeader(), FillPercent: DefaultFillPercent, tx: tx}
}

// root is the root bucket of a write transaction, even when it has ended; nil in others.
func (tx *Tx) root() *Bucket {
	if tx.notes == nil {
		return nil
	}
	return tx.notes.root
}

// managed is whether View or Update, which end it, have tx run a function.
func (tx *Tx) managed() *bool {
	if tx.Writable() {
		return &tx.notes.managed
	}
	return &tx.reader.managed
}

// top is the root bucket for users to keep.
func (tx *Tx) top() *Bucket {
	if root := tx.root(); root != nil {
		return root
	}
	b := tx.rootBucket()
	return &b
}

// rootHeader is the header of the root bucket. Page 0 would make it an inline bucket, which it cannot be; page 1 is as
// wrong and is noticed when it is read.
func (tx *Tx) rootHeader() InBucket {
	return InBucket{root: max(tx.meta.Root, 1), seq: tx.meta.Sequence}
}

// run runs fn, commits if the transaction can be committed, and ends it in any case.
func (tx *Tx) run(fn func(*Tx) error) (err error) {
	*tx.managed() = true
	defer tx.discard()
	defer tx.catch(&err)
	err = fn(tx)
	*tx.managed() = false
	if err != nil || !tx.Writable() {
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
	if !tx.open() {
		return ErrTxClosed
	}
	if *tx.managed() {
		panic("assertion failed: managed tx rollback not allowed")
	}
	tx.end(false)
	return nil
}

// end closes tx and gives back what it holds.
func (tx *Tx) end(committed bool) {
	if tx.notes != nil {
		tx.notes.checks.stop()
	}
	if tx.w == nil {
		tx.endRead()
	} else {
		tx.endWrite(committed)
	}
}

func (tx *Tx) endRead() {
	db, at, maps := tx.db, tx.reader, tx.maps
	if !db.noStats && tx.cursors.load() != 0 {
		at.cursors.add(tx.cursors.load())
	}
	tx.snapshot = &nothing
	db.readers.leave(at)
	if s := db.snap.Load(); s != nil && (s.maps != maps || s.closed) {
		db.reap()
	}
}

func (tx *Tx) endWrite(committed bool) {
	db, w := tx.db, tx.w
	if !committed {
		db.freelist.undo(w.allocated, w.freed, w.hwm)
	}
	w.stats.CursorCount += int64(tx.cursors.load())
	if !db.noStats {
		db.stats.add(&w.stats)
	}
	tx.notes.stats = w.stats
	w.reset()
	db.mu.Lock()
	tx.maps.refs--
	db.counts.free, db.counts.pending = db.freelist.counts()
	retired := len(db.retired) > 0
	db.mu.Unlock()
	*tx.snapshot, *tx.root() = nothing, Bucket{tx: tx}
	tx.snapshot, tx.w = &nothing, nil
	if retired {
		db.reap()
	}
	if !tx.notes.keepSlot {
		<-db.slot
	}
}

// ID is the number of the snapshot that a read transaction sees, or that a write transaction will make; -1 once ended.
func (tx *Tx) ID() int {
	if !tx.open() {
		return -1
	}
	return int(tx.meta.TxID)
}

// DB is the database, nil once the transaction has ended.
func (tx *Tx) DB() *DB {
	if !tx.open() {
		return nil
	}
	return tx.db
}

// Size is the number of bytes of the file that this transaction sees, as WriteTo writes them.
func (tx *Tx) Size() int64 {
	return int64(tx.meta.HWM) * int64(tx.db.pageSize)
}

// Writable says whether this is a write transaction.
func (tx *Tx) Writable() bool { return tx.root() != nil }

// OnCommit adds a function to be called after a successful commit, when another transaction may already have begun.
func (tx *Tx) OnCommit(fn func()) {
	n := tx.note()
	n.onCommit = append(n.onCommit, fn)
}

// Stats are the figures of this transaction.
func (tx *Tx) Stats() TxStats {
	switch {
	case tx.w != nil:
		s := tx.w.stats
		s.CursorCount += int64(tx.cursors.load())
		return s
	case tx.Writable():
		return tx.notes.stats
	}
	return TxStats{CursorCount: int64(tx.cursors.load())}
}

// Bucket returns a top-level bucket, nil if there is none of that name.
func (tx *Tx) Bucket(name []byte) *Bucket { return tx.lookup(name, new(Bucket)) }

// lookup is Bucket, with room for the handle of a read transaction.
func (tx *Tx) lookup(name []byte, child *Bucket) *Bucket {
	if root := tx.root(); root != nil {
		return root.lookup(name, child)
	}
	root := tx.rootBucket()
	return root.lookup(name, child)
}

// CreateBucket makes a top-level bucket; see [Bucket.CreateBucket].
func (tx *Tx) CreateBucket(name []byte) (*Bucket, error) { return tx.top().CreateBucket(name) }

// CreateBucketIfNotExists returns a top-level bucket, made if needed; see [Bucket.CreateBucketIfNotExists].
func (tx *Tx) CreateBucketIfNotExists(name []byte) (*Bucket, error) {
	return tx.top().CreateBucketIfNotExists(name)
}

// DeleteBucket deletes a top-level bucket; see [Bucket.DeleteBucket].
func (tx *Tx) DeleteBucket(name []byte) error { return tx.top().DeleteBucket(name) }

// MoveBucket moves the bucket named child from src to dst; nil stands for the top level. See [Bucket.MoveBucket].
func (tx *Tx) MoveBucket(child []byte, src, dst *Bucket) error {
	if src == nil {
		src = tx.top()
	}
	if dst == nil {
		dst = tx.top()
	}
	return src.MoveBucket(child, dst)
}

// Cursor walks over the top level. [Cursor.Bucket] of it is the root bucket, which may hold plain keys too.
func (tx *Tx) Cursor() *Cursor { return tx.top().Cursor() }

// ForEach calls fn for every top-level bucket in the order of their names, and with a nil bucket for a plain key of the
// root. It stops at the first error and returns it.
func (tx *Tx) ForEach(fn func(name []byte, b *Bucket) error) error {
	return tx.top().ForEach(func(k, _ []byte) error { return fn(k, tx.Bucket(k)) })
}

// reading is to be called before each lookup. It panics if the transaction has ended.
func (tx *Tx) reading() {
	if tx.db == nil {
		panic("assertion failed: tx closed")
	}
	tx.cursors.add(1) // goroutines that share a transaction, though they should not, get away with a wrong count
}

// page returns a branch or leaf page with its overflow pages.
func (tx *Tx) page(id uint64) page.Page {
	if s := tx.snapshot; id >= 2 && id < s.limit {
		if p := page.At(s.data, id*uint64(s.pageSize), uint32(s.pageSize)); p.Plain(id) {
			return p
		}
	}
	return tx.longPage(id)
}

// longPage is page where more is to be looked at.
func (tx *Tx) longPage(id uint64) page.Page {
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
