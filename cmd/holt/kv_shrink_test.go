// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/kv"
)

// TestShrinkKilled kills holt kv shrink, or interrupts it, at some moment, again and again. Every time the file must be
// sound and hold what it held; in the end it must have become smaller.
func TestShrinkKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	fillSparse(t, path, 30_000)
	before, want := fileSize(path), dump(t, path)
	for i := range 8 {
		cmd := exec.CommandContext(t.Context(), "holt", "kv", "shrink", "--step-bytes", "16384", path) // testscript.Main put it in the path
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(10+15*i) * time.Millisecond)
		end := os.Kill
		if i%2 == 1 && runtime.GOOS != "windows" {
			end = os.Interrupt
		}
		_ = cmd.Process.Signal(end) // it may have come to its end
		err := cmd.Wait()
		t.Logf("%v after %d ms: %v: %s%d bytes", end, 10+15*i, err, stderr.String(), fileSize(path))
		if got := dump(t, path); got != want {
			t.Fatal("something else is in it now")
		}
	}
	if r := holt(t, "kv", "shrink", path); r.status != 0 {
		t.Fatal(r.stderr)
	}
	if after := fileSize(path); after > before/2 || dump(t, path) != want {
		t.Errorf("%d bytes in the end, %d at first", after, before)
	}
}

// fillSparse makes a database of n keys and deletes every other.
func fillSparse(t *testing.T, path string, n int) {
	t.Helper()
	db, err := kv.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, fn := range []func(b *kv.Bucket, i int) error{
		func(b *kv.Bucket, i int) error { return b.Put(fmt.Appendf(nil, "%08d", i), make([]byte, 100)) },
		func(b *kv.Bucket, i int) error {
			if i%2 == 0 {
				return nil
			}
			return b.Delete(fmt.Appendf(nil, "%08d", i))
		},
	} {
		err := db.Update(func(tx *kv.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			for i := 0; i < n && err == nil; i++ {
				err = fn(b, i)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// dump checks a database and returns its keys.
func dump(t *testing.T, path string) string {
	t.Helper()
	if r := holt(t, "kv", "check", path); r.status != 0 {
		t.Fatal(r.stdout, r.stderr)
	}
	r := holt(t, "kv", "keys", path, "b")
	if r.status != 0 {
		t.Fatal(r.stderr)
	}
	return r.stdout
}
