// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"encoding/json"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// The wrappers below embed the engine's types under names that leave the
// method names Bucket and Cursor free, and override only the methods whose
// signatures mention such a type.
type (
	boltDB     = bbolt.DB
	boltTx     = bbolt.Tx
	boltBucket = bbolt.Bucket
)

type boltDatabase struct{ *boltDB }

var bolt = &engine{
	name:    "bbolt",
	open:    openBolt,
	minMmap: 512 << 20,
	compact: func(dst, src database, txMaxSize int64) error {
		return bbolt.Compact(dst.(boltDatabase).boltDB, src.(boltDatabase).boltDB, txMaxSize)
	},
	errs: map[string]error{
		"ErrDatabaseNotOpen":    berrors.ErrDatabaseNotOpen,
		"ErrInvalid":            berrors.ErrInvalid,
		"ErrInvalidMapping":     berrors.ErrInvalidMapping,
		"ErrVersionMismatch":    berrors.ErrVersionMismatch,
		"ErrChecksum":           berrors.ErrChecksum,
		"ErrTimeout":            berrors.ErrTimeout,
		"ErrTxNotWritable":      berrors.ErrTxNotWritable,
		"ErrTxClosed":           berrors.ErrTxClosed,
		"ErrDatabaseReadOnly":   berrors.ErrDatabaseReadOnly,
		"ErrFreePagesNotLoaded": berrors.ErrFreePagesNotLoaded,
		"ErrBucketNotFound":     berrors.ErrBucketNotFound,
		"ErrBucketExists":       berrors.ErrBucketExists,
		"ErrBucketNameRequired": berrors.ErrBucketNameRequired,
		"ErrKeyRequired":        berrors.ErrKeyRequired,
		"ErrKeyTooLarge":        berrors.ErrKeyTooLarge,
		"ErrValueTooLarge":      berrors.ErrValueTooLarge,
		"ErrIncompatibleValue":  berrors.ErrIncompatibleValue,
		"ErrMaxSizeReached":     berrors.ErrMaxSizeReached,
		"ErrSameBuckets":        berrors.ErrSameBuckets,
		"ErrDifferentDB":        berrors.ErrDifferentDB,
	},
}

func openBolt(path string, opts options) (database, error) {
	o := &bbolt.Options{}
	o.PageSize = opts.pageSize
	o.InitialMmapSize = opts.mmapSize
	o.NoFreelistSync = opts.noFreelistSync
	o.NoGrowSync = opts.noGrowSync
	o.NoStatistics = opts.noStatistics
	o.ReadOnly = opts.readOnly
	o.PreLoadFreelist = opts.preload
	o.NoSync = true
	o.MaxSize = opts.maxSize
	o.Timeout = opts.timeout
	if opts.hashmap {
		o.FreelistType = bbolt.FreelistMapType
	}
	db, err := bbolt.Open(path, 0o600, o)
	if err != nil {
		return nil, err
	}
	db.MaxBatchDelay = 0
	return boltDatabase{db}, nil
}

func (d boltDatabase) Begin(writable bool) (transaction, error) {
	tx, err := d.boltDB.Begin(writable)
	if err != nil {
		return nil, err
	}
	return boltTransaction{tx}, nil
}

func (d boltDatabase) Update(fn func(transaction) error) error {
	return d.boltDB.Update(func(tx *boltTx) error { return fn(boltTransaction{tx}) })
}

func (d boltDatabase) View(fn func(transaction) error) error {
	return d.boltDB.View(func(tx *boltTx) error { return fn(boltTransaction{tx}) })
}

func (d boltDatabase) Batch(fn func(transaction) error) error {
	return d.boltDB.Batch(func(tx *boltTx) error { return fn(boltTransaction{tx}) })
}

func (d boltDatabase) Counters() counters {
	s := d.Stats()
	return counters{
		s.TxStats.GetPageCount(), s.TxStats.GetPageAlloc(),
		s.TxStats.GetSplit(), s.TxStats.GetSpill(),
		s.FreePageN, s.PendingPageN,
	}
}

type boltTransaction struct{ *boltTx }

func (t boltTransaction) Root() bucket { return wrapBolt(t.boltTx.Cursor().Bucket()) }

func (t boltTransaction) Bucket(name []byte) bucket { return wrapBolt(t.boltTx.Bucket(name)) }

func (t boltTransaction) CreateBucket(name []byte) (bucket, error) {
	b, err := t.boltTx.CreateBucket(name)
	return wrapBolt(b), err
}

func (t boltTransaction) CreateBucketIfNotExists(name []byte) (bucket, error) {
	b, err := t.boltTx.CreateBucketIfNotExists(name)
	return wrapBolt(b), err
}

func (t boltTransaction) MoveBucket(child []byte, src, dst bucket) error {
	return t.boltTx.MoveBucket(child, unwrapBolt(src), unwrapBolt(dst))
}

func (t boltTransaction) Cursor() cursor { return t.boltTx.Cursor() }

func (t boltTransaction) ForEach(fn func(name []byte, b bucket) error) error {
	return t.boltTx.ForEach(func(name []byte, b *boltBucket) error { return fn(name, wrapBolt(b)) })
}

func (t boltTransaction) Inspect() string { return inspectBolt(t.boltTx.Inspect()) }

func (t boltTransaction) Page(id int) (*pageInfo, error) {
	info, err := t.boltTx.Page(id)
	return (*pageInfo)(info), err
}

func (t boltTransaction) Check() []error { return drain(t.boltTx.Check()) }

type boltHandle struct{ *boltBucket }

// wrapBolt keeps a missing bucket a nil interface.
func wrapBolt(b *boltBucket) bucket {
	if b == nil {
		return nil
	}
	return boltHandle{b}
}

func unwrapBolt(b bucket) *boltBucket {
	if b == nil {
		return nil
	}
	return b.(boltHandle).boltBucket
}

func (h boltHandle) Inline() bool { return h.Root() == 0 }

func (h boltHandle) Bucket(name []byte) bucket { return wrapBolt(h.boltBucket.Bucket(name)) }

func (h boltHandle) CreateBucket(name []byte) (bucket, error) {
	b, err := h.boltBucket.CreateBucket(name)
	return wrapBolt(b), err
}

func (h boltHandle) CreateBucketIfNotExists(name []byte) (bucket, error) {
	b, err := h.boltBucket.CreateBucketIfNotExists(name)
	return wrapBolt(b), err
}

func (h boltHandle) MoveBucket(name []byte, dst bucket) error {
	return h.boltBucket.MoveBucket(name, unwrapBolt(dst))
}

func (h boltHandle) Cursor() cursor { return h.boltBucket.Cursor() }

func (h boltHandle) SetFillPercent(f float64) { h.FillPercent = f }

func (h boltHandle) Stats() bucketStats { return bucketStats(h.boltBucket.Stats()) }

func (h boltHandle) Inspect() string { return inspectBolt(h.boltBucket.Inspect()) }

func inspectBolt(s bbolt.BucketStructure) string {
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
