// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/kv"
)

// holey is a way to delete half of the keys.
type holey struct {
	name string
	n    int
	size func(i int) int  // of value i
	gone func(i int) bool // whether it is deleted
	per  int              // deletes per transaction
}

func evenly(size int) func(int) int { return func(int) int { return size } }
func byChance(i int) bool           { return rand.New(rand.NewPCG(uint64(i), 1)).IntN(2) == 0 }

var holeys = []holey{
	{"random", 40_000, evenly(100), byChance, 1 << 30},
	{"random, small transactions", 40_000, evenly(100), byChance, 200},
	{"the first half", 40_000, evenly(100), func(i int) bool { return i < 20_000 }, 1000},
	{"the second half", 40_000, evenly(100), func(i int) bool { return i >= 20_000 }, 1000},
	{"every other", 40_000, evenly(100), func(i int) bool { return i%2 == 0 }, 1 << 30},
	{"values of a page and more", 1500, evenly(6000), byChance, 100},
	{"values up to 100 kB", 600, func(i int) int { return i * 7919 % 100_000 }, byChance, 50},
	{"values of all sizes", 1500, func(i int) int { return 1 << (i % 17) }, byChance, 100},
}

// fill stores all keys and deletes half of them.
func (h holey) fill(t testing.TB, db *kv.DB) {
	t.Helper()
	var gone []int
	for i := range h.n {
		if h.gone(i) {
			gone = append(gone, i)
		}
	}
	inParts(t, db, rand.New(rand.NewPCG(1, 2)).Perm(h.n), 1000, func(b *kv.Bucket, i int) error {
		return b.Put(numbered(i), filler(i, h.size(i)))
	})
	inParts(t, db, gone, h.per, func(b *kv.Bucket, i int) error { return b.Delete(numbered(i)) })
}

// inParts calls fn for all numbers, so many in a transaction.
func inParts(t testing.TB, db *kv.DB, all []int, per int, fn func(b *kv.Bucket, i int) error) {
	t.Helper()
	for len(all) > 0 {
		now := all[:min(per, len(all))]
		all = all[len(now):]
		must(t, db.Update(func(tx *kv.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			for _, i := range now {
				if err == nil {
					err = fn(b, i)
				}
			}
			return err
		}))
	}
}

// compactSize is the length of what Compact makes of a database.
func compactSize(t testing.TB, db *kv.DB) (size int64) {
	t.Helper()
	dst, err := kv.Open(filepath.Join(t.TempDir(), "compact.db"), 0o600, &kv.Options{NoSync: true})
	must(t, err)
	must(t, kv.Compact(dst, db, 1<<20))
	must(t, dst.View(func(tx *kv.Tx) error {
		size = tx.Size()
		return nil
	}))
	must(t, dst.Close())
	return size
}

// shrinkSoundly shrinks a database and demands that it is sound and holds what it did. It returns what Compact would leave
// of it, too.
func shrinkSoundly(t *testing.T, db *kv.DB) (r kv.ShrinkReport, compacted int64) {
	t.Helper()
	text, compacted := content(t, db), compactSize(t, db)
	r, err := db.Shrink(context.Background(), kv.ShrinkOptions{})
	must(t, err)
	checkClean(t, db)
	t.Logf("%d -> %d bytes, %d in use, %d when compacted (%+.1f %%); %d steps, %d bytes written",
		r.Before, r.After, r.Used, compacted, 100*float64(r.After)/float64(compacted)-100, r.Steps, r.Written)
	if content(t, db) != text {
		t.Error("something else is in it now")
	}
	return r, compacted
}

// TestShrinkHalf compares what Shrink leaves of a file with what Compact makes of it.
func TestShrinkHalf(t *testing.T) {
	for i, h := range holeys {
		if brief() && i%3 != 0 {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			db := openTemp(t, nil)
			h.fill(t, db)
			r, small := shrinkSoundly(t, db)
			if r.After > small+small/10 {
				t.Errorf("%d bytes are left, Compact leaves %d", r.After, small)
			}
		})
	}
}

// TestShrinkBuckets shrinks a database of many buckets in buckets, in steps that end in the middle of them.
func TestShrinkBuckets(t *testing.T) {
	for _, step := range []int{1, 50_000, 0} {
		db := openTemp(t, nil)
		inNested(t, db, func(b *kv.Bucket, i int) error { return b.Put(numbered(i), filler(i, 150)) })
		inNested(t, db, func(b *kv.Bucket, i int) error {
			if byChance(i) {
				return b.Delete(numbered(i))
			}
			return b.SetSequence(uint64(i))
		})
		text, small := content(t, db), compactSize(t, db)
		db.StrictMode = step > 0 && !brief() // every step is checked
		r, err := db.Shrink(t.Context(), kv.ShrinkOptions{StepBytes: step})
		db.StrictMode = false
		must(t, err)
		checkClean(t, db)
		t.Logf("steps of %d: %d -> %d bytes, %d in use, %d when compacted (%+.1f %%); %d steps, %d bytes written",
			step, r.Before, r.After, r.Used, small, 100*float64(r.After)/float64(small)-100, r.Steps, r.Written)
		if content(t, db) != text {
			t.Error("something else is in it now")
		}
		if allowed := small / 10; r.After > small+allowed && step == 0 || r.After > small+2*allowed {
			t.Errorf("%d bytes are left, Compact leaves %d", r.After, small)
		}
	}
}

// inNested calls fn for numbers in buckets of different depths and sizes.
func inNested(t testing.TB, db *kv.DB, fn func(b *kv.Bucket, i int) error) {
	t.Helper()
	for part := range 8 {
		must(t, db.Update(func(tx *kv.Tx) error {
			for i := part * 2500; i < (part+1)*2500; i++ {
				b := tx.Cursor().Bucket()
				for _, name := range []int{i % 3, i % 11, i % 400}[:1+i%3] {
					var err error
					if b, err = b.CreateBucketIfNotExists(fmt.Appendf(nil, "bucket %d", name)); err != nil {
						return err
					}
				}
				if err := fn(b, i*7919%20_000); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// TestShrinkLongRuns has values at the end of the file that fit none of the free places before, unless those are made
// one.
func TestShrinkLongRuns(t *testing.T) {
	db := openTemp(t, nil)
	inParts(t, db, seq(0, 120), 1, func(b *kv.Bucket, i int) error { return b.Put(numbered(i), filler(i, 100_000)) })
	inParts(t, db, seq(500, 540), 1, func(b *kv.Bucket, i int) error { return b.Put(numbered(i), filler(i, 900_000)) })
	var gone []int
	for i := range 120 {
		if i%8 > 3 {
			gone = append(gone, i)
		}
	}
	inParts(t, db, gone, 10, func(b *kv.Bucket, i int) error { return b.Delete(numbered(i)) })
	r, _ := shrinkSoundly(t, db)
	if r.After > r.Used+r.Used/10 {
		t.Errorf("%d bytes are left, %d of them in use", r.After, r.Used)
	}
}
