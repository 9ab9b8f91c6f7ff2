// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"context"
	"io/fs"
	"math"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// TestCloseTogether calls Close while another call of it stores the free list.
func TestCloseTogether(t *testing.T) {
	var db *kv.DB
	var others sync.WaitGroup
	var once sync.Once
	closing := false
	disk := observed{file.NewMemory(), func() {
		if !closing {
			return
		}
		once.Do(func() {
			others.Go(func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(10 * time.Millisecond) // so that it waits
		})
	}}
	for range 10 {
		db, once, closing = mustOpenSim(t, disk, kv.Options{PageSize: 1024}), sync.Once{}, false
		must(t, db.Update(putNumbered("b", 10, 10)))
		closing = true
		must(t, db.Close())
		others.Wait()
	}
}

// TestCloseEndsBatch closes the database while a call of Batch waits for others to join it.
func TestCloseEndsBatch(t *testing.T) {
	db, err := kv.Open(filepath.Join(t.TempDir(), "test.db"), 0o600, &kv.Options{NoSync: true})
	must(t, err)
	db.MaxBatchDelay = math.MaxInt64
	ends(t, func() {
		called := make(chan error)
		go func() { called <- db.Batch(func(*kv.Tx) error { return nil }) }()
		for kv.BatchQueue(db) == 0 {
			time.Sleep(time.Millisecond)
		}
		must(t, db.Close())
		wantErr(t, <-called, kv.ErrDatabaseNotOpen)
	})
}

// TestCloseEndsShrink closes the database while Shrink pauses for long.
func TestCloseEndsShrink(t *testing.T) {
	db, err := kv.Open(filepath.Join(t.TempDir(), "test.db"), 0o600, &kv.Options{NoSync: true})
	must(t, err)
	must(t, db.Update(putNumbered("b", 3000, 100)))
	must(t, db.Update(putNumbered("c", 3000, 100)))
	must(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("b")) }))
	before := db.Stats()
	ends(t, func() {
		called := make(chan error)
		go func() {
			r, err := db.Shrink(context.Background(), kv.ShrinkOptions{BytesPerSecond: 1})
			if r.Used <= 0 {
				t.Errorf("report %+v", r)
			}
			called <- err
		}()
		for now := db.Stats(); now.TxStats.PageAlloc == before.TxStats.PageAlloc; now = db.Stats() {
			time.Sleep(time.Millisecond)
		}
		must(t, db.Close())
		wantErr(t, <-called, kv.ErrDatabaseNotOpen)
	})
}

// sized is a file system that calls before ahead of every question for the length of a file.
type sized struct {
	file.FS
	before func()
}

func (s sized) OpenFile(name string, flag int, perm fs.FileMode) (file.File, error) {
	f, err := s.FS.OpenFile(name, flag, perm)
	return sizedFile{f, s.before}, err
}

type sizedFile struct {
	file.File
	before func()
}

func (f sizedFile) Size() (int64, error) {
	f.before()
	return f.File.Size()
}

// TestCloseDuringShrink closes the database whenever Shrink is about to ask how long the file is.
func TestCloseDuringShrink(t *testing.T) {
	closed := true
	for n := 1; closed; n++ {
		var db *kv.DB
		asked := 0
		closed = false
		disk := sized{file.NewMemory(), func() {
			if db == nil {
				return
			}
			if asked++; asked == n {
				closed = true
				must(t, db.Close())
			}
		}}
		db = mustOpenSim(t, disk, kv.Options{PageSize: 1024})
		must(t, db.Update(putNumbered("b", 500, 100)))
		must(t, db.Update(putNumbered("c", 500, 100)))
		must(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("b")) }))
		_, err := db.Shrink(t.Context(), kv.ShrinkOptions{StepBytes: 30 << 10})
		if err != nil {
			wantErr(t, err, kv.ErrDatabaseNotOpen)
		}
		must(t, db.Close())
	}
}
