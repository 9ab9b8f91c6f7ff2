// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

// storedFreelist returns the page with the free list that the newest meta page of an image names.
func storedFreelist(b []byte, pageSize int) uint64 {
	m0, m1 := page.MetaOf(b), page.MetaOf(b[pageSize:])
	if m0.Validate() != nil || m1.Validate() == nil && m1.TxID() > m0.TxID() {
		m0 = m1
	}
	return m0.Freelist()
}

// TestFreelistIsStoredByClose: commits leave it out, Close stores it once, and only if a commit has left it out.
func TestFreelistIsStoredByClose(t *testing.T) {
	const pageSize = 1024
	disk := file.NewMemory()
	db := mustOpenSim(t, disk, kv.Options{PageSize: pageSize})
	for i := range 5 {
		must(t, db.Update(putNumbered("b", 100+i, 30)))
		if id := storedFreelist(readSim(t, disk, simPath), pageSize); id != page.NoFreelist {
			t.Errorf("commit %d stored a free list in page %d", i, id)
		}
	}
	must(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("b")) }))
	want := db.Stats().FreePageN + db.Stats().PendingPageN
	crashed := disk.AfterCutKeeping(file.KeepAll)
	must(t, db.Close())
	closed := readSim(t, disk, simPath)
	if storedFreelist(closed, pageSize) == page.NoFreelist {
		t.Error("Close did not store a free list")
	}
	for name, disk := range map[string]*file.Crash{"closed": disk, "not closed": crashed} {
		db := mustOpenSim(t, disk, kv.Options{PreLoadFreelist: true})
		if got := db.Stats().FreePageN; got < want-1 || got > want { // Close takes one for the list, and then lists one more
			t.Errorf("%s: %d pages are free, want %d", name, got, want)
		}
		closeClean(t, db)
	}
	if !bytes.Equal(readSim(t, disk, simPath), closed) {
		t.Error("opening and closing changed the file")
	}
}

// TestCommitIgnoresFreePages demands that a commit writes the same whether few pages are free or many.
func TestCommitIgnoresFreePages(t *testing.T) {
	var first int64
	for _, gone := range []int{10, 20_000} {
		t.Run(fmt.Sprint(gone), func(t *testing.T) {
			db, disk := openMemory(t, &kv.Options{PageSize: 1024})
			must(t, db.Update(putNumbered("b", 1000, 32)))
			must(t, db.Update(putNumbered("gone", gone, 100)))
			must(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("gone")) }))
			before := disk.Counts().WriteBytes
			must(t, db.Update(func(tx *kv.Tx) error { return tx.Bucket(nameB).Put(numbered(7), []byte("value")) }))
			written := disk.Counts().WriteBytes - before
			if first == 0 {
				first = written
			}
			if written != first {
				t.Errorf("%d bytes were written with %d pages free, %d with few", written, db.Stats().FreePageN, first)
			}
		})
	}
}
