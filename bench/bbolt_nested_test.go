// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Code generated from holt_nested_test.go by go test -update; DO NOT EDIT.

package bench

import (
	"os"
	"testing"

	bbolt "go.etcd.io/bbolt"
)

// bboltInline makes buckets that are so small that their parent has them in itself.
func bboltInline(b *testing.B, db *bbolt.DB) {
	b.Helper()
	check(b, db.Update(func(tx *bbolt.Tx) error {
		parent, err := tx.CreateBucketIfNotExists(name)
		check(b, err)
		key := make([]byte, 8)
		for i := range inlineBuckets {
			setKey(key, i)
			child, err := parent.CreateBucket(key)
			check(b, err)
			for j := range inlineKeys {
				setKey(key, j)
				check(b, child.Put(key, value))
			}
		}
		return nil
	}))
}

func bboltNestedGetInline(b *testing.B) {
	db := bboltCreate(b, b.TempDir()+"/inline.db")
	b.Cleanup(func() { check(b, db.Close()) })
	bboltInline(b, db)
	check(b, db.View(func(tx *bbolt.Tx) error {
		child, key := make([]byte, 8), make([]byte, 8)
		defer measure(b)()
		for i := 0; b.Loop(); i++ {
			setKey(child, farApart(i, inlineBuckets))
			setKey(key, i%inlineKeys)
			if tx.Bucket(name).Bucket(child).Get(key) == nil {
				b.Fatal("missing")
			}
		}
		return nil
	}))
}

func bboltNestedFill(b *testing.B) {
	path := b.TempDir() + "/inline.db"
	defer measure(b)()
	for b.Loop() {
		db := bboltCreate(b, path)
		bboltInline(b, db)
		check(b, db.Close())
		check(b, os.Remove(path))
	}
}
