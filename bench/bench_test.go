// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

const (
	keys      = 100_000 // of 8 bytes, in bucket "bench"
	valueSize = 32
	perTx     = 10_000 // keys that a bulk load puts in one transaction
	childKeys = 1000   // in bucket "child" of that
)

var (
	name   = []byte("bench")
	nested = []byte("child")
	value  = make([]byte, valueSize)
)

// shapes are the benchmarks of one engine.
type shapes struct {
	get, cursorGet, cursorSeek, seekNew, cursorScan, nestedGet, beginRollback func(*testing.B)
	cursorPut, put                                                            func(*testing.B)
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

// BeginRollback is an empty read transaction.
func BenchmarkBeginRollback(b *testing.B) {
	each(b, func(s shapes) func(*testing.B) { return s.beginRollback })
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

// measure is to be called right before a loop, and what it returns right after: it reports the processor time of the
// whole program per operation, that of the garbage collector included.
func measure(b *testing.B) (stop func()) {
	b.ReportAllocs()
	start, ok := cpuTime()
	return func() {
		if end, _ := cpuTime(); ok {
			b.ReportMetric(float64((end-start).Nanoseconds())/float64(b.N), "cpu-ns/op")
		}
	}
}

var update = flag.Bool("update", false, "write the files of bbolt anew")

// TestShapesAreTheSame demands that the files of bbolt are those of holt for the other engine. Written with interfaces or
// type parameters, the shapes would be one text but measure calls that no program makes.
func TestShapesAreTheSame(t *testing.T) {
	for _, file := range []string{"_test.go", "_write_test.go"} {
		sameShapes(t, "holt"+file, "bbolt"+file)
	}
}

func sameShapes(t *testing.T, ours, theirs string) {
	source, err := os.ReadFile(ours)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(
		"package bench\n", "// Code generated from "+ours+" by go test -update; DO NOT EDIT.\n\npackage bench\n",
		"github.com/holtdb/holt/kv", "go.etcd.io/bbolt",
		"holt", "bbolt",
	).Replace(string(source))
	if *update {
		if err := os.WriteFile(theirs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(theirs)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("%s is not what go test -update makes of %s", theirs, ours)
	}
}
