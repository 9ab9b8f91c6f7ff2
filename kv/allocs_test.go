// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"fmt"
	"testing"
	"time"

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
			"All of an inline bucket": func() {
				for range inline.All() {
					continue
				}
			},
			"ForEach":       func() { _ = b.ForEach(func(_, _ []byte) error { return nil }) },
			"ForEachBucket": func() { _ = b.ForEachBucket(func([]byte) error { return nil }) },
		} {
			wantAllocs(t, what, 0, f)
		}
		wantAllocs(t, "a handle that is kept", 1, func() { kept.bucket = tx.Bucket(nameB) })
		wantAllocs(t, "handles of nested buckets that are kept", 2, func() {
			kept.bucket = tx.Bucket(nameNest)
			kept.bucket = kept.bucket.Bucket(nameChild)
		})
		wantAllocs(t, "a cursor that is kept", 1, func() { kept.cursor = b.Cursor() })
		return nil
	}))
}

// kept are where the compiler cannot know that nobody will look.
var kept struct {
	bucket *kv.Bucket
	cursor *kv.Cursor
}

var (
	numbered0  = numbered(0)
	keyA       = []byte("a")
	nameB      = []byte("b")
	nameNest   = []byte("nest")
	nameChild  = []byte("child")
	nameInline = []byte("inline")
)

// TestReadTransactionAllocations begins and ends transactions, which are allocated 21 at a time.
func TestReadTransactionAllocations(t *testing.T) {
	const reads = 10 * 21
	db := openTemp(t, nil)
	must(t, db.Update(putNumbered("b", 1000, 32)))
	must(t, db.Update(func(tx *kv.Tx) error {
		inChild("nest", inChild("inline", putAll("a=1")))(t, tx.Cursor().Bucket())
		return nil
	}))
	begin := func() *kv.Tx {
		tx, err := db.Begin(false)
		must(t, err)
		return tx
	}
	nothing := func(*kv.Tx) error { return nil }
	get := func(tx *kv.Tx) error {
		tx.Bucket(nameB).Get(numbered0)
		return nil
	}
	getNested := func(tx *kv.Tx) error {
		tx.Bucket(nameNest).Bucket(nameInline).Get(keyA)
		return nil
	}
	other := newTurns(func() {
		tx := begin()
		must(t, get(tx))
		must(t, tx.Rollback())
	})
	defer other.stop()
	for what, f := range map[string]func(){
		"Begin and Rollback":       func() { must(t, begin().Rollback()) },
		"View":                     func() { must(t, db.View(nothing)) },
		"View with Bucket and Get": func() { must(t, db.View(get)) },
		"View of an inline bucket": func() { must(t, db.View(getNested)) },
	} {
		wantAllocs(t, what+", 210 times", 10, func() {
			for range reads {
				f()
			}
		})
	}
	// Iterators and cursors keep the handle of their bucket.
	for what, f := range map[string]func(*kv.Tx) error{
		"a cursor": func(tx *kv.Tx) error {
			c := tx.Bucket(nameB).Cursor()
			for k, _ := c.Seek(numbered0); k != nil; k, _ = c.Next() {
				continue
			}
			return nil
		},
		"an iterator": func(tx *kv.Tx) error {
			for range tx.Bucket(nameB).All() {
				continue
			}
			return nil
		},
		"ForEach": func(tx *kv.Tx) error {
			return tx.Bucket(nameB).ForEach(func(_, _ []byte) error { return nil })
		},
	} {
		wantAllocs(t, "View with "+what+", 210 times", reads+10, func() {
			for range reads {
				must(t, db.View(f))
			}
		})
	}
	wantAllocs(t, "transactions in two goroutines, 210 in each", 20, func() {
		for range reads {
			tx := begin()
			other.turn()
			must(t, tx.Rollback())
		}
	})
	wantAllocs(t, "sixteen transactions at once, 21 times", 16, func() {
		for range 21 {
			var txs [16]*kv.Tx
			for i := range txs {
				txs[i] = begin()
			}
			for _, tx := range txs {
				must(t, tx.Rollback())
			}
		}
	})
}

// turns has a goroutine do something again and again, without allocating.
type turns struct{ ask, done chan struct{} }

func newTurns(f func()) turns {
	t := turns{make(chan struct{}), make(chan struct{})}
	go func() {
		for range t.ask {
			f()
			t.done <- struct{}{}
		}
	}()
	return t
}

func (t turns) turn() {
	t.ask <- struct{}{}
	<-t.done
}

func (t turns) stop() { close(t.ask) }

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

