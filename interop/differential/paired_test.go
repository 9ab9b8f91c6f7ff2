// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/holtdb/holt/kv"
)

// TestPairedMetaPages hands a file whose newest meta page is a paired one to bbolt, which commits and may copy what it
// does not know, and takes it back.
func TestPairedMetaPages(t *testing.T) {
	open, path := filepath.Join(t.TempDir(), "open.db"), filepath.Join(t.TempDir(), "copy.db")
	ours, err := kv.Open(open, 0o600, &kv.Options{SingleSync: true})
	noError(t, err)
	put := func(value string) func(tx *kv.Tx) error {
		return func(tx *kv.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			if err != nil {
				return err
			}
			return b.Put([]byte("k"), []byte(value))
		}
	}
	noError(t, ours.Update(put("one")))
	noError(t, ours.Update(put("two")))
	image, err := os.ReadFile(open) // as a killed process would leave it
	noError(t, err)
	noError(t, os.WriteFile(path, image, 0o600))
	noError(t, ours.Close())

	for _, commits := range []int{1, 2, 3} {
		theirs, err := bbolt.Open(path, 0o600, nil)
		noError(t, err)
		noError(t, theirs.Update(func(tx *bbolt.Tx) error {
			if v := tx.Bucket([]byte("b")).Get([]byte("k")); string(v) != "two" {
				t.Errorf("bbolt finds %q", v)
			}
			for err := range tx.Check() {
				t.Error("bbolt:", err)
			}
			return nil
		}))
		for range commits {
			noError(t, theirs.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte("b")).Put([]byte("k"), []byte("three")) }))
		}
		noError(t, theirs.Close())

		ours, err := kv.Open(path, 0o600, &kv.Options{SingleSync: true})
		noError(t, err)
		noError(t, ours.View(func(tx *kv.Tx) error {
			if v := tx.Bucket([]byte("b")).Get([]byte("k")); string(v) != "three" {
				t.Errorf("after %d commits of bbolt kv finds %q", commits, v)
			}
			for err := range tx.Check() {
				t.Error("kv:", err)
			}
			return nil
		}))
		noError(t, ours.Update(put("two")))
		noError(t, ours.Close())
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
