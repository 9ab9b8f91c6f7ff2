// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestOpenDamagedMeta changes each byte of the header and record of each meta
// page, or of both, and demands that both engines open the file alike: with
// the same error, or with the same content and the same verdict of their checks.
func TestOpenDamagedMeta(t *testing.T) {
	for _, pageSize := range []int{1024, 4096, 16384} {
		file := sampleFile(t, pageSize)
		for at := range 80 {
			for _, metas := range [][]int{{0}, {1}, {0, 1}} {
				damaged := bytes.Clone(file)
				for _, m := range metas {
					damaged[m*pageSize+at] ^= 0x41
				}
				compareOpening(t, fmt.Sprintf("page size %d, byte %d of metas %v", pageSize, at, metas), damaged, options{}, wholeContent)
			}
		}
	}
}

// TestOpenOddFiles opens files of odd lengths and with other page sizes in the
// options than in the file.
func TestOpenOddFiles(t *testing.T) {
	for _, n := range []int{0, 1, 100, 1023, 1024, 2048, 4095, 4096, 8191, 8192, 16384, 65536} {
		for _, pageSize := range []int{1024, 2048, 8192} {
			opts := options{pageSize: pageSize}
			compareOpening(t, fmt.Sprintf("%d letters, page size %d", n, pageSize), bytes.Repeat([]byte("a"), n), opts, wholeContent)
			if n != 4*pageSize { // four empty pages are a creation cut short, which kv completes
				compareOpening(t, fmt.Sprintf("%d zero bytes, page size %d", n, pageSize), make([]byte, n), opts, wholeContent)
			}
		}
	}
	for _, pageSize := range []int{1024, 2048, 4096, 8192, 32768} {
		file := sampleFile(t, pageSize)
		for _, n := range []int{100, pageSize / 2, pageSize, pageSize + 80, 2 * pageSize} {
			compareOpening(t, fmt.Sprintf("first %d bytes, page size %d", n, pageSize), file[:n], options{readOnly: true}, untouched)
		}
		for _, other := range []int{0, 512, 1024, 4096, 65536} {
			compareOpening(t, fmt.Sprintf("page size %d in options, %d in file", other, pageSize), file, options{pageSize: other}, wholeContent)
			damaged := bytes.Clone(file)
			damaged[16] ^= 1
			compareOpening(t, fmt.Sprintf("page size %d in options, %d in meta 1", other, pageSize), damaged, options{pageSize: other}, wholeContent)
		}
	}
}

// sampleFile is a small database whose metas hold different roots.
func sampleFile(t *testing.T, pageSize int) []byte {
	name := filepath.Join(t.TempDir(), "db")
	db, err := bolt.open(name, options{pageSize: pageSize})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		err := db.Update(func(tx transaction) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			if err != nil {
				return err
			}
			return b.Put(fmt.Appendf(nil, "key%d", i), []byte("value"))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func compareOpening(t *testing.T, name string, file []byte, opts options, look func(database) string) {
	t.Helper()
	ours, theirs := opening(t, holt, file, opts, look), opening(t, bolt, file, opts, look)
	if ours != theirs {
		t.Errorf("%s: got:\n%s\nwant:\n%s", name, ours, theirs)
	}
}

// opening tells how an engine opens a file, and what look finds in it.
func opening(t *testing.T, e *engine, file []byte, opts options, look func(database) string) string {
	name := filepath.Join(t.TempDir(), "db")
	if err := os.WriteFile(name, file, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := e.open(name, opts)
	if err != nil {
		return e.errorName(err)
	}
	outcome := look(db)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	return outcome
}

func contentOnly(db database) (found string) {
	err := db.View(func(tx transaction) error {
		found = fmt.Sprintf("tx %d, %d bytes\n%s", tx.ID(), tx.Size(), strings.Join(content(tx), "\n"))
		return nil
	})
	return fmt.Sprint(found, err)
}

func wholeContent(db database) string {
	damaged := false
	err := db.View(func(tx transaction) error {
		damaged = len(tx.Check()) > 0
		return nil
	})
	return fmt.Sprint(contentOnly(db), damaged, err)
}

// untouched looks at nothing: bbolt faults when it reads a page that is not
// in the file.
func untouched(database) string { return "opens" }

// TestLocks holds a file with one engine and opens it with another: a writer
// excludes everyone, readers only writers.
func TestLocks(t *testing.T) {
	engines := []*engine{holt, bolt}
	for _, holder := range engines {
		for _, other := range engines {
			t.Run(holder.name+" then "+other.name, func(t *testing.T) {
				for _, readOnly := range []bool{true, false} {
					for _, wantsWrite := range []bool{true, false} {
						tryLock(t, holder, other, readOnly, wantsWrite)
					}
				}
			})
		}
	}
}

func tryLock(t *testing.T, holder, other *engine, readOnly, wantsWrite bool) {
	name := filepath.Join(t.TempDir(), "db")
	if err := os.WriteFile(name, sampleFile(t, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := holder.open(name, options{readOnly: readOnly})
	if err != nil {
		t.Fatal(err)
	}
	want := "ErrTimeout"
	if readOnly && !wantsWrite {
		want = "ok"
	}
	for range 2 { // the second time the lock is free
		db, err := other.open(name, options{readOnly: !wantsWrite, timeout: 60 * time.Millisecond})
		if got := other.errorName(err); got != want {
			t.Errorf("held read-only %t, wants to write %t: got %s, want %s", readOnly, wantsWrite, got, want)
		}
		if err == nil {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := held.Close(); err != nil {
			t.Error(err)
		}
		want = "ok"
	}
}
