// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"fmt"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/internal/invariant"
	"github.com/holtdb/holt/kv"
)

// allocsKeys make a tree of three levels in pages of 4096 bytes.
const allocsKeys = 50_000

// wantAllocs demands that f, once warm, allocates exactly so often.
func wantAllocs(t *testing.T, what string, want float64, f func()) {
	t.Helper()
	if raceEnabled || invariant.Enabled {
		t.Skip("the race detector and the checks of what is written allocate too")
	}
	if got := testing.AllocsPerRun(30, f); got != want {
		t.Errorf("%s: %v allocations, want %v", what, got, want)
	}
}

// TestReadsDoNotAllocate covers everything that finds something in a read transaction.
func TestReadsDoNotAllocate(t *testing.T) {
	db := openTemp(t, &kv.Options{NoSync: true, PageSize: 4096})
	must(t, db.Update(putNumbered("b", allocsKeys, 32)))
	must(t, db.Update(func(tx *kv.Tx) error {
		inChild("nest", inChild("child", putMany))(t, tx.Cursor().Bucket())
		inChild("nest", inChild("inline", putAll("a=1")))(t, tx.Cursor().Bucket())
		return nil
	}))
	must(t, db.View(func(tx *kv.Tx) error {
		b := tx.Bucket([]byte("b"))
		nested := tx.Bucket([]byte("nest")).Bucket([]byte("child"))
		inline := tx.Bucket([]byte("nest")).Bucket([]byte("inline"))
		if depth := b.Stats().Depth; depth != 3 {
			t.Fatalf("the tree has %d levels", depth)
		}
		key, low, high := numbered(777), []byte("0"), []byte("9")
		reused := b.Cursor()
		for what, f := range map[string]func(){
			"Get":                      func() { b.Get(key) },
			"Get of a missing key":     func() { b.Get(high) },
			"Get in a nested bucket":   func() { nested.Get(numbered0) },
			"Get in an inline bucket":  func() { inline.Get(keyA) },
			"Bucket":                   func() { tx.Bucket(nameB).Get(key) },
			"Bucket, twice, then Get":  func() { tx.Bucket(nameNest).Bucket(nameChild).Get(numbered0) },
			"Bucket that is not there": func() { _ = tx.Bucket(high) == nil },
			"Seek of a reused cursor":  func() { reused.Seek(key) },
			"Seek of a new cursor":     func() { b.Cursor().Seek(key) },
			"First and Last":           func() { c := b.Cursor(); c.First(); c.Last() },
			"SeekForPrev":              func() { b.Cursor().SeekForPrev(high) },
			"Next and Prev": func() {
				c := b.Cursor()
				c.Seek(key)
				for range 1000 {
					c.Next()
				}
				for range 1000 {
					c.Prev()
				}
			},
			"a copied cursor": func() { c := *reused; c.Next() },
			"a scan of everything": func() {
				c, n := b.Cursor(), 0
				for k, _ := c.First(); k != nil; k, _ = c.Next() {
					n++
				}
				if n != allocsKeys {
					t.Errorf("%d keys", n)
				}
			},
			"All": func() {
				for range b.All() {
					continue
				}
			},
			"Backward": func() {
				for range b.Backward() {
					continue
				}
			},
			"Scan": func() {
				for range b.Scan(key, high) {
					continue
				}
			},
			"Prefix": func() {
				for range b.Prefix(low) {
					continue
				}
			},
			"ForEach":       func() { _ = b.ForEach(func(_, _ []byte) error { return nil }) },
			"ForEachBucket": func() { _ = b.ForEachBucket(func([]byte) error { return nil }) },
		} {
			wantAllocs(t, what, 0, f)
		}
		return nil
	}))
}

var (
	numbered0 = numbered(0)
	keyA      = []byte("a")
	nameB     = []byte("b")
	nameNest  = []byte("nest")
	nameChild = []byte("child")
)

