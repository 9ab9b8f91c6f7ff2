// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/holtdb/holt/kv"
)

// TestReportCopyHasItsFreeList is bbolt #67: a copy had the free list of a commit that came after its snapshot, or of
// none. Either meta page of it must do.
func TestReportCopyHasItsFreeList(t *testing.T) {
	for _, noList := range []bool{false, true} {
		t.Run(fmt.Sprintf("NoFreelistSync %t", noList), func(t *testing.T) {
			db, _ := openMemory(t, &kv.Options{PageSize: 1024, NoFreelistSync: noList})
			must(t, db.Update(putNumbered("b", 500, 8)))
			must(t, db.Update(putNumbered("b", 100, 16)))
			tx, err := db.Begin(false)
			must(t, err)
			for i := range 5 { // their free lists must not get into the copy
				must(t, db.Update(putNumbered("other"+strconv.Itoa(i), 200, 8)))
			}
			var image bytes.Buffer
			n, err := tx.WriteTo(&image)
			must(t, err)
			if n != tx.Size() || int64(image.Len()) != n {
				t.Errorf("WriteTo says %d, wrote %d, want %d", n, image.Len(), tx.Size())
			}
			must(t, tx.Rollback())
			useCopy(t, image.Bytes(), noList)
			for broken := range 2 {
				copied := bytes.Clone(image.Bytes())
				copied[broken*1024+40] ^= 0xFF
				useCopy(t, copied, noList)
			}
		})
	}
}

// useCopy demands that a copy can be read and written.
func useCopy(t *testing.T, image []byte, noList bool) {
	t.Helper()
	db := mustOpenSim(t, memoryWith(t, image), kv.Options{NoFreelistSync: noList})
	checkClean(t, db)
	wantBuckets(t, db, "b")
	must(t, db.View(func(tx *kv.Tx) error {
		if got := len(keysOf(tx.Bucket([]byte("b")))); got != 500 {
			t.Errorf("%d keys, want 500", got)
		}
		return nil
	}))
	must(t, db.Update(putNumbered("new", 500, 8)))
	checkClean(t, db)
	must(t, db.Close())
}

// wantBuckets demands that a database has the top-level buckets and nothing else at that level.
func wantBuckets(t *testing.T, db *kv.DB, want ...string) {
	t.Helper()
	must(t, db.View(func(tx *kv.Tx) error {
		if got := keysOf(tx.Cursor().Bucket()); !slices.Equal(got, want) {
			t.Errorf("top-level keys %q, want %q", got, want)
		}
		return nil
	}))
}

// TestReportBackupOfAReplacedFile is bbolt #1057 and #1058: a backup opened the database anew by its path, where
// another file had been put meanwhile, and mixed the two.
func TestReportBackupOfAReplacedFile(t *testing.T) {
	for _, flag := range []int{0, os.O_SYNC} {
		for what, change := range map[string]func(t *testing.T, path string) error{
			"replaced": func(t *testing.T, path string) error {
				other := filepath.Join(t.TempDir(), "other.db")
				must(t, os.WriteFile(other, imageOf(t, nil, putNumbered("other", 500, 8)), 0o600))
				return os.Rename(other, path)
			},
			"removed": func(_ *testing.T, path string) error { return os.Remove(path) },
		} {
			t.Run(fmt.Sprintf("flag %#x, %s", flag, what), func(t *testing.T) {
				db := openTemp(t, nil)
				must(t, db.Update(putNumbered("own", 500, 8)))
				tx, err := db.Begin(false)
				must(t, err)
				defer func() { must(t, tx.Rollback()) }()
				if err := change(t, db.Path()); errors.Is(err, fs.ErrPermission) {
					t.Skip("open files cannot be replaced here:", err)
				} else {
					must(t, err)
				}
				tx.WriteFlag = flag
				var image bytes.Buffer
				_, err = tx.WriteTo(&image)
				must(t, err)
				copied := mustOpenSim(t, memoryWith(t, image.Bytes()), kv.Options{})
				checkClean(t, copied)
				wantBuckets(t, copied, "own")
				must(t, copied.Close())
			})
		}
	}
}
