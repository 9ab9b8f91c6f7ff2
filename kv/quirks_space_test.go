// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

// TestIdleReaderDoesNotGrowTheFile demands that pages which a commit both allocated and freed after the reader began are
// used again: a thousand commits of one key take some 5000 pages in bbolt.
func TestIdleReaderDoesNotGrowTheFile(t *testing.T) {
	for _, bolt := range []bool{false, true} {
		for _, noList := range []bool{false, true} {
			t.Run(fmt.Sprintf("BoltPlacement %t, NoFreelistSync %t", bolt, noList), func(t *testing.T) {
				db, _ := openMemory(t, &kv.Options{PageSize: 4096, BoltPlacement: bolt, NoFreelistSync: noList})
				must(t, db.Update(func(tx *kv.Tx) error { return mustCreate(t, tx, "b").Put([]byte("k"), []byte("old")) }))
				reader, err := db.Begin(false)
				must(t, err)
				for i := range 1000 {
					must(t, db.Update(func(tx *kv.Tx) error {
						return tx.Bucket([]byte("b")).Put([]byte("k"), numbered(i))
					}))
				}
				if pages := highWater(t, db); pages >= 20 {
					t.Errorf("the high water mark is %d pages", pages)
				}
				checkClean(t, db)
				if got := string(reader.Bucket([]byte("b")).Get([]byte("k"))); got != "old" {
					t.Errorf("the reader sees %q", got)
				}
				must(t, reader.Rollback())
			})
		}
	}
}

// TestLongReaderCostsWhatItSees keeps a reader open over a thousand commits. Pending are exactly the pages of its tree that
// have been replaced, and the file has room for these, for the tree of now, and for the pages that one commit frees
// while it takes others.
func TestLongReaderCostsWhatItSees(t *testing.T) {
	const keys, perCommit = 2000, 20
	for _, list := range []kv.Options{{PageSize: 1024}, {PageSize: 1024, SyncFreelist: true}, {PageSize: 1024, NoFreelistSync: true}} {
		t.Run(list.String(), func(t *testing.T) {
			db, _ := openMemory(t, &list)
			must(t, db.Update(putNumbered("b", keys, 100)))
			must(t, db.Update(func(*kv.Tx) error { return nil })) // frees what the one before has made pending
			before := highWater(t, db) - db.Stats().FreePageN - 2 // pages that the reader sees
			reader, err := db.Begin(false)
			must(t, err)
			r, largest := rand.New(rand.NewPCG(5, 6)), 0
			for range times(1000, 5000) {
				stats := kv.TxStats{}
				must(t, db.Update(func(tx *kv.Tx) error {
					for range perCommit {
						must(t, tx.Bucket(nameB).Put(numbered(r.IntN(keys)), make([]byte, 100)))
					}
					tx.OnCommit(func() { stats = tx.Stats() })
					return nil
				}))
				largest = max(largest, int(stats.GetPageCount()))
				if pages, most := highWater(t, db), 2+2*before+2*largest+16+2*before/32; pages > most {
					t.Errorf("the file has %d pages, want %d at most", pages, most)
					break
				}
			}
			must(t, db.Update(func(*kv.Tx) error { return nil }))
			lists := 0 // pages of the list that the last commit replaced
			if list.SyncFreelist {
				lists = page.FreelistSize(3*before)/list.PageSize + 1
			}
			if pending := db.Stats().PendingPageN; pending > before+lists || pending < before-1 {
				t.Errorf("%d pages are pending, the reader sees %d", pending, before)
			}
			must(t, reader.Rollback())
			must(t, db.Update(func(*kv.Tx) error { return nil }))
			must(t, db.Update(func(*kv.Tx) error { return nil }))
			if pending := db.Stats().PendingPageN; pending > 1+lists {
				t.Errorf("%d pages are pending without a reader", pending)
			}
		})
	}
}

// TestManyReadersHoldOnlyTheirPages goes on with several readers that begin and end at random. Each must go on seeing its
// own snapshot, and the file must not hold many times what they can see.
func TestManyReadersHoldOnlyTheirPages(t *testing.T) {
	for seed := range uint64(times(3, 50)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 222))
			db, _ := openMemory(t, &kv.Options{PageSize: 1024})
			must(t, db.Update(putNumbered("b", 200, 8)))
			type open struct {
				tx   *kv.Tx
				want string
			}
			var readers []open
			content := func(tx *kv.Tx) (s string) {
				for k, v := range tx.Bucket([]byte("b")).All() {
					s += string(k) + "=" + string(v) + ";"
				}
				return s
			}
			for i := range 400 {
				must(t, db.Update(func(tx *kv.Tx) error {
					return tx.Bucket([]byte("b")).Put(numbered(r.IntN(200)), fmt.Appendf(nil, "%08d", i))
				}))
				if len(readers) < 5 && r.IntN(3) == 0 {
					tx, err := db.Begin(false)
					must(t, err)
					readers = append(readers, open{tx, content(tx)})
				} else if len(readers) > 0 && r.IntN(3) == 0 {
					at := r.IntN(len(readers))
					if got := content(readers[at].tx); got != readers[at].want {
						t.Fatalf("commit %d: a reader no longer sees its snapshot", i)
					}
					must(t, readers[at].tx.Rollback())
					readers = append(readers[:at], readers[at+1:]...)
				}
			}
			for _, o := range readers {
				if content(o.tx) != o.want {
					t.Error("a reader no longer sees its snapshot")
				}
				must(t, o.tx.Rollback())
			}
			if pages := highWater(t, db); pages > 100 { // some ten for one snapshot
				t.Errorf("the high water mark is %d pages", pages)
			}
		})
	}
}