// TestReadTransactionAllocations has nothing to count: transactions are allocated many at a time.
func TestReadTransactionAllocations(t *testing.T) {
	db := openTemp(t, nil)
	must(t, db.Update(putNumbered("b", 1000, 32)))
	wantAllocs(t, "Begin and Rollback", 0, func() {
		tx, err := db.Begin(false)
		must(t, err)
		must(t, tx.Rollback())
	})
	nothing := func(*kv.Tx) error { return nil }
	wantAllocs(t, "View", 0, func() { must(t, db.View(nothing)) })
	wantAllocs(t, "View with Bucket and Get", 0, func() {
		must(t, db.View(func(tx *kv.Tx) error {
			tx.Bucket(nameB).Get(numbered0)
			return nil
		}))
	})
}

// TestWriteTransactionAllocations counts what is left once the writer has the memory that it keeps from transaction to
// transaction.
func TestWriteTransactionAllocations(t *testing.T) {
	db := openTemp(t, &kv.Options{NoSync: true, PageSize: 4096})
	must(t, db.Update(putNumbered("b", allocsKeys, 32)))
	value := make([]byte, 32)
	n := 0
	key := make([]byte, 8)
	next := func() []byte {
		n = (n*7919 + 1) % allocsKeys
		setNumbered(key, n)
		return key
	}
	update := func(change func(b *kv.Bucket)) func() {
		return func() {
			tx, err := db.Begin(true)
			must(t, err)
			change(tx.Bucket(nameB))
			must(t, tx.Commit())
		}
	}
	// The transaction with what belongs to it, and the new snapshot.
	const empty = 2
	// The handle of a bucket, what belongs to it, a map for it, its table and its key there.
	const handle = 5
	wantAllocs(t, "an empty commit", empty, func() {
		tx, err := db.Begin(true)
		must(t, err)
		must(t, tx.Commit())
	})
	wantAllocs(t, "a commit of one Put over a key", empty+handle, update(func(b *kv.Bucket) { must(t, b.Put(next(), value)) }))
	wantAllocs(t, "a commit of ten Puts", empty+handle, update(func(b *kv.Bucket) {
		for range 10 {
			must(t, b.Put(next(), value))
		}
	}))
	wantAllocs(t, "a commit with a Delete", empty+handle+1, update(func(b *kv.Bucket) {
		k := next()
		must(t, b.Delete(k)) // the leaf is noted for rebalancing
		must(t, b.Put(k, value))
	}))
	must(t, db.Update(func(tx *kv.Tx) error {
		b := tx.Bucket(nameB)
		for i := range allocsKeys {
			must(t, b.Put(numbered(i), value)) // all leaves become nodes
		}
		wantAllocs(t, "Put over a key in one transaction", 0, func() { must(t, b.Put(next(), value)) })
		wantAllocs(t, "Get in a write transaction", 0, func() { b.Get(next()) })
		wantAllocs(t, "Delete and Put in one transaction", 0, func() {
			k := next()
			must(t, b.Delete(k))
			must(t, b.Put(k, value))
		})
		wantAllocs(t, "Bucket in a write transaction", 0, func() { tx.Bucket(nameB) })
		wantAllocs(t, "Seek in a write transaction", 0, func() { b.Cursor().Seek(next()) })
		wantAllocs(t, "a scan in a write transaction", 0, func() {
			for range b.All() {
				continue
			}
		})
		return nil
	}))
}

// setNumbered makes key what numbered returns.
func setNumbered(key []byte, i int) {
	for at := len(key) - 1; at >= 0; at-- {
		key[at] = byte('0' + i%10)
		i /= 10
	}
}

// TestCommitCalls counts the calls to the system that a commit makes when the file need not grow: the pages are written
// in one piece and made durable, then the meta page, by itself.
func TestCommitCalls(t *testing.T) {
	for _, list := range []kv.Options{{}, {SyncFreelist: true}, {NoFreelistSync: true}, {SingleSync: true}} {
		for _, noSync := range []bool{false, true} {
			o := list
			o.PageSize, o.NoSync = 4096, noSync
			t.Run(o.String(), func(t *testing.T) { commitCalls(t, o) })
		}
	}
}

