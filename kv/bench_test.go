// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// The shapes are those that bbolt's own benchmarks of its hot paths have: 100000 keys of 8 bytes with values of 32.
// Package bench runs them on both engines.
const (
	benchKeys = 100_000
	benchTx   = 10_000 // keys that a bulk load puts in one transaction
)

var (
	benchName  = []byte("bench")
	benchChild = []byte("child")
	benchValue = make([]byte, 32)
)

// setBenchKey makes key the i-th of the keys.
func setBenchKey(key []byte, i int) { binary.BigEndian.PutUint64(key, uint64(i)) }

// scattered is the i-th index of a walk that visits all keys, far apart from each other.
func scattered(i int) int { return i % benchKeys * 61_813 % benchKeys }

// openBench opens a database with the keys in bucket "bench", and in "child" of it 1000 of them.
func openBench(b *testing.B, o kv.Options) *kv.DB {
	b.Helper()
	o.NoSync, o.NoGrowSync = true, true
	db, err := kv.Open(b.TempDir()+"/bench.db", 0o600, &o)
	must(b, err)
	b.Cleanup(func() { must(b, db.Close()) })
	loadBench(b, db, func(i int) int { return i })
	must(b, db.Update(func(tx *kv.Tx) error {
		child, err := tx.Bucket(benchName).CreateBucket(benchChild)
		must(b, err)
		key := make([]byte, 8)
		for i := range 1000 {
			setBenchKey(key, i)
			must(b, child.Put(key, benchValue))
		}
		return nil
	}))
	return db
}

// loadBench puts all keys in an order, benchTx in a transaction.
func loadBench(b *testing.B, db *kv.DB, order func(i int) int) {
	b.Helper()
	key := make([]byte, 8)
	for first := 0; first < benchKeys; first += benchTx {
		must(b, db.Update(func(tx *kv.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists(benchName)
			must(b, err)
			for i := first; i < first+benchTx; i++ {
				setBenchKey(key, order(i))
				must(b, bucket.Put(key, benchValue))
			}
			return nil
		}))
	}
}

// inView runs a benchmark on the bucket in a read transaction.
func inView(b *testing.B, run func(bucket *kv.Bucket)) {
	b.Helper()
	must(b, openBench(b, kv.Options{}).View(func(tx *kv.Tx) error {
		b.ReportAllocs()
		run(tx.Bucket(benchName))
		return nil
	}))
}

func BenchmarkGet(b *testing.B) {
	inView(b, func(bucket *kv.Bucket) {
		key := make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			setBenchKey(key, scattered(i))
			if bucket.Get(key) == nil {
				b.Fatal("missing")
			}
		}
	})
}

func BenchmarkGetMissing(b *testing.B) {
	inView(b, func(bucket *kv.Bucket) {
		key := make([]byte, 9) // behind a key, and before the next
		for i := 0; b.Loop(); i++ {
			setBenchKey(key, scattered(i))
			if bucket.Get(key) != nil {
				b.Fatal("found")
			}
		}
	})
}

// BenchmarkCursorGet is bbolt's name for Get over all keys in turn.
func BenchmarkCursorGet(b *testing.B) {
	inView(b, func(bucket *kv.Bucket) {
		key := make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			setBenchKey(key, i%benchKeys)
			if bucket.Get(key) == nil {
				b.Fatal("missing")
			}
		}
	})
}

func BenchmarkCursorSeek(b *testing.B) {
	inView(b, func(bucket *kv.Bucket) {
		key, c := make([]byte, 8), bucket.Cursor()
		for i := 0; b.Loop(); i++ {
			setBenchKey(key, scattered(i))
			if k, _ := c.Seek(key); k == nil {
				b.Fatal("missing")
			}
		}
	})
}

func BenchmarkSeekNew(b *testing.B) {
	inView(b, func(bucket *kv.Bucket) {
		key := make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			setBenchKey(key, scattered(i))
			if k, _ := bucket.Cursor().Seek(key); k == nil {
				b.Fatal("missing")
			}
		}
	})
}

// BenchmarkCursorScan visits all keys once per operation.
func BenchmarkCursorScan(b *testing.B) {
	inView(b, func(bucket *kv.Bucket) {
		for b.Loop() {
			n, c := 0, bucket.Cursor()
			for k, _ := c.First(); k != nil; k, _ = c.Next() {
				n++
			}
			if n != benchKeys+1 {
				b.Fatal(n)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchKeys), "ns/key")
	})
}