// TestReaderDoesNotHoldWhatItCannotSee is about the pages that the very commit freed whose state a reader sees.
func TestReaderDoesNotHoldWhatItCannotSee(t *testing.T) {
	db, _ := openMemory(t, &kv.Options{PageSize: 1024})
	must(t, db.Update(putNumbered("large", 2000, 100)))
	must(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("large")) }))
	reader, err := db.Begin(false)
	must(t, err)
	must(t, db.Update(putNumbered("small", 1, 8)))
	if s := db.Stats(); s.FreePageN < 200 || s.PendingPageN > 5 {
		t.Errorf("%d pages are free, %d pending", s.FreePageN, s.PendingPageN)
	}
	before := highWater(t, db)
	must(t, db.Update(putNumbered("large", 1500, 100)))
	if after := highWater(t, db); after > before {
		t.Errorf("the high water mark rose from %d to %d pages", before, after)
	}
	if keys := keysOf(reader.Cursor().Bucket()); len(keys) != 0 {
		t.Errorf("the reader sees %q", keys)
	}
	must(t, reader.Rollback())
}

// limited opens a database with a size limit on a file system that fails the test when the file exceeds it.
func limited(t *testing.T, o kv.Options) *kv.DB {
	t.Helper()
	faulty := file.NewFault(file.NewMemory())
	faulty.FailIf(func(op file.Op) error {
		end := int64(0)
		switch op.Kind {
		case file.OpTruncate:
			end = op.Len
		case file.OpWrite, file.OpWriteVec:
			end = op.Off + op.Len
		}
		if end > int64(o.MaxSize) {
			t.Errorf("the file would exceed its limit of %d: %v", o.MaxSize, op)
		}
		return nil
	})
	db := mustOpenSim(t, faulty, o)
	t.Cleanup(func() { closeClean(t, db) })
	return db
}

// TestMaxSizeIsExact demands that a file can be filled to the last page its limit allows, in one commit or in many,
// whatever the step it grows by, and that it goes on working when it is full.
func TestMaxSizeIsExact(t *testing.T) {
	for _, pageSize := range []int{1024, 2048, 4096, 8192, 16384, 32768, 65536} {
		for _, pages := range []int{20, 33} {
			for _, extra := range []int{0, pageSize - 1} { // bytes that make no page
				o := kv.Options{PageSize: pageSize, MaxSize: pages*pageSize + extra, NoGrowSync: extra == 0, SyncFreelist: true}
				t.Run(fmt.Sprintf("pages of %d, limit %d", pageSize, o.MaxSize), func(t *testing.T) {
					fillAtOnce(t, o, pages)
					fillInSteps(t, o, pages)
				})
			}
		}
	}
}

// fillAtOnce stores a value that leaves no page over, after one that is a byte too long.
func fillAtOnce(t *testing.T, o kv.Options, pages int) {
	t.Helper()
	db := limited(t, o)
	// A new file has four pages; the commit takes one for the root, one for the free list, and the rest for the leaf,
	// which has a header, one element and a key.
	room := (pages-6)*o.PageSize - 16 - 16 - 1
	put := func(size int) error {
		return db.Update(func(tx *kv.Tx) error { return mustCreate(t, tx, "b").Put([]byte("k"), make([]byte, size)) })
	}
	if err := put(room + 1); !errors.Is(err, kv.ErrMaxSizeReached) {
		t.Errorf("a value that does not fit: %v", err)
	}
	if got := highWater(t, db); got != 4 {
		t.Errorf("that took %d pages", got-4)
	}
	must(t, put(room))
	if got := highWater(t, db); got != pages {
		t.Errorf("the high water mark is %d pages, want %d", got, pages)
	}
}

// fillInSteps stores small values, a commit each, until none fits; then there are still free pages for other work.
func fillInSteps(t *testing.T, o kv.Options, pages int) {
	t.Helper()
	db := limited(t, o)
	db.AllocSize = 4 * o.PageSize
	stored := 0
	put := func() error {
		return db.Update(func(tx *kv.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			must(t, err)
			return b.Put(numbered(stored), make([]byte, o.PageSize/3))
		})
	}
	var err error
	for err = put(); err == nil; err = put() {
		stored++
	}
	if !errors.Is(err, kv.ErrMaxSizeReached) {
		t.Fatal(err)
	}
	if got := highWater(t, db); got < pages-4 || got > pages { // a commit takes up to five
		t.Errorf("the high water mark is %d pages, limit %d", got, pages)
	}
	for i := range 20 {
		must(t, db.Update(func(tx *kv.Tx) error { return tx.Bucket([]byte("b")).SetSequence(uint64(i)) }))
	}
	must(t, db.Update(func(tx *kv.Tx) error {
		b := tx.Bucket([]byte("b"))
		if got := len(keysOf(b)); got != stored {
			t.Errorf("%d keys, want %d", got, stored)
		}
		for i := range stored / 2 {
			must(t, b.Delete(numbered(i)))
		}
		return nil
	}))
	must(t, put())
}
