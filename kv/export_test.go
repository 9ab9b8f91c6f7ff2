// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"context"
	"os"
	"time"

	"github.com/holtdb/holt/internal/file"
)

// OpenFS is Open on a simulated file system.
func OpenFS(fs file.FS, path string, mode os.FileMode, o *Options) (*DB, error) {
	var with Options
	if o != nil {
		with = *o
	}
	with.fs = fs
	return Open(path, mode, &with)
}

// BatchQueue is the number of calls of Batch that wait.
func BatchQueue(db *DB) int {
	db.batch.mu.Lock()
	defer db.batch.mu.Unlock()
	return len(db.batch.queue)
}

// LosePage takes a page from the free list and forgets it.
func LosePage(db *DB) uint64 {
	id, _ := db.freelist.find(0, 1)
	db.freelist.take(id, 1)
	return id
}

// Gullible returns options with which Open believes every meta page.
func Gullible(o Options) Options {
	o.gullible = true
	return o
}

// WriteEarly returns options with which commits write pages ahead once they have so many bytes.
func WriteEarly(o Options, bytes int) Options {
	o.imagesMax = bytes
	return o
}

// AutoShrinkEvery returns options with which the database looks so often whether it is to shrink.
func AutoShrinkEvery(o Options, every time.Duration) Options {
	o.autoEvery = every
	return o
}

// Sparse is the number of pages that are estimated to become free if leaves are put together.
func Sparse(db *DB) uint64 { return db.sparse() }

// AutoShrinkLook returns what a database that shrinks by itself does at times.
func AutoShrinkLook(db *DB, o ShrinkOptions) func(context.Context) error {
	return (&autoShrinker{db: db, o: o}).look
}
