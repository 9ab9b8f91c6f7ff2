// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// The tests in files called quirks_* are about behaviour of bbolt that looks like an accident: what callers may depend
// on is the same here, the rest is better.

// TestNilValueReadsBackNil until it is committed, and empty from then on: callers may depend on it.
func TestNilValueReadsBackNil(t *testing.T) {
	db, _ := openMemory(t, nil)
	must(t, db.Update(func(tx *kv.Tx) error {
		b := mustCreate(t, tx, "b")
		must(t, b.Put([]byte("nil"), nil))
		must(t, b.Put([]byte("empty"), []byte{}))
		if v := b.Get([]byte("nil")); v != nil {
			t.Errorf("nil reads back as %#v in its transaction", v)
		}
		if v := b.Get([]byte("empty")); v == nil || len(v) != 0 {
			t.Errorf("an empty value reads back as %#v in its transaction", v)
		}
		return nil
	}))
	must(t, db.View(func(tx *kv.Tx) error {
		for _, key := range []string{"nil", "empty"} {
			if v := tx.Bucket([]byte("b")).Get([]byte(key)); v == nil || len(v) != 0 {
				t.Errorf("%s reads back as %#v", key, v)
			}
		}
		return nil
	}))
}

// TestDeleteOfUnpositionedCursor does nothing; bbolt panics.
func TestDeleteOfUnpositionedCursor(t *testing.T) {
	db, _ := openMemory(t, nil)
	must(t, db.Update(func(tx *kv.Tx) error {
		empty, b := mustCreate(t, tx, "empty"), mustCreate(t, tx, "b")
		putMany(t, b)
		none := empty.Cursor()
		none.First()
		past := b.Cursor()
		past.Seek([]byte("9"))
		deleted := b.Cursor()
		deleted.First()
		must(t, deleted.Delete())
		for name, c := range map[string]*kv.Cursor{
			"new":               b.Cursor(),
			"new, empty bucket": empty.Cursor(),
			"empty bucket":      none,
			"behind the last":   past,
			"element deleted":   deleted,
		} {
			if err := c.Delete(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := len(keysOf(b)); got != 199 {
			t.Errorf("%d keys left, want 199", got)
		}
		return nil
	}))
}

// TestCursorDeleteLeavesBucketsAlone even if the cursor still shows the plain key that was under that name before.
func TestCursorDeleteLeavesBucketsAlone(t *testing.T) {
	db, _ := openMemory(t, nil)
	must(t, db.Update(putNumbered("b", 200, 8)))
	must(t, db.Update(func(tx *kv.Tx) error {
		b := tx.Bucket([]byte("b"))
		c := b.Cursor()
		k, _ := c.First()
		must(t, b.Delete(k))
		child, err := b.CreateBucket(k)
		must(t, err)
		putMany(t, child)
		if err := c.Delete(); err != kv.ErrIncompatibleValue { //nolint:errorlint // it is to be that value
			t.Errorf("Delete on what has become a bucket: %v", err)
		}
		return nil
	}))
	must(t, db.View(func(tx *kv.Tx) error {
		if child := tx.Bucket([]byte("b")).Bucket(numbered(0)); child == nil || len(keysOf(child)) != 200 {
			t.Error("the bucket is gone")
		}
		return nil
	}))
}

// TestLongBucketNames are fine, although keys have a limit.
func TestLongBucketNames(t *testing.T) {
	name := bytes.Repeat([]byte("n"), 40_000)
	db, disk := openMemory(t, nil)
	must(t, db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucket(name)
		must(t, err)
		inChild(string(name), putAll("a=1"))(t, b)
		return nil
	}))
	must(t, db.Update(func(tx *kv.Tx) error { // rewrites the page of the name
		return tx.Bucket(name).Bucket(name).Put([]byte("b"), []byte("2"))
	}))
	again := mustOpenSim(t, memoryWith(t, readSim(t, disk, simPath)), kv.Options{})
	must(t, again.View(func(tx *kv.Tx) error {
		if got := outline(tx.Bucket(name).Bucket(name)); got != "a=1 b=2" {
			t.Errorf("the bucket has %q", got)
		}
		return nil
	}))
	must(t, again.Update(func(tx *kv.Tx) error { return tx.DeleteBucket(name) }))
	checkClean(t, again)
	must(t, again.Close())
}

