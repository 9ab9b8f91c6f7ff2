// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// memoryName is what databases in memory are called.
const memoryName = "memory.db"

// openMemory opens a new database in memory. At the end of the test it is checked and closed.
func openMemory(t testing.TB, o *kv.Options) (*kv.DB, *file.Crash) {
	t.Helper()
	disk := file.NewMemory()
	db := openOn(t, disk, o)
	t.Cleanup(func() {
		checkClean(t, db)
		must(t, db.Close())
	})
	return db, disk
}

// openOn opens the database of a file system, which the caller closes.
func openOn(t testing.TB, disk file.FS, o *kv.Options) *kv.DB {
	t.Helper()
	db, err := kv.OpenFS(disk, memoryName, 0o600, o)
	must(t, err)
	return db
}

// readImage returns the bytes of the database of a file system.
func readImage(t testing.TB, disk file.FS) []byte {
	t.Helper()
	f, err := disk.OpenFile(memoryName, os.O_RDONLY, 0)
	must(t, err)
	size, err := f.Size()
	must(t, err)
	image := make([]byte, size)
	if _, err := f.ReadAt(image, 0); err != nil {
		t.Fatal(err)
	}
	must(t, f.Close())
	return image
}

// diskWith returns a file system with a database of the given bytes.
func diskWith(t testing.TB, image []byte) *file.Crash {
	t.Helper()
	disk := file.NewMemory()
	f, err := disk.OpenFile(memoryName, os.O_RDWR|os.O_CREATE, fs.FileMode(0o600))
	must(t, err)
	_, err = f.WriteAt(image, 0)
	must(t, err)
	must(t, f.Close())
	return disk
}

// imageOf returns the bytes of a new database after each of the changes, a transaction each.
func imageOf(t testing.TB, o *kv.Options, changes ...func(tx *kv.Tx) error) []byte {
	t.Helper()
	disk := file.NewMemory()
	db := openOn(t, disk, o)
	for _, change := range changes {
		must(t, db.Update(change))
	}
	must(t, db.Close())
	return readImage(t, disk)
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
