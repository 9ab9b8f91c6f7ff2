// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kvbench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/kv"
)

func valid() Workload {
	return Workload{
		WriteMode: Sequential, ReadMode: Sequential, Count: 60, BatchSize: 20, KeySize: 8, ValueSize: 32, FillPercent: 0.5,
	}
}

func newDB(t *testing.T) *kv.DB {
	t.Helper()
	db, err := kv.Open(filepath.Join(t.TempDir(), "bench.db"), 0o600, &kv.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestModes(t *testing.T) {
	for _, write := range WriteModes {
		for _, read := range ReadModes {
			w := valid()
			w.WriteMode, w.ReadMode = write, read
			r := New(newDB(t), w, 1)
			r.readTime = time.Microsecond
			var written int64
			result, err := r.Write(t.Context(), func(n int64) { written += n })
			if err != nil || result.Ops != 60 || written != 60 || result.Duration <= 0 {
				t.Errorf("%s: wrote %+v, progress %d, %v", write, result, written, err)
			}
			result, err = r.Read(t.Context(), func(int64) {})
			if err != nil || result.Ops == 0 || result.Ops%60 != 0 || result.PerOp() > result.Duration {
				t.Errorf("%s, %s: read %+v, %v", write, read, result, err)
			}
			checkShape(t, r)
		}
	}
}

// checkShape looks at the buckets and keys that were written.
func checkShape(t *testing.T, r *Run) {
	t.Helper()
	err := r.db.View(func(tx *kv.Tx) error {
		s := tx.Inspect()
		if len(s.Children) != 1 || s.Children[0].Name != "bench" {
			t.Errorf("%s: %+v", r.WriteMode, s)
		}
		nested := strings.HasSuffix(r.WriteMode, "-nest")
		if b := s.Children[0]; nested && (len(b.Children) != 3 || b.KeyN != 0) || !nested && (len(b.Children) != 0 || b.KeyN != 60) {
			t.Errorf("%s: %+v", r.WriteMode, b)
		}
		for k, v := range tx.Bucket(bench).All() {
			if len(k) != 8 || v != nil && string(v) != string(make([]byte, 32)) {
				t.Errorf("%s: %x = %x", r.WriteMode, k, v)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestRandomKeysAreTheSame(t *testing.T) {
	w := valid()
	w.WriteMode = Random
	a, b := New(nil, w, 7), New(nil, w, 7)
	for range 100 {
		if x, y := a.nextKey(), b.nextKey(); string(x) != string(y) {
			t.Fatalf("%x and %x", x, y)
		}
	}
}

func TestMissingKeysAreNoticed(t *testing.T) {
	for _, read := range ReadModes {
		w := valid()
		w.ReadMode = read
		r := New(newDB(t), w, 1)
		if _, err := r.Write(t.Context(), func(int64) {}); err != nil {
			t.Fatal(err)
		}
		err := r.db.Update(func(tx *kv.Tx) error {
			k, _ := tx.Bucket(bench).Cursor().First()
			return tx.Bucket(bench).Delete(k)
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Read(t.Context(), func(int64) {}); err == nil {
			t.Errorf("%s: nothing noticed", read)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := New(newDB(t), valid(), 1)
	r.readTime = time.Hour
	if _, err := r.Write(ctx, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(ctx, func(int64) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	if _, err := r.Write(ctx, func(int64) { t.Error("wrote something") }); !errors.Is(err, context.Canceled) {
		t.Errorf("write: %v", err)
	}
}

func TestValidate(t *testing.T) {
	if err := valid().Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Workload){
		"no keys":         func(w *Workload) { w.Count = 0 },
		"odd batches":     func(w *Workload) { w.BatchSize = 7 },
		"no batches":      func(w *Workload) { w.BatchSize = 0 },
		"short keys":      func(w *Workload) { w.KeySize = 3 },
		"long keys":       func(w *Workload) { w.KeySize = kv.MaxKeySize + 1 },
		"negative values": func(w *Workload) { w.ValueSize = -1 },
	} {
		w := valid()
		change(&w)
		if err := w.Validate(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestProfiles(t *testing.T) {
	dir := t.TempDir()
	p := Profiles{CPU: filepath.Join(dir, "cpu"), Memory: filepath.Join(dir, "mem"), Block: filepath.Join(dir, "block")}
	oops := errors.New("oops")
	if err := p.Around(func() error { return oops })(); !errors.Is(err, oops) {
		t.Errorf("error %v", err)
	}
	for _, path := range []string{p.CPU, p.Memory, p.Block} {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
	p = Profiles{CPU: filepath.Join(dir, "missing", "cpu")}
	if err := p.Around(func() error { t.Error("ran"); return nil })(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder for the profile: %v", err)
	}
}
