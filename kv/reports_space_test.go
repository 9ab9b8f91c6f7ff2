// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// TestReportFailedCommits is bbolt #70 and #152, where rolling back a failed commit went for a free list that
// NoFreelistSync had not stored; #262 and #653, where it read through a mapping that the failed commit had lost; and #797,
// where pages stayed noted as allocated by the transaction that had been rolled back. Every call that a growing commit
// makes fails once here, with a reader open and without; it must be as if that transaction had never been.
func TestReportFailedCommits(t *testing.T) {
	for _, noList := range []bool{false, true} {
		for _, reading := range []bool{false, true} {
			t.Run(fmt.Sprintf("NoFreelistSync %t, reading %t", noList, reading), func(t *testing.T) {
				o := kv.Options{PageSize: 1024, NoFreelistSync: noList}
				k := 1
				for failedCommit(t, o, k, reading) {
					k++
				}
				if k < 7 { // size, its sync, mapping, pages, what is written ahead, their sync, meta page
					t.Errorf("a growing commit makes only %d calls", k-1)
				}
			})
		}
	}
}

// failedCommit lets the k-th call of a commit fail, and returns false if there were fewer.
func failedCommit(t *testing.T, o kv.Options, k int, reading bool) bool {
	t.Helper()
	faulty := file.NewFault(file.NewMemory())
	db := mustOpenSim(t, faulty, o)
	must(t, db.Update(putNumbered("b", 100, 8)))
	must(t, db.Update(putNumbered("b", 50, 16))) // so that there are free pages
	readers := beginReaders(t, db, reading)
	before := highWater(t, db)

	faulty.FailAt(k)
	err := db.Update(putNumbered("b", 2000, 40))
	injected := faulty.Injected()
	faulty.FailIf(nil)
	if len(injected) > 0 && injected[0].Kind != file.OpUnmap && (err != nil || !isAhead(t, db, injected[0])) {
		if !errors.Is(err, file.ErrInjected) {
			t.Fatalf("%v: the commit returned %v", injected, err)
		}
		if after := highWater(t, db); after != before {
			t.Errorf("%v: the high water mark rose from %d to %d", injected, before, after)
		}
		readers = append(readers, beginReaders(t, db, true)...)
	} else {
		must(t, err) // zeros behind all pages that are not written, or an old mapping that stays, are no reason to fail
	}
	for _, tx := range readers {
		wantBefore(t, tx)
	}
	must(t, db.Update(putNumbered("after", 300, 8)))
	must(t, db.Update(putNumbered("after", 300, 9)))
	checkClean(t, db)
	must(t, db.Close())
	if t.Failed() {
		t.Fatalf("after %v", injected)
	}
	return len(injected) > 0
}

// isAhead says whether a call writes what no page needs.
func isAhead(t *testing.T, db *kv.DB, op file.Op) bool {
	t.Helper()
	return op.Kind == file.OpWriteVec && op.Off >= int64(highWater(t, db))*int64(db.Info().PageSize)
}

// beginReaders starts a read transaction, or none.
func beginReaders(t *testing.T, db *kv.DB, some bool) []*kv.Tx {
	t.Helper()
	if !some {
		return nil
	}
	tx, err := db.Begin(false)
	must(t, err)
	return []*kv.Tx{tx}
}

// wantBefore demands that a transaction sees what was there before the commit that failed, and ends it.
func wantBefore(t *testing.T, tx *kv.Tx) {
	t.Helper()
	b := tx.Bucket([]byte("b"))
	for i := range 100 {
		want := 8
		if i < 50 {
			want = 16
		}
		if got := b.Get(numbered(i)); len(got) != want {
			t.Errorf("the value of %q has %d bytes, want %d", numbered(i), len(got), want)
		}
	}
	if got := len(keysOf(b)); got != 100 {
		t.Errorf("%d keys, want 100", got)
	}
	if tx.Bucket([]byte("after")) != nil {
		t.Error("a later bucket is there")
	}
	must(t, tx.Rollback())
}

// TestReportFailedCommitsLoseNoSpace goes on with #797: after any number of failed commits under a reader the file is no
// larger than without them, and once the reader has ended nothing stays pending.
func TestReportFailedCommitsLoseNoSpace(t *testing.T) {
	noSpace := errors.New("no space")
	faulty := file.NewFault(file.NewMemory())
	db := mustOpenSim(t, faulty, kv.Options{PageSize: 1024})
	must(t, db.Update(putNumbered("b", 100, 8)))
	reader, err := db.Begin(false)
	must(t, err)
	var highest int
	for round := range 50 {
		faulty.FailIf(func(op file.Op) error {
			if op.Kind == file.OpWriteVec {
				return noSpace
			}
			return nil
		})
		if err := db.Update(putNumbered("b", 100, 8)); !errors.Is(err, noSpace) {
			t.Fatalf("round %d: %v", round, err)
		}
		faulty.FailIf(nil)
		must(t, db.Update(putNumbered("b", 100, 8)))
		if now := highWater(t, db); round < 5 {
			highest = now
		} else if now > highest {
			t.Fatalf("round %d: the high water mark is %d and was %d", round, now, highest)
		}
	}
	must(t, reader.Rollback())
	must(t, db.Update(func(*kv.Tx) error { return nil }))
	must(t, db.Update(func(*kv.Tx) error { return nil }))
	if pending := db.Stats().PendingPageN; pending > 2 { // the last commit's root and free list
		t.Errorf("%d pages are pending", pending)
	}
	checkClean(t, db)
	must(t, db.Close())
}

