// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

// TestAppendAfterPut appends keys in transactions that put over one key first, so that the last leaf is put to before its
// page is looked at. The leaves become as full as if nothing was put over.
func TestAppendAfterPut(t *testing.T) {
	const keys, commits, each = 3000, 4, 50
	leaves := func(over ...int) (pages int) {
		db, _ := openMemory(t, &kv.Options{PageSize: 1024})
		must(t, db.Update(putNumbered("b", keys, 100)))
		for from := keys; from < keys+commits*each; from += each {
			must(t, db.Update(func(tx *kv.Tx) error {
				b := tx.Bucket([]byte("b"))
				for _, i := range over {
					must(t, b.Put(numbered(i), filler(1, 100)))
				}
				for i := range each {
					must(t, b.Put(numbered(from+i), filler(i, 100)))
				}
				return nil
			}))
		}
		must(t, db.View(func(tx *kv.Tx) error {
			pages = tx.Bucket([]byte("b")).Stats().LeafPageN
			return nil
		}))
		return pages
	}
	want := leaves()
	for _, over := range []int{0, keys - 50, keys - 20} { // under another branch, or the one of the last leaf
		if have := leaves(over); have != want {
			t.Errorf("%d leaves if key %d is put over, %d if none is", have, over, want)
		}
	}
}

// TestBlindPutOfDamagedLeaf changes the number of elements of a leaf on the disk that the open database knows, and puts to
// it without having looked again. The commit fails and changes nothing.
func TestBlindPutOfDamagedLeaf(t *testing.T) {
	const keys = 150
	update := func(db *kv.DB, which ...int) error {
		return db.Update(func(tx *kv.Tx) error {
			for _, i := range which {
				if err := tx.Bucket([]byte("b")).Put(numbered(i), filler(i, 30)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	all := make([]int, keys)
	for i := range all {
		all[i] = i
	}
	for _, more := range []int{-1, -5, 1} {
		db, disk := openMemory(t, &kv.Options{PageSize: 1024})
		must(t, db.Update(putNumbered("b", keys, 30)))
		must(t, update(db, all...))
		want, err := soundContent(db)
		must(t, err)

		at := pageWithKey(t, db, readSim(t, disk, simPath), numbered(keys/2))
		f, err := disk.OpenFile(simPath, os.O_RDWR, 0)
		must(t, err)
		header := make(page.Page, page.HeaderSize)
		_, err = f.ReadAt(header, at)
		must(t, err)
		damaged := bytes.Clone(header)
		page.Page(damaged).PutHeader(header.ID(), page.Leaf, header.Count()+more, 0)
		_, err = f.WriteAt(damaged, at)
		must(t, err)

		var corrupt *kv.CorruptError
		if err := update(db, 0, keys/2); !errors.As(err, &corrupt) || corrupt.Off != at {
			t.Errorf("%+d elements: commit: %v, want damage at %d", more, err, at)
		}
		_, err = f.WriteAt(header, at)
		must(t, err)
		must(t, f.Close())
		if have, err := soundContent(db); err != nil || have != want {
			t.Errorf("%+d elements: %v, %s", more, err, firstDifference(have, want))
		}
		must(t, update(db, 0, keys/2))
	}
}

// pageWithKey is where the leaf in use lies, in bytes, that has a key which is not its first.
func pageWithKey(t *testing.T, db *kv.DB, b []byte, key []byte) (off int64) {
	t.Helper()
	size := db.Info().PageSize
	must(t, db.View(func(tx *kv.Tx) error {
		for id := 2; id < len(b)/size; id++ {
			info, err := tx.Page(id)
			if err != nil {
				return err
			}
			if info == nil || info.Type != "leaf" {
				continue
			}
			p := page.Page(b[id*size : (id+1)*size])
			for i := 1; i < p.Count(); i++ {
				if k, ok := p.Key(i); ok && bytes.Equal(k, key) {
					off = int64(id * size)
				}
			}
		}
		return nil
	}))
	if off == 0 {
		t.Fatalf("no leaf has %q", key)
	}
	return off
}