// TestRootSequence counts within a transaction and is not stored.
func TestRootSequence(t *testing.T) {
	db, _ := openMemory(t, nil)
	for range 2 {
		must(t, db.Update(func(tx *kv.Tx) error {
			root := tx.Cursor().Bucket()
			for want := uint64(1); want <= 3; want++ {
				if got, err := root.NextSequence(); err != nil || got != want {
					t.Errorf("NextSequence is %d, want %d, %v", got, want, err)
				}
			}
			return nil
		}))
	}
	must(t, db.View(func(tx *kv.Tx) error {
		if got := tx.Cursor().Bucket().Sequence(); got != 0 {
			t.Errorf("the sequence of the root bucket was stored: %d", got)
		}
		return nil
	}))
}

// TestCheckAtTheHighWaterMark finds the first page that cannot be; bbolt lets it pass.
func TestCheckAtTheHighWaterMark(t *testing.T) {
	clean := damageImage(t)
	root := rootOf(t, clean, "b")
	hwm := newestMeta(clean).HWM()
	for _, id := range []uint64{hwm, hwm + 1, 1 << 62} {
		image := bytes.Clone(clean)
		setChild(reportPage(image, root), 1, id)
		wantCheck(t, useDamaged(t, image, kv.Options{}), fmt.Sprintf("page %d: out of bounds: %d", id, hwm))
	}
}

// TestNewFileIsWrittenInOrder demands that the meta pages, which make it a database, are written last, once everything
// else is durable.
func TestNewFileIsWrittenInOrder(t *testing.T) {
	const size = 4096
	faulty := file.NewFault(file.NewMemory())
	var rest, synced, metas bool
	faulty.FailIf(func(op file.Op) error {
		switch op.Kind {
		case file.OpWrite, file.OpWriteVec, file.OpThrough:
			if op.Off+op.Len <= 2*size { // the write before has their headers too
				metas = true
				if !synced {
					t.Errorf("meta pages written ahead of what they refer to: %v", op)
				}
			} else {
				rest, synced = true, false
			}
		case file.OpSync, file.OpSyncData:
			synced = rest
		}
		return nil
	})
	db := mustOpenSim(t, faulty, kv.Options{PageSize: size})
	must(t, db.Close())
	if !rest || !metas {
		t.Error("the file was not written")
	}
}

// TestDefaultOptionsAreShared by all databases opened without options, and can be changed.
func TestDefaultOptionsAreShared(t *testing.T) {
	was := *kv.DefaultOptions
	defer func() { *kv.DefaultOptions = was }()
	kv.DefaultOptions.PageSize = 8192
	kv.DefaultOptions.NoSync = true
	path := t.TempDir() + "/default.db"
	db, err := kv.Open(path, 0o600, nil)
	must(t, err)
	if !db.NoSync || db.Info().PageSize != 8192 {
		t.Errorf("NoSync %t, page size %d", db.NoSync, db.Info().PageSize)
	}
	must(t, db.Close())
}

// TestBucketStatsLookAtPages and not at what the transaction has changed.
func TestBucketStatsLookAtPages(t *testing.T) {
	db, _ := openMemory(t, &kv.Options{PageSize: 1024})
	must(t, db.Update(putNumbered("b", 200, 8)))
	must(t, db.Update(func(tx *kv.Tx) error {
		b := tx.Bucket([]byte("b"))
		before := b.Stats()
		must(t, putNumbered("b", 500, 20)(tx))
		must(t, b.Delete(numbered(0)))
		inChild("child", putMany)(t, b)
		if after := b.Stats(); after != before {
			t.Errorf("statistics changed from %+v to %+v", before, after)
		}
		if before.KeyN != 200 {
			t.Errorf("%d keys", before.KeyN)
		}
		return nil
	}))
	must(t, db.View(func(tx *kv.Tx) error {
		if got := tx.Bucket([]byte("b")).Stats(); got.KeyN != 500+200 || got.BucketN != 2 {
			t.Errorf("once committed: %+v", got)
		}
		return nil
	}))
}
