// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/kv"
)

// whenWritten is a context that is cancelled as soon as a file whose name fits has that many bytes.
type whenWritten struct {
	context.Context
	pattern string
	bytes   int64
}

func (c whenWritten) Err() error {
	paths, _ := filepath.Glob(c.pattern) // of a pattern that is in order
	for _, path := range paths {
		if fileSize(path) >= c.bytes {
			return context.Canceled
		}
	}
	return nil
}

// TestCompactInterrupted: an interrupted compaction leaves no file behind, under whatever name.
func TestCompactInterrupted(t *testing.T) {
	dir := t.TempDir()
	c := compaction{src: filepath.Join(dir, "src.db"), dst: filepath.Join(dir, "dst.db"), txMax: 1 << 16}
	db, err := kv.Open(c.src, newFileMode, &kv.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		for i := range 8000 {
			err = errors.Join(err, b.Put([]byte{byte(i >> 8), byte(i)}, make([]byte, 1000)))
		}
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		compaction
		bytes int64
		err   error
		names string
	}{
		{c, 0, context.Canceled, "[src.db]"},
		{c, 1 << 20, context.Canceled, "[src.db]"},
		{c, 1 << 30, nil, "[dst.db src.db]"},
	} {
		ctx := whenWritten{t.Context(), c.dst + ".*.tmp", c.bytes}
		err := c.copyNew(ctx, &opener{}, newFileMode, nil)
		if !errors.Is(err, c.err) {
			t.Errorf("cancelled after %d bytes: have %v, want %v", c.bytes, err, c.err)
		}
		if names := fileNames(t, dir); names != c.names {
			t.Errorf("cancelled after %d bytes: there are %s, want %s", c.bytes, names, c.names)
		}
	}
}

// TestCompactReadOnlyFile: the copy of a file that nobody may write to is such a one, too.
func TestCompactReadOnlyFile(t *testing.T) {
	dir := t.TempDir()
	c := compaction{src: filepath.Join(dir, "src.db"), dst: filepath.Join(dir, "dst.db")}
	db, err := kv.Open(c.src, newFileMode, nil)
	if err != nil {
		t.Fatal(err)
	}
	const mode = 0o444
	if err := errors.Join(db.Close(), os.Chmod(c.src, mode)); err != nil {
		t.Fatal(err)
	}
	if err := c.copyNew(t.Context(), &opener{}, mode, nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(c.dst)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != mode {
		t.Errorf("the copy has mode %v", info.Mode())
	}
}

func fileNames(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return fmt.Sprint(names)
}
