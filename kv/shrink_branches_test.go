// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"math/rand/v2"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// TestShrinkKeepsBranches shrinks trees whose branches have few children, as their keys are long, in small steps. No branch
// may be left with a single child: bbolt panics when it comes to change that.
func TestShrinkKeepsBranches(t *testing.T) {
	for seed := range uint64(times(12, 200)) {
		r := rand.New(rand.NewPCG(seed, 0))
		db := mustOpenSim(t, file.NewMemory(), kv.Options{PageSize: 1024, NoSync: true})
		for range 12 {
			must(t, db.Update(func(tx *kv.Tx) error { return longKeys(tx, r) }))
			text := content(t, db)
			_, err := db.Shrink(t.Context(), kv.ShrinkOptions{StepBytes: 1024 << r.IntN(8)})
			must(t, err)
			if n := onlyChildren(t, db); n > 0 {
				t.Fatalf("seed %d: %d branches have a single child", seed, n)
			}
			if content(t, db) != text {
				t.Fatalf("seed %d: something else is in it now", seed)
			}
		}
		checkClean(t, db)
		must(t, db.Close())
	}
}

// longKeys puts and deletes keys of which some are long.
func longKeys(tx *kv.Tx, r *rand.Rand) error {
	b, err := tx.CreateBucketIfNotExists([]byte("b"))
	for _, n := range []int{300, -500} {
		from, size := r.IntN(2000), r.IntN(200)
		for i := from; i < from+max(n, -n) && err == nil; i++ {
			key := numbered(i)
			if i%11 == 0 {
				key = append(key, filler(i, i*31%900)...)
			}
			switch {
			case r.IntN(3) == 0:
			case n > 0:
				err = b.Put(key, filler(i, size))
			default:
				err = b.Delete(key)
			}
		}
	}
	return err
}

// onlyChildren counts the branches with a single child.
func onlyChildren(t *testing.T, db *kv.DB) (n int) {
	t.Helper()
	must(t, db.View(func(tx *kv.Tx) error {
		for id := 2; ; id++ {
			p, err := tx.Page(id)
			if p == nil || err != nil {
				return err
			}
			if p.Type == "branch" && p.Count == 1 {
				n++
			}
			if p.Type != "free" {
				id += p.OverflowCount
			}
		}
	}))
	return n
}
