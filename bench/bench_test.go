// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/holtdb/holt/bench/internal/cputime"
	"github.com/holtdb/holt/bench/internal/twin"
)

const (
	keys      = 100_000 // of 8 bytes, in bucket "bench"
	valueSize = 32
	perTx     = 10_000 // keys that a bulk load puts in one transaction
	childKeys = 1000   // in bucket "child" of that

	inlineBuckets = 10_000 // in bucket "bench" of a database of their own
	inlineKeys    = 10     // in each of them
)

var (
	name   = []byte("bench")
	nested = []byte("child")
	value  = make([]byte, valueSize)
)

// shapes are the benchmarks of one engine.
type shapes struct {
	get, cursorGet, cursorSeek, seekNew, cursorScan, nestedGet, beginRollback func(*testing.B)
	viewGet, beginRollbackPar2, largeGet                                      func(*testing.B)
	cursorPut, put                                                            func(*testing.B)
	nestedGetInline, nestedFill                                               func(*testing.B)
	randGet                                                                   func(b *testing.B, n, goroutines int)
	open                                                                      func(b *testing.B, path string, unsaved bool, puts int)
	bulk                                                                      func(b *testing.B, order func(i int) int)
}

// each runs a shape on both engines, so that benchstat -col /engine puts them side by side.
func each(b *testing.B, shape func(s shapes) func(*testing.B)) {
	b.Run("engine=bbolt", shape(bboltShapes))
	b.Run("engine=holt", shape(holtShapes))
}

// Get finds keys far apart from each other, CursorGet all keys in turn.
func BenchmarkGet(b *testing.B) { each(b, func(s shapes) func(*testing.B) { return s.get }) }

func BenchmarkCursorGet(b *testing.B) {
	each(b, func(s shapes) func(*testing.B) { return s.cursorGet })
}

// CursorSeek moves one cursor, SeekNew a new one each time.
func BenchmarkCursorSeek(b *testing.B) {
	each(b, func(s shapes) func(*testing.B) { return s.cursorSeek })
}

func BenchmarkSeekNew(b *testing.B) { each(b, func(s shapes) func(*testing.B) { return s.seekNew }) }

// CursorScan visits all keys.
func BenchmarkCursorScan(b *testing.B) {
	each(b, func(s shapes) func(*testing.B) { return s.cursorScan })
}

// NestedGet opens a bucket in a bucket and finds a key there.
func BenchmarkNestedGet(b *testing.B) {
	each(b, func(s shapes) func(*testing.B) { return s.nestedGet })
}

// NestedGetInline does so in a bucket so small that its parent has it in itself.
func BenchmarkNestedGetInline(b *testing.B) {
	each(b, func(s shapes) func(*testing.B) { return s.nestedGetInline })
}

// NestedFill makes 10 000 buckets of ten keys in one transaction.
func BenchmarkNestedFill(b *testing.B) {
	each(b, func(s shapes) func(*testing.B) { return s.nestedFill })
}

// BeginRollback is an empty read transaction.
func BenchmarkBeginRollback(b *testing.B) {
	each(b, func(s shapes) func(*testing.B) { return s.beginRollback })
}

// BeginRollbackPar2 has two goroutines begin and end read transactions at once.
func BenchmarkBeginRollbackPar2(b *testing.B) {
	each(b, func(s shapes) func(*testing.B) { return s.beginRollbackPar2 })
}

// ViewGet finds a key in a transaction of its own.
func BenchmarkViewGet(b *testing.B) { each(b, func(s shapes) func(*testing.B) { return s.viewGet }) }

// LargeGet finds a value of 1 MiB and reads a byte of each of its pages.
func BenchmarkLargeGet(b *testing.B) { each(b, func(s shapes) func(*testing.B) { return s.largeGet }) }

// RandGet1M and RandGet10M are Get in larger databases, which take some time to make, in one goroutine and in two.
func BenchmarkRandGet1M(b *testing.B)      { randGet(b, 1_000_000, 1) }
func BenchmarkRandGet1MPar2(b *testing.B)  { randGet(b, 1_000_000, 2) }
func BenchmarkRandGet10M(b *testing.B)     { randGet(b, 10_000_000, 1) }
func BenchmarkRandGet10MPar2(b *testing.B) { randGet(b, 10_000_000, 2) }

func randGet(b *testing.B, n, goroutines int) {
	each(b, func(s shapes) func(*testing.B) { return func(b *testing.B) { s.randGet(b, n, goroutines) } })
}

// OpenSaved and OpenUnsaved open and close a file of 1.1 GB, most of which is free, with and without a stored free list. Both
// engines open the same.
func BenchmarkOpenSaved(b *testing.B) {
	each(b, func(s shapes) func(*testing.B) {
		return func(b *testing.B) { s.open(b, seedFreePages(b, false), false, 0) }
	})
}

func BenchmarkOpenUnsaved(b *testing.B) {
	each(b, func(s shapes) func(*testing.B) {
		return func(b *testing.B) { s.open(b, seedFreePages(b, true), true, 0) }
	})
}

// OpenUnsavedPut also makes a transaction of one Put before it closes the file, a copy.
func BenchmarkOpenUnsavedPut(b *testing.B) {
	each(b, func(s shapes) func(*testing.B) {
		return func(b *testing.B) {
			path := b.TempDir() + "/copy.db"
			copyFile(b, path, seedFreePages(b, true))
			s.open(b, path, true, 1)
		}
	})
}

// CursorPut puts over existing keys in one transaction, Put in one each.
func BenchmarkCursorPut(b *testing.B) {
	each(b, func(s shapes) func(*testing.B) { return s.cursorPut })
}
func BenchmarkPut(b *testing.B) { each(b, func(s shapes) func(*testing.B) { return s.put }) }

// BulkSeq and BulkRand load all keys into a new database.
func BenchmarkBulkSeq(b *testing.B) { bulk(b, func(i int) int { return i }) }

func BenchmarkBulkRand(b *testing.B) {
	perm := rand.New(rand.NewPCG(1, 2)).Perm(keys)
	bulk(b, func(i int) int { return perm[i] })
}

func bulk(b *testing.B, order func(i int) int) {
	each(b, func(s shapes) func(*testing.B) { return func(b *testing.B) { s.bulk(b, order) } })
}

// setKey makes key the i-th of the keys.
func setKey(key []byte, i int) { binary.BigEndian.PutUint64(key, uint64(i)) }

// scattered is the i-th index of a walk that visits all keys, far apart from each other.
func scattered(i int) int { return i % keys * 61_813 % keys }

func check(b *testing.B, err error) {
	if err != nil {
		b.Helper()
		b.Fatal(err)
	}
}

// measure is to be called right before a loop, and what it returns right after.
func measure(b *testing.B) (stop func()) { return cputime.Measure(b) }

func TestShapesAreTheSame(t *testing.T) {
	for _, file := range []string{"_test.go", "_nested_test.go", "_write_test.go"} {
		twin.Check(t, "holt"+file, "bbolt"+file)
	}
}

// reportLive reports the size of a file with a million keys in proportion to its keys and values.
func reportLive(b *testing.B, size int64) {
	b.ReportMetric(float64(size)/million/(8+valueSize), "file/live")
}
