// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Code generated from holt_test.go by go test -update; DO NOT EDIT.

package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	bbolt "go.etcd.io/bbolt"
)

var bboltShapes = shapes{
	get: bboltGet, cursorGet: bboltCursorGet, cursorSeek: bboltCursorSeek, seekNew: bboltSeekNew,
	cursorScan: bboltCursorScan, nestedGet: bboltNestedGet, beginRollback: bboltBeginRollback,
	viewGet: bboltViewGet, beginRollbackPar2: bboltBeginRollbackPar2, largeGet: bboltLargeGet,
	cursorPut: bboltCursorPut, put: bboltPut, randGet: bboltRandGet, open: bboltOpenFile, bulk: bboltBulk,
	nestedGetInline: bboltNestedGetInline, nestedFill: bboltNestedFill,
}

// bboltCreate makes a database that leaves it to the operating system when to write to the disk.
func bboltCreate(b *testing.B, path string) *bbolt.DB {
	b.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, NoGrowSync: true})
	check(b, err)
	return db
}

// bboltLoad puts n keys in an order.
func bboltLoad(b *testing.B, db *bbolt.DB, n int, order func(i int) int) {
	b.Helper()
	key := make([]byte, 8)
	for first := 0; first < n; first += perTx {
		check(b, db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists(name)
			check(b, err)
			for i := first; i < first+perTx; i++ {
				setKey(key, order(i))
				check(b, bucket.Put(key, value))
			}
			return nil
		}))
	}
}

// bboltOpen makes a database with all keys.
func bboltOpen(b *testing.B) *bbolt.DB {
	b.Helper()
	db := bboltCreate(b, b.TempDir()+"/bench.db")
	b.Cleanup(func() { check(b, db.Close()) })
	bboltLoad(b, db, keys, func(i int) int { return i })
	check(b, db.Update(func(tx *bbolt.Tx) error {
		child, err := tx.Bucket(name).CreateBucket(nested)
		check(b, err)
		key := make([]byte, 8)
		for i := range childKeys {
			setKey(key, i)
			check(b, child.Put(key, value))
		}
		return nil
	}))
	return db
}

// bboltView runs a loop in a read transaction.
func bboltView(b *testing.B, loop func(bucket *bbolt.Bucket)) {
	b.Helper()
	check(b, bboltOpen(b).View(func(tx *bbolt.Tx) error {
		defer measure(b)()
		loop(tx.Bucket(name))
		return nil
	}))
}

func bboltGet(b *testing.B) {
	bboltView(b, func(bucket *bbolt.Bucket) {
		key := make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			setKey(key, scattered(i))
			if bucket.Get(key) == nil {
				b.Fatal("missing")
			}
		}
	})
}

func bboltCursorGet(b *testing.B) {
	bboltView(b, func(bucket *bbolt.Bucket) {
		key := make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			setKey(key, i%keys)
			if bucket.Get(key) == nil {
				b.Fatal("missing")
			}
		}
	})
}

func bboltCursorSeek(b *testing.B) {
	bboltView(b, func(bucket *bbolt.Bucket) {
		key, c := make([]byte, 8), bucket.Cursor()
		for i := 0; b.Loop(); i++ {
			setKey(key, scattered(i))
			if k, _ := c.Seek(key); k == nil {
				b.Fatal("missing")
			}
		}
	})
}

func bboltSeekNew(b *testing.B) {
	bboltView(b, func(bucket *bbolt.Bucket) {
		key := make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			setKey(key, scattered(i))
			if k, _ := bucket.Cursor().Seek(key); k == nil {
				b.Fatal("missing")
			}
		}
	})
}

func bboltCursorScan(b *testing.B) {
	bboltView(b, func(bucket *bbolt.Bucket) {
		for b.Loop() {
			n, c := 0, bucket.Cursor()
			for k, _ := c.First(); k != nil; k, _ = c.Next() {
				n++
			}
			if n != keys+1 {
				b.Fatal(n)
			}
		}
	})
}

func bboltNestedGet(b *testing.B) {
	check(b, bboltOpen(b).View(func(tx *bbolt.Tx) error {
		key := make([]byte, 8)
		defer measure(b)()
		for i := 0; b.Loop(); i++ {
			setKey(key, i%childKeys)
			if tx.Bucket(name).Bucket(nested).Get(key) == nil {
				b.Fatal("missing")
			}
		}
		return nil
	}))
}

func bboltBeginRollback(b *testing.B) {
	db := bboltOpen(b)
	defer measure(b)()
	for b.Loop() {
		tx, err := db.Begin(false)
		check(b, err)
		check(b, tx.Rollback())
	}
}

