// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"fmt"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// openMemory opens a new database in memory. At the end of the test it is checked and closed.
func openMemory(t testing.TB, o *kv.Options) (*kv.DB, *file.Crash) {
	t.Helper()
	disk := file.NewMemory()
	db := mustOpenSim(t, disk, orZero(o))
	t.Cleanup(func() { closeClean(t, db) })
	return db, disk
}

// closeClean checks a database and closes it, unless transactions may be open, for which Close would wait.
func closeClean(t testing.TB, db *kv.DB) {
	t.Helper()
	switch open := db.Stats().OpenTxN; {
	case open > 0:
		t.Errorf("%d read transactions are open at the end", open)
	case !t.Failed():
		checkClean(t, db)
		must(t, db.Close())
	}
}

// orZero is what a nil pointer to options stands for here.
func orZero(o *kv.Options) kv.Options {
	if o == nil {
		return kv.Options{}
	}
	return *o
}

// imageOf returns the bytes of a new database after each of the changes, a transaction each.
func imageOf(t testing.TB, o *kv.Options, changes ...func(tx *kv.Tx) error) []byte {
	t.Helper()
	disk := file.NewMemory()
	db := mustOpenSim(t, disk, orZero(o))
	for _, change := range changes {
		must(t, db.Update(change))
	}
	must(t, db.Close())
	return readSim(t, disk, simPath)
}

// numbered is the i-th key of many in ascending order.
func numbered(i int) []byte { return fmt.Appendf(nil, "%08d", i) }

// putNumbered makes a bucket and puts n keys with values of a size into it, in one transaction.
func putNumbered(bucket string, n, size int) func(tx *kv.Tx) error {
	return func(tx *kv.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte(bucket))
		if err != nil {
			return err
		}
		value := make([]byte, size)
		for i := range n {
			if err := b.Put(numbered(i), value); err != nil {
				return err
			}
		}
		return nil
	}
}

// keysOf lists the keys of a bucket as a cursor meets them from First on.
func keysOf(b *kv.Bucket) (keys []string) {
	c := b.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		keys = append(keys, string(k))
	}
	return keys
}

// highWater is the number of pages of the file that are or were in use.
func highWater(t testing.TB, db *kv.DB) (pages int) {
	t.Helper()
	must(t, db.View(func(tx *kv.Tx) error {
		pages = int(tx.Size()) / db.Info().PageSize
		return nil
	}))
	return pages
}

// mustCreate makes a top-level bucket.
func mustCreate(t testing.TB, tx *kv.Tx, name string) *kv.Bucket {
	t.Helper()
	b, err := tx.CreateBucket([]byte(name))
	must(t, err)
	return b
}
