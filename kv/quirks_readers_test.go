// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// The tests of this file would not end if a reader waited for a writer or a writer for a reader: each does everything in
// one goroutine.

// snapshotReader is a read transaction with what it sees, some of it read before the file grew.
type snapshotReader struct {
	tx    *kv.Tx
	n     int    // buckets
	value []byte // in the mapping of that time
}

func beginSnapshot(t *testing.T, db *kv.DB, n int) snapshotReader {
	t.Helper()
	tx, err := db.Begin(false)
	must(t, err)
	s := snapshotReader{tx: tx, n: n}
	if n > 0 {
		s.value = tx.Bucket([]byte("b0")).Get(numbered(7))
	}
	return s
}

// end demands that the reader has gone on seeing the same.
func (s snapshotReader) end(t *testing.T) {
	t.Helper()
	if got := len(keysOf(s.tx.Cursor().Bucket())); got != s.n {
		t.Errorf("a reader sees %d buckets, want %d", got, s.n)
	}
	for i := range s.n {
		if got := len(keysOf(s.tx.Bucket(fmt.Appendf(nil, "b%d", i)))); got != 100<<i {
			t.Errorf("bucket %d has %d keys, want %d", i, got, 100<<i)
		}
	}
	if s.n > 0 && len(s.value) != 50 {
		t.Errorf("a value has %d bytes", len(s.value))
	}
	for _, b := range s.value { // faults if the mapping is gone
		if b != 0 {
			t.Error("a value has changed")
		}
	}
	must(t, s.tx.Rollback())
}

// TestWriterDoesNotWaitForReaders makes the file outgrow its mapping again and again with a reader of each state open.
// Old mappings stay as long as they have readers, and go away with the last.
func TestWriterDoesNotWaitForReaders(t *testing.T) {
	const states = 8
	for seed := range uint64(5) {
		mapped := 0
		faulty := file.NewFault(file.OS)
		faulty.FailIf(func(op file.Op) error {
			switch op.Kind {
			case file.OpMap:
				mapped++
			case file.OpUnmap:
				mapped--
			}
			return nil
		})
		db, err := kv.OpenFS(faulty, t.TempDir()+"/grows.db", 0o600, &kv.Options{PageSize: 4096, NoSync: true})
		must(t, err)
		readers := []snapshotReader{beginSnapshot(t, db, 0)}
		for i := range states {
			must(t, db.Update(putNumbered(fmt.Sprint("b", i), 100<<i, 50)))
			readers = append(readers, beginSnapshot(t, db, i+1), beginSnapshot(t, db, i+1))
		}
		if mapped < 5 {
			t.Errorf("only %d mappings: the file was not mapped anew often enough", mapped)
		}
		for _, i := range rand.New(rand.NewPCG(seed, 224)).Perm(len(readers)) {
			readers[i].end(t)
		}
		if mapped != 1 {
			t.Errorf("%d mappings once all readers have ended, want 1", mapped)
		}
		checkClean(t, db)
		must(t, db.Close())
		if mapped != 0 {
			t.Errorf("%d mappings are left of a closed database", mapped)
		}
	}
}

// TestReadersDoNotWaitForTheWriter reads at every call that a growing commit makes: outside of a transaction, inside an
// older one, and inside the write transaction itself.
func TestReadersDoNotWaitForTheWriter(t *testing.T) {
	faulty := file.NewFault(file.NewMemory())
	db := mustOpenSim(t, faulty, kv.Options{PageSize: 1024})
	must(t, db.Update(putNumbered("b", 100, 8)))
	outer, err := db.Begin(false)
	must(t, err)
	reads, committed := 0, false
	read := func() {
		reads++
		must(t, db.View(func(tx *kv.Tx) error {
			return db.View(func(inner *kv.Tx) error {
				for _, tx := range []*kv.Tx{outer, tx, inner} {
					if got := len(keysOf(tx.Bucket([]byte("b")))); got != 100 && tx == outer {
						t.Errorf("a reader of before sees %d keys", got)
					} else if got != 100 && got != 3000 {
						t.Errorf("a reader sees %d keys of a commit that is going on", got)
					}
				}
				return nil
			})
		}))
	}
	must(t, db.Update(func(tx *kv.Tx) error {
		must(t, putNumbered("b", 3000, 40)(tx))
		read()
		faulty.FailIf(func(file.Op) error { read(); return nil })
		tx.OnCommit(func() { committed = true; read() })
		return nil
	}))
	faulty.FailIf(nil)
	if reads < 8 || !committed {
		t.Errorf("%d reads during the commit", reads)
	}
	must(t, outer.Rollback())
	checkClean(t, db)
	must(t, db.Close())
}