func bboltBeginRollbackPar2(b *testing.B) {
	db := bboltOpen(b)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	defer measure(b)()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			tx, err := db.Begin(false)
			check(b, err)
			check(b, tx.Rollback())
		}
	})
}

func bboltViewGet(b *testing.B) {
	db, key := bboltOpen(b), make([]byte, 8)
	defer measure(b)()
	for i := 0; b.Loop(); i++ {
		setKey(key, scattered(i))
		check(b, db.View(func(tx *bbolt.Tx) error {
			if tx.Bucket(name).Get(key) == nil {
				b.Fatal("missing")
			}
			return nil
		}))
	}
}

func bboltLargeGet(b *testing.B) {
	db, key := bboltOpen(b), []byte("large")
	check(b, db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(name).Put(key, make([]byte, 1<<20)) }))
	check(b, db.View(func(tx *bbolt.Tx) error {
		bucket, sum := tx.Bucket(name), 0
		defer measure(b)()
		for b.Loop() {
			v := bucket.Get(key)
			for at := 0; at < len(v); at += 4096 {
				sum += int(v[at])
			}
		}
		if sum != 0 {
			b.Fatal(sum)
		}
		return nil
	}))
}

// bboltRandGet finds keys of n at random, in some goroutines.
func bboltRandGet(b *testing.B, n, goroutines int) {
	path := seedFile(b, fmt.Sprintf("bbolt-%d.db", n), func(path string) {
		db := bboltCreate(b, path)
		bboltLoad(b, db, n, func(i int) int { return i })
		check(b, db.Close())
	})
	db := bboltCreate(b, path)
	b.Cleanup(func() { check(b, db.Close()) })
	check(b, db.View(func(tx *bbolt.Tx) error { // so that no page is read for the first time below
		c := tx.Bucket(name).Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			continue
		}
		return nil
	}))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(goroutines))
	var seed counter
	defer measure(b)()
	b.RunParallel(func(p *testing.PB) {
		check(b, db.View(func(tx *bbolt.Tx) error {
			bucket, key, r := tx.Bucket(name), make([]byte, 8), rand.New(rand.NewPCG(1, uint64(seed.add())))
			for p.Next() {
				setKey(key, r.IntN(n))
				if bucket.Get(key) == nil {
					b.Error("missing")
				}
			}
			return nil
		}))
	})
}

func bboltOpenFile(b *testing.B, path string, unsaved bool, puts int) {
	options := &bbolt.Options{
		NoSync: true, NoGrowSync: true, NoFreelistSync: unsaved, FreelistType: bbolt.FreelistMapType,
	}
	key := make([]byte, 8)
	defer measure(b)()
	for i := 0; b.Loop(); i++ {
		db, err := bbolt.Open(path, 0o600, options)
		check(b, err)
		for range puts {
			setKey(key, scattered(i))
			check(b, db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(name).Put(key, value) }))
		}
		check(b, db.Close())
	}
}

func bboltCursorPut(b *testing.B) {
	check(b, bboltOpen(b).Update(func(tx *bbolt.Tx) error {
		bucket, key := tx.Bucket(name), make([]byte, 8)
		defer measure(b)()
		for i := 0; b.Loop(); i++ {
			setKey(key, scattered(i))
			check(b, bucket.Put(key, value))
		}
		return nil
	}))
}

func bboltPut(b *testing.B) {
	db, key := bboltOpen(b), make([]byte, 8)
	before := db.Stats()
	stop := measure(b)
	for i := 0; b.Loop(); i++ {
		setKey(key, scattered(i))
		check(b, db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(name).Put(key, value) }))
	}
	stop()
	after := db.Stats()
	done := after.Sub(&before).TxStats
	b.ReportMetric(float64(done.GetWrite())/float64(b.N), "writes/op")
	b.ReportMetric(float64(done.GetPageAlloc())/float64(b.N), "written-B/op")
}

func bboltBulk(b *testing.B, order func(i int) int) {
	path, size := b.TempDir()+"/bulk.db", int64(0)
	stop := measure(b)
	for b.Loop() {
		db := bboltCreate(b, path)
		bboltLoad(b, db, keys, order)
		check(b, db.View(func(tx *bbolt.Tx) error {
			size = tx.Size()
			return nil
		}))
		check(b, db.Close())
		check(b, os.Remove(path))
	}
	stop()
	b.ReportMetric(float64(size)/keys, "file-B/key")
}