func BenchmarkAll(b *testing.B) {
	inView(b, func(bucket *kv.Bucket) {
		for b.Loop() {
			n := 0
			for range bucket.All() {
				n++
			}
			if n != benchKeys+1 {
				b.Fatal(n)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchKeys), "ns/key")
	})
}

func BenchmarkNestedGet(b *testing.B) {
	must(b, openBench(b, kv.Options{}).View(func(tx *kv.Tx) error {
		b.ReportAllocs()
		key := make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			setBenchKey(key, i%1000)
			if tx.Bucket(benchName).Bucket(benchChild).Get(key) == nil {
				b.Fatal("missing")
			}
		}
		return nil
	}))
}

func BenchmarkBeginRollback(b *testing.B) {
	db := openBench(b, kv.Options{})
	b.ReportAllocs()
	for b.Loop() {
		tx, err := db.Begin(false)
		must(b, err)
		must(b, tx.Rollback())
	}
}

func BenchmarkBeginRollbackParallel(b *testing.B) {
	db := openBench(b, kv.Options{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			tx, err := db.Begin(false)
			if err == nil {
				err = tx.Rollback()
			}
			if err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkCursorPut puts over existing keys in one transaction.
func BenchmarkCursorPut(b *testing.B) {
	must(b, openBench(b, kv.Options{}).Update(func(tx *kv.Tx) error {
		b.ReportAllocs()
		bucket, key := tx.Bucket(benchName), make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			setBenchKey(key, scattered(i))
			must(b, bucket.Put(key, benchValue))
		}
		return nil
	}))
}

// BenchmarkNodeGet looks keys up in a write transaction that has changed all leaves: it searches nodes, not pages.
func BenchmarkNodeGet(b *testing.B) {
	must(b, openBench(b, kv.Options{}).Update(func(tx *kv.Tx) error {
		bucket, key := tx.Bucket(benchName), make([]byte, 8)
		for i := range benchKeys {
			setBenchKey(key, i)
			must(b, bucket.Put(key, benchValue))
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			setBenchKey(key, scattered(i))
			if bucket.Get(key) == nil {
				b.Fatal("missing")
			}
		}
		return nil
	}))
}

// BenchmarkPut commits after each key.
func BenchmarkPut(b *testing.B) {
	db := openBench(b, kv.Options{})
	b.ReportAllocs()
	key := make([]byte, 8)
	for i := 0; b.Loop(); i++ {
		setBenchKey(key, scattered(i))
		must(b, db.Update(func(tx *kv.Tx) error { return tx.Bucket(benchName).Put(key, benchValue) }))
	}
}

// BenchmarkPutCalls does the same in memory and with syncs, to count what would go to the disk.
func BenchmarkPutCalls(b *testing.B) {
	disk := file.NewMemory()
	db := mustOpenSim(b, disk, kv.Options{PageSize: 4096})
	loadBench(b, db, func(i int) int { return i })
	before, key := disk.Counts(), make([]byte, 8)
	for i := 0; b.Loop(); i++ {
		setBenchKey(key, scattered(i))
		must(b, db.Update(func(tx *kv.Tx) error { return tx.Bucket(benchName).Put(key, benchValue) }))
	}
	after, n := disk.Counts(), float64(b.N)
	b.ReportMetric(float64(after.Writes-before.Writes)/n, "writes/op")
	syncs := func(c file.Counts) int { return c.DataSyncs + c.Throughs + c.Syncs }
	b.ReportMetric(float64(syncs(after)-syncs(before))/n, "syncs/op")
	b.ReportMetric(float64(after.WriteBytes-before.WriteBytes)/n, "written-B/op")
	must(b, db.Close())
}

func BenchmarkBulkSeq(b *testing.B) { benchBulk(b, func(i int) int { return i }) }

func BenchmarkBulkRand(b *testing.B) {
	perm := rand.New(rand.NewPCG(1, 2)).Perm(benchKeys)
	benchBulk(b, func(i int) int { return perm[i] })
}

// benchBulk loads all keys into a new database per operation.
func benchBulk(b *testing.B, order func(i int) int) {
	b.Helper()
	path, size := b.TempDir()+"/bulk.db", int64(0)
	b.ReportAllocs()
	for b.Loop() {
		db, err := kv.Open(path, 0o600, &kv.Options{NoSync: true, NoGrowSync: true})
		must(b, err)
		loadBench(b, db, order)
		must(b, db.View(func(tx *kv.Tx) error { size = tx.Size(); return nil }))
		must(b, db.Close())
		must(b, os.Remove(path))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchKeys), "ns/key")
	b.ReportMetric(float64(size)/benchKeys, "file-B/key")
}
