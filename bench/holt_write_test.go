// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	holt "github.com/holtdb/holt/kv"
)

var holtWrites = writeShapes{
	bulk: holtBulk1M, put: holtPutInto, batch: holtBatch, overwrite: holtOverwrite,
	overwriteReader: holtOverwriteReader, largePut: holtLargePut, peak: holtPeak, compact: holtCompact,
}

// holtFile opens a copy of a file.
func holtFile(b *testing.B, m mode) *holt.DB {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bench.db")
	if m.seed != "" {
		copyFile(b, path, m.seed)
	}
	o := &holt.Options{NoSync: !m.durable, NoGrowSync: !m.durable, NoFreelistSync: m.unsaved, FreelistType: holt.FreelistArrayType}
	if m.hashmap {
		o.FreelistType = holt.FreelistMapType
	}
	if m.reader {
		o.InitialMmapSize = readerMap
	}
	adjust(o, m)
	db, err := holt.Open(path, 0o600, o)
	check(b, err)
	b.Cleanup(func() { check(b, db.Close()) })
	return db
}

func holtBulk1M(b *testing.B, order func(i int) int) {
	path, size := b.TempDir()+"/bulk.db", int64(0)
	stop := measure(b)
	for b.Loop() {
		db := holtCreate(b, path)
		holtFill(b, db, order)
		check(b, db.View(func(tx *holt.Tx) error {
			size = tx.Size()
			return nil
		}))
		check(b, db.Close())
		check(b, os.Remove(path))
	}
	stop()
	reportLive(b, size)
}

// holtFill puts a million keys in an order.
func holtFill(b *testing.B, db *holt.DB, order func(i int) int) {
	b.Helper()
	key := make([]byte, 8)
	for first := 0; first < million; first += perTx {
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

// holtPutInto puts one key in a transaction.
func holtPutInto(b *testing.B, m mode) {
	db, key, i := holtFile(b, m), make([]byte, 8), 0
	put := func() {
		setKey(key, farApart(i, m.keys))
		i++
		check(b, db.Update(func(tx *holt.Tx) error { return tx.Bucket(name).Put(key, value) }))
	}
	put() // whatever the first one has to do
	if m.reader {
		reader, err := db.Begin(false)
		check(b, err)
		defer func() { check(b, reader.Rollback()) }()
	}
	before := db.Stats()
	stop := measure(b)
	for b.Loop() {
		put()
	}
	stop()
	after := db.Stats()
	done := after.Sub(&before).TxStats
	b.ReportMetric(float64(done.GetWrite())/float64(b.N), "writes/op")
	b.ReportMetric(float64(done.GetPageAlloc())/float64(b.N), "written-B/op")
}

// holtBatch puts keys from many goroutines.
func holtBatch(b *testing.B, m mode, goroutines int) {
	db := holtFile(b, m)
	b.SetParallelism((goroutines + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
	var next counter
	stop := measure(b)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		key := make([]byte, 8)
		for pb.Next() {
			setKey(key, farApart(next.add(), m.keys))
			if err := db.Batch(func(tx *holt.Tx) error { return tx.Bucket(name).Put(key, value) }); err != nil {
				b.Error(err)
			}
		}
	})
	stop()
}

// holtOverwriteOnce puts over keys of which hardly any two are in one page.
func holtOverwriteOnce(b *testing.B, db *holt.DB, m mode, from int) {
	key := make([]byte, 8)
	check(b, db.Update(func(tx *holt.Tx) error {
		bucket := tx.Bucket(name)
		for i := range perOverwrite {
			setKey(key, farApart(from+i, m.keys))
			check(b, bucket.Put(key, value))
		}
		return nil
	}))
}

func holtOverwrite(b *testing.B, m mode) {
	db, i := holtFile(b, m), 0
	once := func() {
		holtOverwriteOnce(b, db, m, i)
		i += perOverwrite
	}
	for range 20 {
		once()
	}
	stop := measure(b)
	for b.Loop() {
		once()
	}
	stop()
}

// holtOverwriteReader measures commits under a reader that is some of them old already.
func holtOverwriteReader(b *testing.B, m mode, age int) {
	db, i := holtFile(b, m), 0
	once := func() {
		holtOverwriteOnce(b, db, m, i)
		i += perOverwrite
	}
	reader, err := db.Begin(false)
	check(b, err)
	for range age {
		once()
	}
	stop := measure(b)
	for b.Loop() {
		once()
	}
	stop()
	check(b, db.View(func(tx *holt.Tx) error {
		b.ReportMetric(float64(tx.Size())/1e6, "file-MB")
		return nil
	}))
	check(b, reader.Rollback())
}

func holtLargePut(b *testing.B, m mode) {
	db, large := holtFile(b, m), make([]byte, 1<<20)
	put := func() {
		check(b, db.Update(func(tx *holt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists(name)
			check(b, err)
			return bucket.Put(name, large)
		}))
	}
	for range 20 {
		put()
	}
	stop := measure(b)
	for b.Loop() {
		put()
	}
	stop()
}

// holtPeak measures the memory of one commit that puts over all keys.
func holtPeak(b *testing.B, m mode, order func(i int) int) {
	for b.Loop() {
		db := holtFile(b, m)
		peak := watchMemory(b)
		check(b, db.Update(func(tx *holt.Tx) error {
			bucket, key := tx.Bucket(name), make([]byte, 8)
			for i := range m.keys {
				setKey(key, order(i))
				check(b, bucket.Put(key, value))
			}
			return nil
		}))
		peak()
	}
}

func holtCompact(b *testing.B, m mode) {
	src, path, size := holtFile(b, m), b.TempDir()+"/compact.db", int64(0)
	stop := measure(b)
	for b.Loop() {
		dst := holtCreate(b, path)
		check(b, holt.Compact(dst, src, compactTx))
		check(b, dst.View(func(tx *holt.Tx) error {
			size = tx.Size()
			return nil
		}))
		check(b, dst.Close())
		check(b, os.Remove(path))
	}
	stop()
	reportLive(b, size)
}
