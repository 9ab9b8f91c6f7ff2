// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package bbolt_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/kv"
	bolt "go.etcd.io/bbolt"
	"go.etcd.io/bbolt/errors"
)

// Types are aliases: what one name makes, the other takes.
var (
	_ = func(db *bolt.DB) *kv.DB { return db }
	_ = func(tx *bolt.Tx) *kv.Tx { return tx }
	_ = func(fn func(*bolt.Tx) error) func(*kv.Tx) error { return fn }
)

func TestDefaultOptionsAreShared(t *testing.T) {
	if bolt.DefaultOptions != kv.DefaultOptions {
		t.Error("DefaultOptions is a copy: a program that changes it changes nothing")
	}
}

func TestErrorsAreIdentical(t *testing.T) {
	for _, test := range [][3]error{
		{bolt.ErrDatabaseNotOpen, errors.ErrDatabaseNotOpen, kv.ErrDatabaseNotOpen},
		{bolt.ErrInvalid, errors.ErrInvalid, kv.ErrInvalid},
		{bolt.ErrInvalidMapping, errors.ErrInvalidMapping, kv.ErrInvalidMapping},
		{bolt.ErrVersionMismatch, errors.ErrVersionMismatch, kv.ErrVersionMismatch},
		{bolt.ErrChecksum, errors.ErrChecksum, kv.ErrChecksum},
		{bolt.ErrTimeout, errors.ErrTimeout, kv.ErrTimeout},
		{bolt.ErrTxNotWritable, errors.ErrTxNotWritable, kv.ErrTxNotWritable},
		{bolt.ErrTxClosed, errors.ErrTxClosed, kv.ErrTxClosed},
		{bolt.ErrDatabaseReadOnly, errors.ErrDatabaseReadOnly, kv.ErrDatabaseReadOnly},
		{bolt.ErrFreePagesNotLoaded, errors.ErrFreePagesNotLoaded, kv.ErrFreePagesNotLoaded},
		{bolt.ErrBucketNotFound, errors.ErrBucketNotFound, kv.ErrBucketNotFound},
		{bolt.ErrBucketExists, errors.ErrBucketExists, kv.ErrBucketExists},
		{bolt.ErrBucketNameRequired, errors.ErrBucketNameRequired, kv.ErrBucketNameRequired},
		{bolt.ErrKeyRequired, errors.ErrKeyRequired, kv.ErrKeyRequired},
		{bolt.ErrKeyTooLarge, errors.ErrKeyTooLarge, kv.ErrKeyTooLarge},
		{bolt.ErrValueTooLarge, errors.ErrValueTooLarge, kv.ErrValueTooLarge},
		{bolt.ErrIncompatibleValue, errors.ErrIncompatibleValue, kv.ErrIncompatibleValue},
		{errors.ErrMaxSizeReached, errors.ErrMaxSizeReached, kv.ErrMaxSizeReached},
		{errors.ErrSameBuckets, errors.ErrSameBuckets, kv.ErrSameBuckets},
		{errors.ErrDifferentDB, errors.ErrDifferentDB, kv.ErrDifferentDB},
	} {
		if test[0] != test[1] || test[1] != test[2] { //nolint:errorlint // identity is the point
			t.Errorf("%q, %q and %q are not one value", test[0], test[1], test[2])
		}
	}
}

func TestCompactAndCheck(t *testing.T) {
	dir := t.TempDir()
	src, dst := open(t, filepath.Join(dir, "src")), open(t, filepath.Join(dir, "dst"))
	err := src.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("bucket"))
		if err != nil {
			return err
		}
		return b.Put([]byte("key"), []byte("value"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := bolt.Compact(dst, src, 0); err != nil {
		t.Fatal(err)
	}
	err = dst.View(func(tx *bolt.Tx) error {
		if got := tx.Bucket([]byte("bucket")).Get([]byte("key")); string(got) != "value" {
			t.Errorf("the copy holds %q", got)
		}
		for err := range tx.Check(bolt.WithKVStringer(bolt.HexKVStringer()), bolt.WithPageId(0)) {
			t.Error(err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOpenFindsFreePages opens a file that does not name its free pages: Open counts them all the same.
func TestOpenFindsFreePages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unlisted")
	for round := range 3 {
		db, err := bolt.Open(path, 0o600, &bolt.Options{NoFreelistSync: round < 2})
		if err != nil {
			t.Fatal(err)
		}
		if n := db.Stats().FreePageN; round > 0 && n == 0 {
			t.Errorf("round %d: no page is free", round)
		}
		err = db.Update(func(tx *bolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("bucket"))
			if err != nil {
				return err
			}
			return b.Put([]byte("key"), make([]byte, 50_000))
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, path string) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func Example() {
	dir, err := os.MkdirTemp("", "bbolt-")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	db, err := bolt.Open(filepath.Join(dir, "my.db"), 0o600, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()

	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte("animals"))
		if err != nil {
			return err
		}
		return b.Put([]byte("otter"), []byte("holt"))
	})
	if err != nil {
		log.Fatal(err)
	}
	err = db.View(func(tx *bolt.Tx) error {
		fmt.Printf("%s\n", tx.Bucket([]byte("animals")).Get([]byte("otter")))
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: holt
}