// TestReportSizeLimit is bbolt #928: a limit for the size of the file, with an error that can be told from others, and
// a database that goes on working.
func TestReportSizeLimit(t *testing.T) {
	const limit = 256 << 10
	path := filepath.Join(t.TempDir(), "limited.db")
	db, err := kv.Open(path, 0o600, &kv.Options{PageSize: 4096, MaxSize: limit, NoSync: true})
	must(t, err)
	stored := 0
	for err == nil {
		err = db.Update(func(tx *kv.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			must(t, err)
			return b.Put(numbered(stored), make([]byte, 3000))
		})
		if err == nil {
			stored++
		}
	}
	if !errors.Is(err, kv.ErrMaxSizeReached) {
		t.Fatal(err)
	}
	if stored < 50 {
		t.Errorf("only %d values of 3000 bytes fitted into %d", stored, limit)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > limit {
		t.Errorf("the file has %d bytes, limit %d, %v", info.Size(), limit, err)
	}
	must(t, db.View(func(tx *kv.Tx) error {
		if got := len(keysOf(tx.Bucket([]byte("b")))); got != stored {
			t.Errorf("%d keys, want %d", got, stored)
		}
		return nil
	}))
	checkClean(t, db)
	db.MaxSize = 2 * limit
	must(t, db.Update(putNumbered("more", 1000, 8)))
	checkClean(t, db)
	must(t, db.Close())
}

// TestReportFileGrowsAtEachOpen is bolt #303, and #216 and #291 before it: a large file became larger each time it was
// opened.
func TestReportFileGrowsAtEachOpen(t *testing.T) {
	sizes := []int64{32 << 10, 32<<10 + 4096, 1 << 20, 5<<20 + 4096}
	if strconv.IntSize == 64 {
		sizes = append(sizes, 1<<30, 1<<30+4096, 3<<30, 3<<30+4096) // holes: only the first pages are ever written
	}
	for _, size := range sizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "large.db")
			must(t, os.WriteFile(path, imageOf(t, &kv.Options{PageSize: 4096}, putNumbered("b", 10, 8)), 0o600))
			if err := os.Truncate(path, size); err != nil {
				t.Skip("no room for such a file:", err)
			}
			for i := range 3 {
				db, err := kv.Open(path, 0o600, &kv.Options{NoSync: true})
				must(t, err)
				if i == 2 {
					must(t, db.Update(putNumbered("b", 10, 9)))
				}
				checkClean(t, db)
				must(t, db.Close())
				if info, err := os.Stat(path); err != nil || info.Size() != size {
					t.Fatalf("after open %d the file has %d bytes, want %d, %v", i+1, info.Size(), size, err)
				}
			}
		})
	}
}

// TestReportDoubleFreesInMerges is bolt #184, #348 and #539: pages were freed twice, or stayed reachable once freed, when
// neighbouring nodes with few elements left were merged. Large keys in small pages make branches of three or four, so
// that merges reach far up.
func TestReportDoubleFreesInMerges(t *testing.T) {
	for seed := range uint64(times(20, 500)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			mergeRandomly(t, rand.New(rand.NewPCG(seed, 348)))
		})
	}
}

func mergeRandomly(t *testing.T, r *rand.Rand) {
	t.Helper()
	const keys = 300
	db, _ := openMemory(t, &kv.Options{PageSize: 1024, BoltPlacement: r.IntN(2) == 0})
	longKey := func(i int) []byte { return fmt.Appendf(numbered(i), "%0*d", 100+i%150, 0) }
	present := map[int]bool{}
	fill := []float64{0.1, 0.5, 1}[r.IntN(3)]
	for range 30 {
		must(t, db.Update(func(tx *kv.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			must(t, err)
			b.FillPercent = fill
			for range r.IntN(40) {
				i := r.IntN(keys)
				must(t, b.Put(longKey(i), nil))
				present[i] = true
			}
			from, span, stride := r.IntN(keys), 1+r.IntN(keys), 1+r.IntN(4)
			for _, i := range r.Perm(keys) {
				if present[i] && i >= from && i < from+span && i%stride == 0 {
					must(t, b.Delete(longKey(i)))
					delete(present, i)
				}
			}
			return nil
		}))
		checkClean(t, db)
		must(t, db.View(func(tx *kv.Tx) error {
			if got := len(keysOf(tx.Bucket([]byte("b")))); got != len(present) {
				t.Errorf("%d keys, want %d", got, len(present))
			}
			return nil
		}))
	}
}

// TestReportDeletedBucketFreesItsPages is what happened to bbolt's nested buckets: those in a bucket that the same
// transaction had changed were skipped, every other one, when it was deleted, and their pages were lost for ever.
func TestReportDeletedBucketFreesItsPages(t *testing.T) {
	for name, change := range map[string]fillBucket{
		"nothing changed":     func(*testing.T, *kv.Bucket) {},
		"parent changed":      putAll("a=1"),
		"first child changed": inChild("child0", putAll("a=1")),
		"last child grown":    inChild("child3", putMany),
		"child deleted":       deleteBucket("child1"),
		"child made":          inChild("child4", putMany),
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := openMemory(t, &kv.Options{PageSize: 1024})
			before := highWater(t, db)
			must(t, db.Update(func(tx *kv.Tx) error {
				for i := range 4 {
					inChild("parent", inChild("child"+strconv.Itoa(i), putMany))(t, tx.Cursor().Bucket())
				}
				return nil
			}))
			if after := highWater(t, db); after < before+24 { // Check at the end finds what is lost; is there anything to lose?
				t.Fatalf("the buckets have only %d pages", after-before)
			}
			must(t, db.Update(func(tx *kv.Tx) error {
				change(t, tx.Bucket([]byte("parent")))
				return tx.DeleteBucket([]byte("parent"))
			}))
		})
	}
}
