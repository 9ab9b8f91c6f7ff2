// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/holtdb/holt/kv"
)

// largeFile makes a database of so many pages that several goroutines walk over it, with buckets of all kinds and without
// a stored free list.
func largeFile(t *testing.T) (path string, tree int) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "large.db")
	db, err := kv.Open(path, 0o600, &kv.Options{PageSize: 1024, NoSync: true, NoFreelistSync: true})
	must(t, err)
	for i := range 20 {
		must(t, db.Update(putNumbered(fmt.Sprint("b", i), 4000, 100)))
		must(t, db.Update(func(tx *kv.Tx) error {
			b := tx.Bucket(fmt.Append(nil, "b", i))
			inChild("child", inChild("child", putMany))(t, b)
			inChild("inline", putAll("a=1"))(t, b)
			return b.Put([]byte("long"), make([]byte, 5000))
		}))
	}
	must(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("b7")) }))
	must(t, db.View(func(tx *kv.Tx) error {
		return tx.ForEach(func(_ []byte, b *kv.Bucket) error {
			s := b.Stats()
			tree += s.BranchPageN + s.LeafPageN
			return nil
		})
	}))
	must(t, db.Close())
	if info, err := os.Stat(path); err != nil || info.Size() < 2*4096*1024 {
		t.Fatalf("the file is too small: %v", err)
	}
	return path, tree + 1 // and the root
}

// together runs f with one goroutine at a time, then with four.
func together(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	for _, n := range []int{1, 4} {
		t.Run(fmt.Sprint(n, " at once"), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			f(t)
		})
	}
}

// TestScanTogether looks for the free pages of a large file that does not name them.
func TestScanTogether(t *testing.T) {
	path, tree := largeFile(t)
	var free []int
	together(t, func(t *testing.T) {
		var told atomic.Int64
		db, err := kv.Open(path, 0o600, &kv.Options{
			NoFreelistSync: true, PreLoadFreelist: true, Progress: func(n int64) { told.Add(n) },
		})
		must(t, err)
		free = append(free, db.Stats().FreePageN)
		if int(told.Load()) != tree {
			t.Errorf("progress was told of %d pages, there are %d", told.Load(), tree)
		}
		checkClean(t, db)
		must(t, db.Close())
	})
	if free[0] != free[1] || free[0] < 300 {
		t.Errorf("%d free pages are found", free)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err := kv.OpenContext(ctx, path, 0o600, &kv.Options{
		NoFreelistSync: true, PreLoadFreelist: true, Progress: func(int64) { cancel() },
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Open that is cancelled: %v", err)
	}
}

// TestCheckTogether checks a large file, sound and with damaged pages: the findings are the same, whoever makes them.
func TestCheckTogether(t *testing.T) {
	path, tree := largeFile(t)
	together(t, func(t *testing.T) {
		db, err := kv.Open(path, 0o600, &kv.Options{ReadOnly: true})
		must(t, err)
		must(t, db.View(func(tx *kv.Tx) error {
			var told atomic.Int64
			for err := range tx.Check(kv.WithProgress(func(n int64) { told.Add(n) })) {
				t.Error(err)
			}
			if int(told.Load()) != tree {
				t.Errorf("progress was told of %d pages, there are %d", told.Load(), tree)
			}
			ctx, cancel := context.WithCancel(context.Background())
			last := error(nil)
			for err := range tx.CheckContext(ctx, kv.WithProgress(func(int64) { cancel() })) {
				last = err
			}
			wantErr(t, last, context.Canceled)
			return nil
		}))
		must(t, db.Close())
	})

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	for range 12 {
		patch(t, path, (2+r.Int64N(8000))*1024+8*r.Int64N(2), []byte{byte(r.IntN(256)), byte(r.IntN(256))})
	}
	var found [][]string
	together(t, func(t *testing.T) {
		db, err := kv.Open(path, 0o600, &kv.Options{ReadOnly: true})
		must(t, err)
		var all []string
		must(t, db.View(func(tx *kv.Tx) error {
			for err := range tx.Check() {
				all = append(all, err.Error())
			}
			return nil
		}))
		must(t, db.Close())
		slices.Sort(all)
		found = append(found, all)
		db, err = kv.Open(path, 0o600, &kv.Options{NoFreelistSync: true, PreLoadFreelist: true})
		if _, damaged := errors.AsType[*kv.CorruptError](err); err != nil && !damaged {
			t.Errorf("opening a damaged file: %v", err)
		}
		if err == nil {
			must(t, db.Close())
		}
	})
	if !slices.Equal(found[0], found[1]) || len(found[0]) == 0 {
		t.Errorf("one finds\n%q\nseveral\n%q", found[0], found[1])
	}
}