// TestDurableWriteAllocations has commits that wait for the disk, and calls of Batch.
func TestDurableWriteAllocations(t *testing.T) {
	for _, o := range []kv.Options{{}, {SingleSync: true}, {SyncFreelist: true}} {
		t.Run(o.String(), func(t *testing.T) {
			db := openTemp(t, &o)
			must(t, db.Update(putNumbered("b", 1000, 32)))
			value := make([]byte, 32)
			put := func(tx *kv.Tx) error { return tx.Bucket(nameB).Put(numbered0, value) }
			wantAllocs(t, "Update with a Put", 6, func() { must(t, db.Update(put)) })
			wantAllocs(t, "Batch with a Put, alone", 6, func() { must(t, db.Batch(put)) })
			large := make([]byte, 100<<10)
			wantAllocs(t, "Update with a large Put", 6, func() {
				must(t, db.Update(func(tx *kv.Tx) error { return tx.Bucket(nameB).Put(numbered0, large) }))
			})
		})
	}
}

// TestBatchAllocations has sixteen calls of Batch share a transaction.
func TestBatchAllocations(t *testing.T) {
	db := openTemp(t, &kv.Options{NoSync: true})
	must(t, db.Update(putNumbered("b", 1000, 32)))
	// That of one Update, a timer and a channel. Whether there was time to wait for the others differs.
	if got := testing.AllocsPerRun(30, gathered(t, db)); got > 10 && !raceEnabled && !invariant.Enabled {
		t.Errorf("sixteen calls: %v allocations", got)
	}
}

// gathered returns a function that has sixteen goroutines call Batch, which runs all in one transaction.
func gathered(t *testing.T, db *kv.DB) func() {
	t.Helper()
	const calls = 16
	db.MaxBatchSize, db.MaxBatchDelay = calls, time.Hour
	begin, done := make(chan struct{}), make(chan struct{})
	value := make([]byte, 32)
	for i := range calls {
		key := numbered(i)
		put := func(tx *kv.Tx) error { return tx.Bucket(nameB).Put(key, value) }
		go func() {
			for range begin {
				must(t, db.Batch(put))
				done <- struct{}{}
			}
		}()
	}
	t.Cleanup(func() { close(begin) })
	return func() {
		for range calls {
			begin <- struct{}{}
		}
		for range calls {
			<-done
		}
	}
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
		got := after.Minus(before)
		got.Ops, got.WriteBytes = 0, 0
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

// TestChangesCalls counts the calls of commits that change more than a key, in a file with room: all pages go down in one
// write, those of large values too.
// An empty transaction has nothing but its meta page.
func TestChangesCalls(t *testing.T) {
	putKey := func(key string, size int) func(tx *kv.Tx) error {
		return func(tx *kv.Tx) error { return tx.Bucket(nameB).Put([]byte(key), make([]byte, size)) }
	}
	for _, single := range []bool{false, true} {
		disk := file.NewMemory()
		db := mustOpenSim(t, disk, kv.Options{PageSize: 4096, SingleSync: single})
		must(t, db.Update(putNumbered("b", 10_000, 32)))
		must(t, db.Update(putNumbered("gone", 100_000, 100)))
		must(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("gone")) }))
		together := gathered(t, db)
		for _, test := range []struct {
			name   string
			change func()
			two    bool // syncs in any case
		}{
			{"nothing", func() { must(t, db.Update(func(*kv.Tx) error { return nil })) }, false},
			{"one key", func() { must(t, db.Update(putKey("a", 32))) }, false},
			{"a thousand keys", func() { must(t, db.Update(putNumbered("b", 1000, 33))) }, false},
			{"a key deleted", func() {
				must(t, db.Update(func(tx *kv.Tx) error { return tx.Bucket(nameB).Delete([]byte("a")) }))
			}, false},
			{"a bucket", func() {
				must(t, db.Update(func(tx *kv.Tx) error {
					_, err := tx.CreateBucket([]byte("new"))
					return err
				}))
			}, false},
			{"a value of 100 KiB", func() { must(t, db.Update(putKey("large", 100<<10))) }, false},
			{"a value of 3 MiB", func() { must(t, db.Update(putKey("large", 3<<20))) }, false},
			{"a value of 5 MiB", func() { must(t, db.Update(putKey("large", 5<<20))) }, true},
			{"sixteen calls of Batch", together, false},
		} {
			before := disk.Counts()
			test.change()
			got := disk.Counts().Minus(before)
			want := file.Counts{Writes: 2, Throughs: 1, DataSyncs: 1}
			if test.name == "nothing" {
				want.Writes, want.DataSyncs = 1, 0
			}
			if single && !test.two {
				want.Throughs, want.DataSyncs = 0, 1
			}
			got.Ops, got.WriteBytes = 0, 0
			if got != want {
				t.Errorf("%s, SingleSync %t: %+v, want %+v", test.name, single, got, want)
			}
		}
		must(t, db.Close())
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
