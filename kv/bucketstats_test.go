// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/holtdb/holt/kv"
)

func stats(t testing.TB, db *kv.DB, name string) (s kv.BucketStats) {
	t.Helper()
	must(t, db.View(func(tx *kv.Tx) error {
		s = tx.Bucket([]byte(name)).Stats()
		return nil
	}))
	return s
}

func TestBucketStatsInline(t *testing.T) {
	db := openTemp(t, nil)
	must(t, db.Update(func(tx *kv.Tx) error {
		_, err := tx.CreateBucket([]byte("empty"))
		b, err2 := tx.CreateBucket([]byte("one"))
		return errors.Join(err, err2, b.Put([]byte("foo"), []byte("bar")))
	}))
	for name, want := range map[string]kv.BucketStats{
		"empty": {Depth: 1, BucketN: 1, InlineBucketN: 1, InlineBucketInuse: 16},
		"one":   {KeyN: 1, Depth: 1, BucketN: 1, InlineBucketN: 1, InlineBucketInuse: 38},
	} {
		if have := stats(t, db, name); have != want {
			t.Errorf("%s: have %+v, want %+v", name, have, want)
		}
	}
}

// TestBucketStatsNested measures a bucket of two leaves in which there are an inline bucket and one with a leaf.
func TestBucketStatsNested(t *testing.T) {
	db := openTemp(t, &kv.Options{NoSync: true, PageSize: 4096})
	must(t, db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		inline, err2 := b.CreateBucket([]byte("inline"))
		leaf, err3 := b.CreateBucket([]byte("leaf"))
		return errors.Join(err, err2, err3,
			inline.Put([]byte("k"), []byte("value")),
			leaf.Put([]byte("large"), make([]byte, 10_000)),
			b.Put([]byte("a"), make([]byte, 100)))
	}))
	want := kv.BucketStats{
		LeafPageN: 2, LeafOverflowN: 2,
		KeyN:      1 + 2 + 1 + 1,
		Depth:     1 + 1,
		LeafAlloc: 4 * 4096,
		LeafInuse: 16 + 3*16 + (1 + 100) + (6 + 16 + 38) + (4 + 16) + // the bucket itself
			16 + 16 + 5 + 10_000, // the one called leaf
		BucketN: 3, InlineBucketN: 1, InlineBucketInuse: 38,
	}
	if have := stats(t, db, "b"); have != want {
		t.Errorf("have %+v\nwant %+v", have, want)
	}
}

// TestBucketStatsOfPages: what is not committed is not measured.
func TestBucketStatsOfPages(t *testing.T) {
	db := openTemp(t, nil)
	must(t, db.Update(func(tx *kv.Tx) error { return fillSample(tx, 0) }))
	before := stats(t, db, "tree")
	must(t, db.Update(func(tx *kv.Tx) error {
		b := tx.Bucket([]byte("tree"))
		for i := range 500 {
			must(t, b.Put(fmt.Appendf(nil, "new %d", i), nil))
		}
		if have := b.Stats(); have != before {
			t.Errorf("before the commit: have %+v, want %+v", have, before)
		}
		return nil
	}))
	if have := stats(t, db, "tree"); have.KeyN != before.KeyN+500 {
		t.Errorf("%d keys after the commit, want %d", have.KeyN, before.KeyN+500)
	}
}

func TestBucketStatsAdd(t *testing.T) {
	a := kv.BucketStats{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}
	b := kv.BucketStats{10, 20, 30, 40, 50, 5, 70, 80, 90, 100, 110, 120, 130}
	want := kv.BucketStats{11, 22, 33, 44, 55, 6, 77, 88, 99, 110, 121, 132, 143}
	if a.Add(b); a != want {
		t.Errorf("have %+v, want %+v", a, want)
	}
}

func TestBucketStatsClosedTx(t *testing.T) {
	db := openTemp(t, nil)
	must(t, db.Update(func(tx *kv.Tx) error { return fillSample(tx, 0) }))
	tx, err := db.Begin(false)
	must(t, err)
	tree, inline := tx.Bucket([]byte("tree")), tx.Bucket([]byte("inline"))
	must(t, tx.Rollback())
	for _, b := range []*kv.Bucket{tree, inline} {
		func() {
			defer func() {
				if r := recover(); r != "assertion failed: tx closed" {
					t.Errorf("recovered %v", r)
				}
			}()
			b.Stats()
		}()
	}
}
