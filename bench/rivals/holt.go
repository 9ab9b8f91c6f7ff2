// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package rivals

import (
	"path/filepath"

	holt "github.com/holtdb/holt/kv"
)

type holtStore struct{ db *holt.DB }

var holtBucket = []byte("bench")

// holtMap is more than any file takes: a store that needs a larger mapping may wait for its readers.
const holtMap = 1 << 30

func openHolt(dir string, durable bool) (Store, error) {
	options := &holt.Options{NoSync: !durable, NoGrowSync: !durable, InitialMmapSize: holtMap}
	db, err := holt.Open(filepath.Join(dir, "holt.db"), 0o600, options)
	if err != nil {
		return nil, err
	}
	return holtStore{db}, db.Update(func(tx *holt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(holtBucket)
		return err
	})
}

func (s holtStore) View(fn func(r Reader) error) error {
	return s.db.View(func(tx *holt.Tx) error { return fn(holtReader{tx.Bucket(holtBucket)}) })
}

func (s holtStore) Update(fn func(w Writer) error) error {
	return s.db.Update(func(tx *holt.Tx) error { return fn(tx.Bucket(holtBucket)) })
}

func (s holtStore) Batch(key, value []byte) error {
	return s.db.Batch(func(tx *holt.Tx) error { return tx.Bucket(holtBucket).Put(key, value) })
}

func (s holtStore) Close() error { return s.db.Close() }

type holtReader struct{ bucket *holt.Bucket }

func (r holtReader) Get(key []byte) ([]byte, error) { return r.bucket.Get(key), nil }
func (r holtReader) Cursor() (Cursor, error)        { return holtCursor{r.bucket.Cursor()}, nil }

type holtCursor struct{ *holt.Cursor }

func (holtCursor) Close() error { return nil }
