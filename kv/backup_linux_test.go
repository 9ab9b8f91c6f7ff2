// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/holtdb/holt/kv"
)

// TestWriteFlagDirect reads around the page cache, in several chunks, where the file system lets us.
func TestWriteFlagDirect(t *testing.T) {
	direct := 0
	o := kv.Options{NoSync: true, OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(name, flag, mode)
		if flag&syscall.O_DIRECT != 0 && err == nil {
			direct++
		}
		return f, err
	}}
	db, err := kv.Open(filepath.Join(t.TempDir(), "test.db"), 0o600, &o)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	must(t, db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		if err != nil {
			return err
		}
		return b.Put([]byte("large"), make([]byte, 5<<20))
	}))
	want := content(t, db)
	must(t, db.View(func(tx *kv.Tx) error {
		tx.WriteFlag = syscall.O_DIRECT
		checkBackup(t, backup(t, tx), want)
		return nil
	}))
	if direct == 0 {
		t.Skip("the file system of the temporary directory has no direct reads; the backup was made without")
	}
}
