// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/holtdb/holt/kv"
)

// TestLargeCommitsStayTogether puts over keys far apart from each other. What such a commit frees lies here and there. The
// next ones leave it there as long as few pages are free, and write theirs at once, if that is to be synced; after that,
// and else from the beginning, the file stays as it is. Branches are side by side even then, and leaves as far as possible.
func TestLargeCommitsStayTogether(t *testing.T) {
	const keys, changed, commits = 40_000, 30, 60
	for _, noSync := range []bool{false, true} {
		t.Run(fmt.Sprintf("NoSync %t", noSync), func(t *testing.T) {
			db, _ := openMemory(t, &kv.Options{PageSize: 4096, NoSync: noSync})
			must(t, db.Update(putNumbered("b", keys, 100)))
			scatter := func(n int) (writes int64) {
				before := db.Stats()
				must(t, db.Update(func(tx *kv.Tx) error {
					for i := range changed {
						key := numbered((n + i*1327) % keys)
						if err := tx.Bucket([]byte("b")).Put(key, key); err != nil {
							return err
						}
					}
					return nil
				}))
				after := db.Stats()
				done := after.Sub(&before).TxStats
				return done.GetWrite()
			}
			scatter(0) // finds nothing free
			start := highWater(t, db)
			writes := scatter(1)
			if together := writes <= 3; together == noSync {
				t.Errorf("%d writes", writes)
			}
			for n := range commits {
				scatter(n + 2)
			}
			writes = 0
			for n := range commits {
				writes += scatter(commits + n + 2)
			}
			most := int64(changed)
			if !noSync {
				most /= 2 // its leaves lie in few runs
			}
			if writes > most*commits {
				t.Errorf("%d writes for %d commits", writes, commits)
			}
			limit := start * 8 / 7
			if noSync {
				limit = start + start/16
			}
			if pages := highWater(t, db); pages > limit {
				t.Errorf("%d pages have become %d, more than %d", start, pages, limit)
			}
		})
	}
}

// TestCommitLargerThanItLooked has a commit become several times as large as its nodes looked before leaves were read, in
// a file near its limit: as long as there are free pages they are taken.
func TestCommitLargerThanItLooked(t *testing.T) {
	const pageSize, keys, rounds, beyond = 1024, 8000, 200, 18
	db, _ := openMemory(t, &kv.Options{PageSize: pageSize})
	must(t, db.Update(putNumbered("b", keys, 50)))
	failed := 0
	for round := range rounds {
		db.MaxSize = (highWater(t, db) + beyond) * pageSize
		var tx *kv.Tx
		put := func(t *kv.Tx) (err error) {
			tx = t
			for i := range 32 { // eight side by side in a leaf
				key := numbered((round*997+i/8*16)%keys + i%8)
				err = errors.Join(err, tx.Bucket([]byte("b")).Put(key, make([]byte, 300-round)))
			}
			return err
		}
		err := db.Update(put)
		if err == nil {
			continue
		}
		failed++
		room := beyond + db.Stats().FreePageN
		db.MaxSize = 0
		must(t, db.Update(put))
		stats := tx.Stats()
		if pages := stats.GetPageCount(); !errors.Is(err, kv.ErrMaxSizeReached) || pages <= int64(room) {
			t.Errorf("round %d: there was room for %d pages, and none for %d: %v", round, room, pages, err)
		}
	}
	if failed == 0 {
		t.Error("no commit came near the limit")
	}
}

// TestAppendBehindOtherChange puts keys behind all others, in a transaction that has changed a leaf beside the last one or
// not: the new leaves are as full.
func TestAppendBehindOtherChange(t *testing.T) {
	const keys, more = 2000, 1000
	var leaves []int
	for _, other := range []bool{false, true} {
		db, _ := openMemory(t, &kv.Options{PageSize: 1024})
		must(t, db.Update(putNumbered("b", keys, 50)))
		must(t, db.Update(func(tx *kv.Tx) error {
			b := tx.Bucket([]byte("b"))
			if other {
				must(t, b.Put(numbered(keys-20), make([]byte, 50)))
			}
			for i := range more {
				must(t, b.Put(numbered(keys+i), make([]byte, 50)))
			}
			return nil
		}))
		must(t, db.View(func(tx *kv.Tx) error {
			leaves = append(leaves, tx.Bucket([]byte("b")).Stats().LeafPageN)
			return nil
		}))
	}
	if leaves[0] != leaves[1] {
		t.Errorf("%d leaves, and %d with another change", leaves[0], leaves[1])
	}
}
