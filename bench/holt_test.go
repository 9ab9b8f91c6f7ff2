// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	holt "github.com/holtdb/holt/kv"
)

var holtShapes = shapes{
	get: holtGet, cursorGet: holtCursorGet, cursorSeek: holtCursorSeek, seekNew: holtSeekNew,
	cursorScan: holtCursorScan, nestedGet: holtNestedGet, beginRollback: holtBeginRollback,
	viewGet: holtViewGet, beginRollbackPar2: holtBeginRollbackPar2, largeGet: holtLargeGet,
	cursorPut: holtCursorPut, put: holtPut, randGet: holtRandGet, open: holtOpenFile, bulk: holtBulk,
	nestedGetInline: holtNestedGetInline, nestedFill: holtNestedFill,
}

// holtCreate makes a database that leaves it to the operating system when to write to the disk.
func holtCreate(b *testing.B, path string) *holt.DB {
	b.Helper()
	db, err := holt.Open(path, 0o600, &holt.Options{NoSync: true, NoGrowSync: true})
	check(b, err)
	return db
}

// holtLoad puts n keys in an order.
func holtLoad(b *testing.B, db *holt.DB, n int, order func(i int) int) {
	b.Helper()
	key := make([]byte, 8)
	for first := 0; first < n; first += perTx {
		check(b, db.Update(func(tx *holt.Tx) error {
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

// holtOpen makes a database with all keys.
func holtOpen(b *testing.B) *holt.DB {
	b.Helper()
	db := holtCreate(b, b.TempDir()+"/bench.db")
	b.Cleanup(func() { check(b, db.Close()) })
	holtLoad(b, db, keys, func(i int) int { return i })
	check(b, db.Update(func(tx *holt.Tx) error {
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

// holtView runs a loop in a read transaction.
func holtView(b *testing.B, loop func(bucket *holt.Bucket)) {
	b.Helper()
	check(b, holtOpen(b).View(func(tx *holt.Tx) error {
		defer measure(b)()
		loop(tx.Bucket(name))
		return nil
	}))
}

func holtGet(b *testing.B) {
	holtView(b, func(bucket *holt.Bucket) {
		key := make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			setKey(key, scattered(i))
			if bucket.Get(key) == nil {
				b.Fatal("missing")
			}
		}
	})
}

func holtCursorGet(b *testing.B) {
	holtView(b, func(bucket *holt.Bucket) {
		key := make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			setKey(key, i%keys)
			if bucket.Get(key) == nil {
				b.Fatal("missing")
			}
		}
	})
}

func holtCursorSeek(b *testing.B) {
	holtView(b, func(bucket *holt.Bucket) {
		key, c := make([]byte, 8), bucket.Cursor()
		for i := 0; b.Loop(); i++ {
			setKey(key, scattered(i))
			if k, _ := c.Seek(key); k == nil {
				b.Fatal("missing")
			}
		}
	})
}

func holtSeekNew(b *testing.B) {
	holtView(b, func(bucket *holt.Bucket) {
		key := make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			setKey(key, scattered(i))
			if k, _ := bucket.Cursor().Seek(key); k == nil {
				b.Fatal("missing")
			}
		}
	})
}

func holtCursorScan(b *testing.B) {
	holtView(b, func(bucket *holt.Bucket) {
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

func holtNestedGet(b *testing.B) {
	check(b, holtOpen(b).View(func(tx *holt.Tx) error {
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

func holtBeginRollback(b *testing.B) {
	db := holtOpen(b)
	defer measure(b)()
	for b.Loop() {
		tx, err := db.Begin(false)
		check(b, err)
		check(b, tx.Rollback())
	}
}

func holtBeginRollbackPar2(b *testing.B) {
	db := holtOpen(b)
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

func holtViewGet(b *testing.B) {
	db, key := holtOpen(b), make([]byte, 8)
	defer measure(b)()
	for i := 0; b.Loop(); i++ {
		setKey(key, scattered(i))
		check(b, db.View(func(tx *holt.Tx) error {
			if tx.Bucket(name).Get(key) == nil {
				b.Fatal("missing")
			}
			return nil
		}))
	}
}

func holtLargeGet(b *testing.B) {
	db, key := holtOpen(b), []byte("large")
	check(b, db.Update(func(tx *holt.Tx) error { return tx.Bucket(name).Put(key, make([]byte, 1<<20)) }))
	check(b, db.View(func(tx *holt.Tx) error {
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

// holtRandGet finds keys of n at random, in some goroutines.
func holtRandGet(b *testing.B, n, goroutines int) {
	path := seedFile(b, fmt.Sprintf("holt-%d.db", n), func(path string) {
		db := holtCreate(b, path)
		holtLoad(b, db, n, func(i int) int { return i })
		check(b, db.Close())
	})
	db := holtCreate(b, path)
	b.Cleanup(func() { check(b, db.Close()) })
	check(b, db.View(func(tx *holt.Tx) error { // so that no page is read for the first time below
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
		check(b, db.View(func(tx *holt.Tx) error {
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

func holtOpenFile(b *testing.B, path string, unsaved bool, puts int) {
	options := &holt.Options{
		NoSync: true, NoGrowSync: true, NoFreelistSync: unsaved, FreelistType: holt.FreelistMapType,
	}
	key := make([]byte, 8)
	defer measure(b)()
	for i := 0; b.Loop(); i++ {
		db, err := holt.Open(path, 0o600, options)
		check(b, err)
		for range puts {
			setKey(key, scattered(i))
			check(b, db.Update(func(tx *holt.Tx) error { return tx.Bucket(name).Put(key, value) }))
		}
		check(b, db.Close())
	}
}

func holtCursorPut(b *testing.B) {
	check(b, holtOpen(b).Update(func(tx *holt.Tx) error {
		bucket, key := tx.Bucket(name), make([]byte, 8)
		defer measure(b)()
		for i := 0; b.Loop(); i++ {
			setKey(key, scattered(i))
			check(b, bucket.Put(key, value))
		}
		return nil
	}))
}

func holtPut(b *testing.B) {
	db, key := holtOpen(b), make([]byte, 8)
	before := db.Stats()
	stop := measure(b)
	for i := 0; b.Loop(); i++ {
		setKey(key, scattered(i))
		check(b, db.Update(func(tx *holt.Tx) error { return tx.Bucket(name).Put(key, value) }))
	}
	stop()
	after := db.Stats()
	done := after.Sub(&before).TxStats
	b.ReportMetric(float64(done.GetWrite())/float64(b.N), "writes/op")
	b.ReportMetric(float64(done.GetPageAlloc())/float64(b.N), "written-B/op")
}

func holtBulk(b *testing.B, order func(i int) int) {
	path, size := b.TempDir()+"/bulk.db", int64(0)
	stop := measure(b)
	for b.Loop() {
		db := holtCreate(b, path)
		holtLoad(b, db, keys, order)
		check(b, db.View(func(tx *holt.Tx) error {
			size = tx.Size()
			return nil
		}))
		check(b, db.Close())
		check(b, os.Remove(path))
	}
	stop()
	b.ReportMetric(float64(size)/keys, "file-B/key")
}
