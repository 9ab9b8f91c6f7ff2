// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

// content is contentOf in a transaction.
func content(t testing.TB, db *kv.DB) (s string) {
	t.Helper()
	must(t, db.View(func(tx *kv.Tx) error {
		s = contentOf(tx)
		return nil
	}))
	return s
}

// openSample opens a database like that of sampleFile.
func openSample(t testing.TB, o kv.Options) (db *kv.DB, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "sample.db")
	writeFile(t, path, sampleFile(t))
	o.NoSync = true
	db, err := kv.Open(path, 0o600, &o)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db, path
}

// backup returns what WriteTo writes.
func backup(t testing.TB, tx *kv.Tx) []byte {
	t.Helper()
	var out bytes.Buffer
	n, err := tx.WriteTo(&out)
	must(t, err)
	if n != tx.Size() || int64(out.Len()) != n {
		t.Fatalf("WriteTo returns %d and writes %d bytes, Size is %d", n, out.Len(), tx.Size())
	}
	return out.Bytes()
}

// checkBackup demands that a backup is a sound database with the given content, one that can be written to.
func checkBackup(t testing.TB, b []byte, want string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup.db")
	writeFile(t, path, b)
	db, err := kv.Open(path, 0o600, &kv.Options{NoSync: true})
	must(t, err)
	defer func() { must(t, db.Close()) }()
	checkClean(t, db)
	if have := content(t, db); have != want {
		t.Errorf("the backup has\n%swant\n%s", have, want)
	}
	must(t, db.Update(func(tx *kv.Tx) error { return fillSample(tx, 99) }))
	checkClean(t, db)
}

func TestWriteTo(t *testing.T) {
	db, _ := openSample(t, kv.Options{})
	want := content(t, db)
	must(t, db.View(func(tx *kv.Tx) error {
		b := backup(t, tx)
		f := pages(b)
		for id := range uint64(2) {
			m := page.MetaOf(f.page(id))
			if err := m.Validate(); err != nil {
				t.Errorf("meta %d: %v", id, err)
			}
			if f.page(id).ID() != id || m.TxID() != uint64(tx.ID())-id {
				t.Errorf("meta %d has id %d and transaction %d; the transaction is %d", id, f.page(id).ID(), m.TxID(), tx.ID())
			}
		}
		checkBackup(t, b, want)
		// Either meta does.
		clear(f[samplePageSize : 2*samplePageSize])
		checkBackup(t, b, want)
		b = backup(t, tx)
		clear(b[:samplePageSize])
		checkBackup(t, b, want)
		return nil
	}))
}

// TestWriteToNoFreelist backs up a file that stores no free list.
func TestWriteToNoFreelist(t *testing.T) {
	db, _ := openSample(t, kv.Options{NoFreelistSync: true})
	must(t, db.Update(func(tx *kv.Tx) error { return fillSample(tx, 7) }))
	want := content(t, db)
	must(t, db.View(func(tx *kv.Tx) error {
		checkBackup(t, backup(t, tx), want)
		return nil
	}))
}

// TestWriteToInWriter: what is not committed is not in the backup.
func TestWriteToInWriter(t *testing.T) {
	db, _ := openSample(t, kv.Options{})
	want := content(t, db)
	must(t, db.Update(func(tx *kv.Tx) error {
		if err := tx.DeleteBucket([]byte("tree")); err != nil {
			return err
		}
		checkBackup(t, backup(t, tx), want)
		return nil
	}))
}

// TestWriteToBesideWriter backs up again and again while another goroutine commits.
func TestWriteToBesideWriter(t *testing.T) {
	db, _ := openSample(t, kv.Options{})
	var stop atomic.Bool
	done := make(chan error)
	go func() {
		for round := 0; ; round++ {
			err := db.Update(func(tx *kv.Tx) error {
				if round%5 == 4 {
					return tx.DeleteBucket([]byte("tree"))
				}
				return fillSample(tx, round)
			})
			if err != nil || stop.Load() {
				done <- err
				return
			}
		}
	}()
	first := id(t, db)
	for backups := 0; backups < 10 || id(t, db) < first+20; backups++ {
		must(t, db.View(func(tx *kv.Tx) error {
			want := contentOf(tx)
			checkBackup(t, backup(t, tx), want)
			return nil
		}))
	}
	stop.Store(true)
	must(t, <-done)
	checkClean(t, db)
}

// shortWriter fails after n bytes.
type shortWriter struct{ n int }

var errFull = errors.New("full")

func (w *shortWriter) Write(p []byte) (int, error) {
	if len(p) > w.n {
		n := w.n
		w.n = 0
		return n, errFull
	}
	w.n -= len(p)
	return len(p), nil
}

