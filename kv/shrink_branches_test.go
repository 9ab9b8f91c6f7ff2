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

// TestShrinkEmptyLeaf shrinks files in which another program has left leaves without elements: a branch needs a key for
// each of its children.
func TestShrinkEmptyLeaf(t *testing.T) {
	disk := file.NewMemory()
	db := mustOpenSim(t, disk, kv.Options{PageSize: 1024})
	must(t, db.Update(putNumbered("b", 500, 100)))
	must(t, db.Update(putNumbered("c", 500, 100)))
	must(t, db.Update(func(tx *kv.Tx) error {
		for i := range 500 {
			if i%3 > 0 {
				must(t, tx.Bucket([]byte("b")).Delete(numbered(i)))
			}
		}
		return nil
	}))
	var leaves []int
	must(t, db.View(func(tx *kv.Tx) error {
		for id := range int(tx.Size() / 1024) {
			p, err := tx.Page(id)
			must(t, err)
			if p.Type == "leaf" && id != int(tx.Cursor().Bucket().Root()) {
				leaves = append(leaves, id)
			}
		}
		return nil
	}))
	must(t, db.Close())
	for i := range leaves {
		b := readSim(t, disk, simPath)
		for _, id := range leaves[i:min(i+1+i%4, len(leaves))] {
			clear(b[id*1024+10:][:2])
		}
		db := mustOpenSim(t, memoryWith(t, b), kv.Options{PageSize: 1024})
		text := content(t, db)
		for range 2 {
			_, err := db.Shrink(t.Context(), kv.ShrinkOptions{StepBytes: 8 << 10})
			must(t, err)
		}
		must(t, db.Update(putNumbered("d", 10, 10)))
		must(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("d")) }))
		if content(t, db) != text {
			t.Errorf("leaf %d: something else is in it now", leaves[i])
		}
		closeClean(t, db)
	}
}