func commitCalls(t *testing.T, o kv.Options) {
	t.Helper()
	disk := file.NewMemory()
	db := mustOpenSim(t, disk, o)
	must(t, db.Update(putNumbered("b", 10_000, 32)))
	must(t, db.Update(putNumbered("gone", 10_000, 32)))
	must(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("gone")) })) // leaves a long run of free pages
	for i := range 20 {
		before := disk.Counts()
		writes := int64(0)
		must(t, db.Update(func(tx *kv.Tx) error {
			tx.OnCommit(func() { stats := tx.Stats(); writes = stats.GetWrite() })
			return tx.Bucket(nameB).Put(numbered(i*499), []byte("value"))
		}))
		after := disk.Counts()
		want := file.Counts{Writes: 2, Throughs: 1, DataSyncs: 1}
		switch {
		case o.NoSync:
			want.DataSyncs, want.Throughs = 0, 0
		case o.SingleSync:
			want.Throughs = 0
		}
		got := file.Counts{
			Writes: after.Writes - before.Writes, Throughs: after.Throughs - before.Throughs,
			DataSyncs: after.DataSyncs - before.DataSyncs,
			Syncs:     after.Syncs - before.Syncs, Truncates: after.Truncates - before.Truncates,
			DirSyncs: after.DirSyncs - before.DirSyncs, Reads: after.Reads - before.Reads,
		}
		if got != want {
			t.Errorf("commit %d: %+v, want %+v", i, got, want)
		}
		if writes != 2 {
			t.Errorf("commit %d: statistics count %d writes", i, writes)
		}
		most := int64(4) // leaf, branch, root, meta
		if o.SyncFreelist {
			most++
		}
		if pages := (after.WriteBytes - before.WriteBytes) / int64(o.PageSize); pages > most {
			t.Errorf("commit %d wrote %d pages", i, pages)
		}
	}
	checkClean(t, db)
	must(t, db.Close())
}

// TestWritesAhead demands that of many small commits which go on where the file was never written to, few make the file
// system look for places: they find what one of them has written ahead. Nothing is written ahead of a file that grows by
// being written to, nor without syncs, nor beyond the end of the file.
func TestWritesAhead(t *testing.T) {
	for _, o := range []kv.Options{{}, {SingleSync: true}, {NoGrowSync: true}, {NoSync: true}} {
		o.PageSize = 4096
		t.Run(o.String(), func(t *testing.T) {
			disk := file.NewFault(file.NewMemory())
			db := mustOpenSim(t, disk, o)
			must(t, db.Update(putNumbered("b", 10_000, 32)))
			end, ahead := int64(0), 0
			disk.FailIf(func(op file.Op) error {
				if op.Kind == file.OpWriteVec {
					end = max(end, op.Off+op.Len)
					if op.Len > 32*4096 {
						ahead++
					}
				}
				return nil
			})
			before := highWater(t, db)
			for i := range 100 {
				must(t, db.Update(putAllIn(fmt.Sprint("new", i), "k="+string(make([]byte, 4096)))))
			}
			grown := highWater(t, db) - before
			want := grown / 65 // the load has written ahead, too
			if o.NoGrowSync || o.NoSync {
				want = 0
			}
			if grown < 150 || ahead < want || ahead > 2*want {
				t.Errorf("written ahead %d times of %d pages, want %d", ahead, grown, want)
			}
			if size := int64(len(readSim(t, disk, simPath))); end > size {
				t.Errorf("written up to %d of %d bytes", end, size)
			}
			closeClean(t, db)
		})
	}
}

// TestGrowingCommitCalls adds the new size of the file, which is made durable with all that belongs to it.
func TestGrowingCommitCalls(t *testing.T) {
	disk := file.NewMemory()
	db := mustOpenSim(t, disk, kv.Options{PageSize: 4096})
	before := disk.Counts()
	must(t, db.Update(putNumbered("b", 10_000, 32)))
	after := disk.Counts()
	if got := after.Truncates - before.Truncates; got != 1 {
		t.Errorf("%d changes of size, want 1", got)
	}
	if got := after.Syncs - before.Syncs; got != 1 {
		t.Errorf("%d full syncs, want 1", got)
	}
	if got := after.DataSyncs - before.DataSyncs; got != 1 {
		t.Errorf("%d data syncs, want 1", got)
	}
	if got := after.Throughs - before.Throughs; got != 1 {
		t.Errorf("%d writes made durable by themselves, want 1", got)
	}
	if got := after.Writes - before.Writes; got > 3 { // what little was free, the new end of the file, the meta page
		t.Errorf("%d writes", got)
	}
	must(t, db.Close())
}