func TestWriteToFails(t *testing.T) {
	db, _ := openSample(t, kv.Options{})
	must(t, db.View(func(tx *kv.Tx) error {
		for _, test := range []struct {
			room   int
			prefix string
		}{
			{0, "meta 0 copy: "},
			{samplePageSize, "meta 1 copy: "},
			{2*samplePageSize + 5, "full"},
			{int(tx.Size()) - 1, "full"},
		} {
			n, err := tx.WriteTo(&shortWriter{test.room})
			if n != int64(test.room) || !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), test.prefix) {
				t.Errorf("room for %d bytes: %d written, error %v", test.room, n, err)
			}
		}
		return nil
	}))
}

func TestWriteToEnds(t *testing.T) {
	db, _ := openSample(t, kv.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tx, err := db.Begin(false)
	must(t, err)
	_, err = tx.WriteToContext(ctx, io.Discard)
	wantErr(t, err, context.Canceled)
	must(t, tx.Rollback())
	_, err = tx.WriteTo(io.Discard)
	wantErr(t, err, kv.ErrTxClosed)
	wantErr(t, tx.CopyFile(filepath.Join(t.TempDir(), "copy"), 0o600), kv.ErrTxClosed)
}

// TestWriteToCutFile has the file end too early: the backup must not pretend to be complete.
func TestWriteToCutFile(t *testing.T) {
	db, path := openSample(t, kv.Options{ReadOnly: true})
	must(t, db.View(func(tx *kv.Tx) error {
		must(t, os.Truncate(path, tx.Size()-10))
		n, err := tx.WriteTo(io.Discard)
		if !errors.Is(err, io.ErrUnexpectedEOF) || n >= tx.Size() {
			t.Errorf("%d of %d bytes written, error %v; want %v", n, tx.Size(), err, io.ErrUnexpectedEOF)
		}
		return nil
	}))
}

func TestCopyFile(t *testing.T) {
	db, path := openSample(t, kv.Options{})
	want := content(t, db)
	to := filepath.Join(t.TempDir(), "copy.db")
	writeFile(t, to, make([]byte, 1<<20)) // longer than the copy
	must(t, db.View(func(tx *kv.Tx) error {
		must(t, tx.CopyFile(to, 0o600))
		b, err := os.ReadFile(to)
		must(t, err)
		if int64(len(b)) != tx.Size() {
			t.Errorf("the copy has %d bytes, want %d", len(b), tx.Size())
		}
		checkBackup(t, b, want)

		if err := tx.CopyFile(filepath.Join(path, "not a directory"), 0o600); err == nil {
			t.Error("no error for a path that cannot be")
		}
		link := filepath.Join(t.TempDir(), "link")
		must(t, os.Link(path, link))
		for _, self := range []string{path, link} {
			if err := tx.CopyFile(self, 0o600); err == nil || !strings.Contains(err.Error(), "onto itself") {
				t.Errorf("copy to %s: have %v, want an error", self, err)
			}
		}
		return nil
	}))
	if have := content(t, db); have != want {
		t.Error("copying onto itself changed the database")
	}
}

// TestWriteFlag reopens the file with a flag, and falls back where that cannot be.
func TestWriteFlag(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(t *testing.T, path string) // done to the path after the database was opened
		fail   bool                            // whether the second open is to fail
		warned string
	}{
		{name: "same file", before: func(*testing.T, string) {}},
		{
			name: "another file", warned: "another file",
			before: func(t *testing.T, path string) {
				must(t, os.Rename(path, path+".old"))
				writeFile(t, path, make([]byte, 1<<16))
			},
		},
		{
			name: "no file", warned: "no such file",
			before: func(t *testing.T, path string) { must(t, os.Remove(path)) },
		},
		{name: "failing open", before: func(*testing.T, string) {}, fail: true, warned: "own error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var flags []int
			var log bytes.Buffer
			o := kv.Options{Slog: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))}
			o.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
				flags = append(flags, flag)
				if test.fail && len(flags) > 1 {
					return nil, errors.New("own error")
				}
				return os.OpenFile(name, flag, mode)
			}
			db, path := openSample(t, o)
			want := content(t, db)
			test.before(t, path)
			must(t, db.View(func(tx *kv.Tx) error {
				tx.WriteFlag = syscall.O_SYNC
				checkBackup(t, backup(t, tx), want)
				return nil
			}))
			if len(flags) != 2 || flags[1] != os.O_RDONLY|syscall.O_SYNC {
				t.Errorf("opened with flags %#x, want another time with %#x", flags, syscall.O_SYNC)
			}
			if (test.warned == "") != (log.Len() == 0) || !strings.Contains(log.String(), test.warned) {
				t.Errorf("logged %q, want %q", &log, test.warned)
			}
		})
	}
}
