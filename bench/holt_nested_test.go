// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"os"
	"testing"

	holt "github.com/holtdb/holt/kv"
)

// holtInline makes buckets that are so small that their parent has them in itself.
func holtInline(b *testing.B, db *holt.DB) {
	b.Helper()
	check(b, db.Update(func(tx *holt.Tx) error {
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

func holtNestedGetInline(b *testing.B) {
	db := holtCreate(b, b.TempDir()+"/inline.db")
	b.Cleanup(func() { check(b, db.Close()) })
	holtInline(b, db)
	check(b, db.View(func(tx *holt.Tx) error {
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

func holtNestedFill(b *testing.B) {
	path := b.TempDir() + "/inline.db"
	defer measure(b)()
	for b.Loop() {
		db := holtCreate(b, path)
		holtInline(b, db)
		check(b, db.Close())
		check(b, os.Remove(path))
	}
}
