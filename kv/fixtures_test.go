// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holtdb/holt/internal/fixture"
	"github.com/holtdb/holt/kv"
)

// TestEtcdSmall reads a database that etcd wrote.
func TestEtcdSmall(t *testing.T) {
	path := filepath.Join("testdata", "etcd-small")
	checkForeignFile(t, gunzip(t, path+".db.gz"), gunzip(t, path+".dump.gz"))
}

// TestEtcdLarge does the same with one of 18 MiB, which is not kept here.
func TestEtcdLarge(t *testing.T) {
	checkForeignFile(t, fixture.Unxz(t, "kv", "etcd.db.xz"), fixture.Unxz(t, "kv", "etcd.dump.xz"))
}

func gunzip(t *testing.T, path string) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checkForeignFile demands that a file has the content of dump: read as it is, and after it was written to.
func checkForeignFile(t *testing.T, file, dump []byte) {
	path := filepath.Join(t.TempDir(), "foreign.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("read only", func(t *testing.T) {
		db := openForeign(t, path, &kv.Options{ReadOnly: true, PreLoadFreelist: true})
		checkContent(t, db, dump)
		closeForeign(t, db)
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(after, file) {
			t.Error("reading changed the file")
		}
	})
	t.Run("rewritten", func(t *testing.T) {
		db := openForeign(t, path, &kv.Options{NoSync: true})
		rewrite(t, db)
		checkContent(t, db, dump)
		closeForeign(t, db)
		db = openForeign(t, path, nil)
		checkContent(t, db, dump)
		closeForeign(t, db)
	})
}

func openForeign(t *testing.T, path string, o *kv.Options) *kv.DB {
	t.Helper()
	db, err := kv.Open(path, 0o600, o)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func closeForeign(t *testing.T, db *kv.DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// rewrite deletes and stores again all pairs of the top-level buckets, a transaction each time.
func rewrite(t *testing.T, db *kv.DB) {
	t.Helper()
	type pair struct{ bucket, key, value []byte }
	var pairs []pair
	err := db.Update(func(tx *kv.Tx) error {
		err := tx.ForEach(func(name []byte, b *kv.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				pairs = append(pairs, pair{bytes.Clone(name), bytes.Clone(k), bytes.Clone(v)})
				return nil
			})
		})
		for _, p := range pairs {
			if err == nil {
				err = tx.Bucket(p.bucket).Delete(p.key)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *kv.Tx) error {
		for _, p := range pairs {
			if err := tx.Bucket(p.bucket).Put(p.key, p.value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkContent compares the whole content of a database with a dump, and demands that Check finds nothing.
func checkContent(t *testing.T, db *kv.DB, dump []byte) {
	t.Helper()
	var have bytes.Buffer
	err := db.View(func(tx *kv.Tx) error {
		for err := range tx.Check() {
			t.Error("check:", err)
		}
		return tx.ForEach(func(name []byte, b *kv.Bucket) error {
			return dumpBucket(&have, hex.EncodeToString(name), b)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	haveLines, wantLines := strings.Split(have.String(), "\n"), strings.Split(string(dump), "\n")
	for i := range min(len(haveLines), len(wantLines)) {
		if haveLines[i] != wantLines[i] {
			t.Fatalf("line %d of the dump:\nhave %s\nwant %s", i+1, haveLines[i], wantLines[i])
		}
	}
	if len(haveLines) != len(wantLines) {
		t.Fatalf("%d lines in the dump, want %d", len(haveLines), len(wantLines))
	}
}

// dumpBucket writes what testdata/README.md describes, and demands that Get finds what ForEach shows.
func dumpBucket(w io.Writer, path string, b *kv.Bucket) error {
	fmt.Fprintf(w, "B %s %d\n", path, b.Sequence())
	return b.ForEach(func(k, v []byte) error {
		if got := b.Get(k); !bytes.Equal(got, v) || (got == nil) != (v == nil) {
			return fmt.Errorf("bucket %s, key %x: Get returns %d bytes, ForEach %d", path, k, len(got), len(v))
		}
		if v == nil {
			return dumpBucket(w, path+"/"+hex.EncodeToString(k), b.Bucket(k))
		}
		text := hex.EncodeToString(v)
		if len(v) > 32 {
			text = fmt.Sprintf("H%d:%x", len(v), sha256.Sum256(v))
		}
		_, err := fmt.Fprintf(w, "K %x %s\n", k, text)
		return err
	})
}
