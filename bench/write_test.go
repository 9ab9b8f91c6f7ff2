// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	holt "github.com/holtdb/holt/kv"
)

const (
	million      = 1_000_000
	perOverwrite = 200
	fragments    = 12_000  // pages that are free, here and there
	manyPages    = 214_000 // that are free, of a file of 1.1 GB
	readerAge    = 500     // commits
	compactTx    = 1 << 16 // bytes of keys and values that a compaction puts in one transaction, as the commands do
	readerMap    = 4 << 30 // bytes: bbolt waits for readers when it needs a larger mapping
	goroutines   = 64
)

// mode is how a database is opened.
type mode struct {
	seed    string // the file to begin with, empty for a new one
	keys    int    // in it
	durable bool
	hashmap bool
	unsaved bool // without the free list
	reader  bool // is open all the while
	single  bool // with one sync for a commit, if the engine can do that
}

// adjust sets what only one engine has.
func adjust(options any, m mode) {
	if o, ok := options.(*holt.Options); ok {
		o.SingleSync = m.single
	}
}

// writeShapes are the benchmarks of one engine that write more than those of shapes, or durably.
type writeShapes struct {
	bulk            func(b *testing.B, order func(i int) int)
	put             func(b *testing.B, m mode)
	batch           func(b *testing.B, m mode, goroutines int)
	overwrite       func(b *testing.B, m mode)
	overwriteReader func(b *testing.B, m mode, age int)
	largePut        func(b *testing.B, m mode)
	peak            func(b *testing.B, m mode, order func(i int) int)
	compact         func(b *testing.B, m mode)
}

// both runs a shape on both engines.
func both(b *testing.B, shape func(b *testing.B, s writeShapes)) {
	b.Run("engine=bbolt", func(b *testing.B) { shape(b, bboltWrites) })
	b.Run("engine=holt", func(b *testing.B) { shape(b, holtWrites) })
}

// durably runs a shape on both engines, and with commits of a single sync on the one that has them.
func durably(b *testing.B, m mode, shape func(b *testing.B, s writeShapes, m mode)) {
	m.durable = true
	both(b, func(b *testing.B, s writeShapes) { shape(b, s, m) })
	m.single = true
	b.Run("engine=holt-single", func(b *testing.B) { shape(b, holtWrites, m) })
}

// BulkSeq1M and BulkRand1M load a million keys into a new database.
func BenchmarkBulkSeq1M(b *testing.B) {
	both(b, func(b *testing.B, s writeShapes) { s.bulk(b, func(i int) int { return i }) })
}

func BenchmarkBulkRand1M(b *testing.B) {
	both(b, func(b *testing.B, s writeShapes) { s.bulk(b, shuffled()) })
}

// PutDurable is a transaction of one Put that is on the disk when it ends.
func BenchmarkPutDurable(b *testing.B) {
	m := mode{seed: seedLoaded(b), keys: million}
	durably(b, m, func(b *testing.B, s writeShapes, m mode) { s.put(b, m) })
}

// PutDurableFragmented is the same in a file whose free pages lie here and there.
func BenchmarkPutDurableFragmented(b *testing.B) {
	m := mode{seed: seedFragmented(b), keys: million, hashmap: true}
	durably(b, m, func(b *testing.B, s writeShapes, m mode) { s.put(b, m) })
}

// PutDurableNoFreelistSync is PutDurable without a free list in the file.
func BenchmarkPutDurableNoFreelistSync(b *testing.B) {
	m := mode{seed: seedLoaded(b), keys: million, unsaved: true}
	durably(b, m, func(b *testing.B, s writeShapes, m mode) { s.put(b, m) })
}

// PutReader is a transaction of one Put while a reader is open that began before all of them.
func BenchmarkPutReader(b *testing.B) {
	m := mode{seed: seedKeys(b), keys: keys, hashmap: true, reader: true}
	both(b, func(b *testing.B, s writeShapes) { s.put(b, m) })
}

// Batch64 puts keys from 64 goroutines at a time, durably.
func BenchmarkBatch64(b *testing.B) {
	m := mode{seed: seedLoaded(b), keys: million}
	durably(b, m, func(b *testing.B, s writeShapes, m mode) { s.batch(b, m, goroutines) })
}

// Overwrite is a transaction that puts over 200 keys far apart from each other.
func BenchmarkOverwrite(b *testing.B) {
	m := mode{seed: seedLoaded(b), keys: million, hashmap: true}
	both(b, func(b *testing.B, s writeShapes) { s.overwrite(b, m) })
}

// OverwriteReader is the same while a reader is open that began 500 of them before.
func BenchmarkOverwriteReader(b *testing.B) {
	m := mode{seed: seedLoaded(b), keys: million, hashmap: true, reader: true}
	both(b, func(b *testing.B, s writeShapes) { s.overwriteReader(b, m, readerAge) })
}

// PutBigFreelist is a transaction of one Put in a file of 200 000 free pages.
func BenchmarkPutBigFreelist(b *testing.B) {
	for _, list := range []struct {
		name    string
		hashmap bool
	}{{"list=array", false}, {"list=hashmap", true}} {
		b.Run(list.name, func(b *testing.B) {
			m := mode{seed: seedFreePages(b, false), keys: million, hashmap: list.hashmap}
			both(b, func(b *testing.B, s writeShapes) { s.put(b, m) })
		})
	}
}

// LargePut is a transaction that puts a value of 1 MiB over another.
func BenchmarkLargePut(b *testing.B) {
	both(b, func(b *testing.B, s writeShapes) { s.largePut(b, mode{}) })
}

// PeakRand1M reports the memory of one transaction that puts over a million keys at random.
func BenchmarkPeakRand1M(b *testing.B) {
	m := mode{seed: seedLoaded(b), keys: million}
	both(b, func(b *testing.B, s writeShapes) { s.peak(b, m, shuffled()) })
}

// Compact copies a database of a million keys into a new one.
func BenchmarkCompact(b *testing.B) {
	m := mode{seed: seedLoaded(b), keys: million}
	both(b, func(b *testing.B, s writeShapes) { s.compact(b, m) })
}

func shuffled() func(i int) int {
	perm := rand.New(rand.NewPCG(1, 2)).Perm(million)
	return func(i int) int { return perm[i] }
}

// farApart is the i-th index of a walk that visits n keys, far apart from each other. 618_029 is prime.
func farApart(i, n int) int { return int(int64(i) * 618_029 % int64(n)) }

// The files to begin with are written by bbolt, so that both engines find the same. They are kept until the end.
func seedLoaded(b *testing.B) string {
	return seedFile(b, "loaded.db", func(path string) {
		db := bboltCreate(b, path)
		bboltFill(b, db, func(i int) int { return i })
		check(b, db.Sync())
		check(b, db.Close())
	})
}

func seedKeys(b *testing.B) string {
	return seedFile(b, "keys.db", func(path string) {
		db := bboltCreate(b, path)
		bboltLoad(b, db, keys, func(i int) int { return i })
		check(b, db.Sync())
		check(b, db.Close())
	})
}

// counter hands out numbers.
type counter struct{ n atomic.Int64 }

func (c *counter) add() int { return int(c.n.Add(1)) }

// watchMemory looks at the heap until the function that it returns is called, which reports the most that was seen
// beyond what was there at the start.
func watchMemory(b *testing.B) (stop func()) {
	heap := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	runtime.GC()
	start, most := heap(), uint64(0)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			most = max(most, heap())
			select {
			case <-quit:
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(quit)
		<-done
		b.ReportMetric(float64(most-start)/1e6, "peak-MB")
	}
}
