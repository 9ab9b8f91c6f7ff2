// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Code generated from holt.go by go test -update; DO NOT EDIT.

package rivals

import (
	"path/filepath"

	bbolt "go.etcd.io/bbolt"
)

type bboltStore struct{ db *bbolt.DB }

var bboltBucket = []byte("bench")

// bboltMap is more than any file takes: a store that needs a larger mapping may wait for its readers.
const bboltMap = 1 << 30

func openBbolt(dir string, durable bool) (Store, error) {
	options := &bbolt.Options{NoSync: !durable, NoGrowSync: !durable, InitialMmapSize: bboltMap}
	db, err := bbolt.Open(filepath.Join(dir, "bbolt.db"), 0o600, options)
	if err != nil {
		return nil, err
	}
	return bboltStore{db}, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bboltBucket)
		return err
	})
}

func (s bboltStore) View(fn func(r Reader) error) error {
	return s.db.View(func(tx *bbolt.Tx) error { return fn(bboltReader{tx.Bucket(bboltBucket)}) })
}

func (s bboltStore) Update(fn func(w Writer) error) error {
	return s.db.Update(func(tx *bbolt.Tx) error { return fn(tx.Bucket(bboltBucket)) })
}

func (s bboltStore) Batch(key, value []byte) error {
	return s.db.Batch(func(tx *bbolt.Tx) error { return tx.Bucket(bboltBucket).Put(key, value) })
}

func (s bboltStore) Close() error { return s.db.Close() }

type bboltReader struct{ bucket *bbolt.Bucket }

func (r bboltReader) Get(key []byte) ([]byte, error) { return r.bucket.Get(key), nil }
func (r bboltReader) Cursor() (Cursor, error)        { return bboltCursor{r.bucket.Cursor()}, nil }

type bboltCursor struct{ *bbolt.Cursor }

func (bboltCursor) Close() error { return nil }
