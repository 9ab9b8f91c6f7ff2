// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"encoding/json"

	"github.com/holtdb/holt/kv"
)

// The wrappers below embed the engine's types under names that leave the
// method names Bucket and Cursor free, and override only the methods whose
// signatures mention such a type.
type (
	holtDB     = kv.DB
	holtTx     = kv.Tx
	holtBucket = kv.Bucket
)

type holtDatabase struct{ *holtDB }

var holt = &engine{
	name: "kv",
	open: openHolt, compact: func(dst, src database, txMaxSize int64) error {
		return kv.Compact(dst.(holtDatabase).holtDB, src.(holtDatabase).holtDB, txMaxSize)
	},
	errs: map[string]error{
		"ErrDatabaseNotOpen":    kv.ErrDatabaseNotOpen,
		"ErrInvalid":            kv.ErrInvalid,
		"ErrInvalidMapping":     kv.ErrInvalidMapping,
		"ErrVersionMismatch":    kv.ErrVersionMismatch,
		"ErrChecksum":           kv.ErrChecksum,
		"ErrTimeout":            kv.ErrTimeout,
		"ErrTxNotWritable":      kv.ErrTxNotWritable,
		"ErrTxClosed":           kv.ErrTxClosed,
		"ErrDatabaseReadOnly":   kv.ErrDatabaseReadOnly,
		"ErrFreePagesNotLoaded": kv.ErrFreePagesNotLoaded,
		"ErrBucketNotFound":     kv.ErrBucketNotFound,
		"ErrBucketExists":       kv.ErrBucketExists,
		"ErrBucketNameRequired": kv.ErrBucketNameRequired,
		"ErrKeyRequired":        kv.ErrKeyRequired,
		"ErrKeyTooLarge":        kv.ErrKeyTooLarge,
		"ErrValueTooLarge":      kv.ErrValueTooLarge,
		"ErrIncompatibleValue":  kv.ErrIncompatibleValue,
		"ErrMaxSizeReached":     kv.ErrMaxSizeReached,
		"ErrSameBuckets":        kv.ErrSameBuckets,
		"ErrDifferentDB":        kv.ErrDifferentDB,
	},
}

func openHolt(path string, opts options) (database, error) {
	o := &kv.Options{}
	o.PageSize = opts.pageSize
	o.InitialMmapSize = opts.mmapSize
	o.NoFreelistSync = opts.noFreelistSync
	o.NoGrowSync = opts.noGrowSync
	o.NoStatistics = opts.noStatistics
	o.ReadOnly = opts.readOnly
	o.PreLoadFreelist = opts.preload
	o.NoSync = true
	o.SyncFreelist = true // as bbolt, so that transactions have the same numbers
	o.MaxSize = opts.maxSize
	o.Timeout = opts.timeout
	o.BoltPlacement = opts.boltPlacement
	if opts.hashmap {
		o.FreelistType = kv.FreelistMapType
	}
	db, err := kv.Open(path, 0o600, o)
	if err != nil {
		return nil, err
	}
	db.MaxBatchDelay = 0
	return holtDatabase{db}, nil
}

func (d holtDatabase) Begin(writable bool) (transaction, error) {
	tx, err := d.holtDB.Begin(writable)
	if err != nil {
		return nil, err
	}
	return holtTransaction{tx}, nil
}

func (d holtDatabase) Update(fn func(transaction) error) error {
	return d.holtDB.Update(func(tx *holtTx) error { return fn(holtTransaction{tx}) })
}

func (d holtDatabase) View(fn func(transaction) error) error {
	return d.holtDB.View(func(tx *holtTx) error { return fn(holtTransaction{tx}) })
}

func (d holtDatabase) Batch(fn func(transaction) error) error {
	return d.holtDB.Batch(func(tx *holtTx) error { return fn(holtTransaction{tx}) })
}

func (d holtDatabase) Counters() counters {
	s := d.Stats()
	return counters{
		s.TxStats.GetPageCount(), s.TxStats.GetPageAlloc(),
		s.TxStats.GetSplit(), s.TxStats.GetSpill(),
		s.FreePageN, s.PendingPageN,
	}
}

type holtTransaction struct{ *holtTx }

func (t holtTransaction) Root() bucket { return wrapHolt(t.holtTx.Cursor().Bucket()) }

func (t holtTransaction) Bucket(name []byte) bucket { return wrapHolt(t.holtTx.Bucket(name)) }

func (t holtTransaction) CreateBucket(name []byte) (bucket, error) {
	b, err := t.holtTx.CreateBucket(name)
	return wrapHolt(b), err
}

func (t holtTransaction) CreateBucketIfNotExists(name []byte) (bucket, error) {
	b, err := t.holtTx.CreateBucketIfNotExists(name)
	return wrapHolt(b), err
}

func (t holtTransaction) MoveBucket(child []byte, src, dst bucket) error {
	return t.holtTx.MoveBucket(child, unwrapHolt(src), unwrapHolt(dst))
}

func (t holtTransaction) Cursor() cursor { return t.holtTx.Cursor() }

func (t holtTransaction) ForEach(fn func(name []byte, b bucket) error) error {
	return t.holtTx.ForEach(func(name []byte, b *holtBucket) error { return fn(name, wrapHolt(b)) })
}

func (t holtTransaction) Inspect() string { return inspectHolt(t.holtTx.Inspect()) }

func (t holtTransaction) Page(id int) (*pageInfo, error) {
	info, err := t.holtTx.Page(id)
	return (*pageInfo)(info), err
}

func (t holtTransaction) Check() []error { return drain(t.holtTx.Check()) }

type holtHandle struct{ *holtBucket }

// wrapHolt keeps a missing bucket a nil interface.
func wrapHolt(b *holtBucket) bucket {
	if b == nil {
		return nil
	}
	return holtHandle{b}
}

func unwrapHolt(b bucket) *holtBucket {
	if b == nil {
		return nil
	}
	return b.(holtHandle).holtBucket
}

func (h holtHandle) Inline() bool { return h.Root() == 0 }

func (h holtHandle) Bucket(name []byte) bucket { return wrapHolt(h.holtBucket.Bucket(name)) }

func (h holtHandle) CreateBucket(name []byte) (bucket, error) {
	b, err := h.holtBucket.CreateBucket(name)
	return wrapHolt(b), err
}

func (h holtHandle) CreateBucketIfNotExists(name []byte) (bucket, error) {
	b, err := h.holtBucket.CreateBucketIfNotExists(name)
	return wrapHolt(b), err
}

func (h holtHandle) MoveBucket(name []byte, dst bucket) error {
	return h.holtBucket.MoveBucket(name, unwrapHolt(dst))
}

func (h holtHandle) Cursor() cursor { return h.holtBucket.Cursor() }

func (h holtHandle) SetFillPercent(f float64) { h.FillPercent = f }

func (h holtHandle) Stats() bucketStats { return bucketStats(h.holtBucket.Stats()) }

func (h holtHandle) Inspect() string { return inspectHolt(h.holtBucket.Inspect()) }

func inspectHolt(s kv.BucketStructure) string {
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
