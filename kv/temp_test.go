// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/kv"
)

// openTemp opens a new database that does not sync, unless options are given. At the end of the test it is checked and
// closed.
func openTemp(t testing.TB, o *kv.Options) *kv.DB {
	t.Helper()
	if o == nil {
		o = &kv.Options{NoSync: true}
	}
	db, err := kv.Open(filepath.Join(t.TempDir(), "test.db"), 0o600, o)
	must(t, err)
	t.Cleanup(func() { closeClean(t, db) })
	return db
}

// checkClean demands that Check finds nothing.
func checkClean(t testing.TB, db *kv.DB) {
	t.Helper()
	must(t, db.View(func(tx *kv.Tx) error {
		for err := range tx.Check() {
			t.Error("check:", err)
		}
		return nil
	}))
}

// must ends the test if there was an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	must(t, os.WriteFile(path, b, 0o600))
}

// wantErr demands an error as it is, without anything around it: callers of this API compare with ==.
func wantErr(t testing.TB, have, want error) {
	t.Helper()
	if have != want { //nolint:errorlint // see above
		t.Errorf("have %v, want %v", have, want)
	}
}
