// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	bbolt "go.etcd.io/bbolt"
)

// seeds is where the files are that benchmarks begin with. Processes that are given the same one share them.
var seeds = flag.String("seeds", "", "keep the files that benchmarks begin with in this folder, for further runs")

func TestMain(m *testing.M) {
	flag.Parse()
	kept := *seeds != ""
	code := m.Run()
	if !kept && *seeds != "" {
		_ = os.RemoveAll(*seeds) // of a temporary directory
	}
	os.Exit(code)
}

// seedFile makes a file unless it was made before.
func seedFile(b *testing.B, file string, write func(path string)) string {
	b.Helper()
	if *seeds == "" {
		dir, err := os.MkdirTemp("", "bench") //nolint:usetesting // other benchmarks begin with the same files
		check(b, err)
		*seeds = dir
	}
	path := filepath.Join(*seeds, file)
	if _, err := os.Stat(path); err != nil {
		unfinished := path + ".new"
		write(unfinished)
		check(b, os.Rename(unfinished, path))
	}
	return path
}

// seedFragmented makes a file of a million keys with some free pages, hardly any two of them side by side.
func seedFragmented(b *testing.B) string {
	return seedFile(b, "fragmented.db", func(path string) {
		db := bboltCreate(b, path)
		putMillion(b, db)
		putMany(b, db, func(i int) int { return farApart(i, million) }, fragments)
		check(b, db.Sync())
		check(b, db.Close())
	})
}

// seedFreePages makes a file that many commits under a reader have left full of free pages, here and there.
func seedFreePages(b *testing.B, unsaved bool) string {
	return seedFile(b, fmt.Sprintf("free-unsaved=%t.db", unsaved), func(path string) {
		options := &bbolt.Options{NoSync: true, NoGrowSync: true, NoFreelistSync: true, InitialMmapSize: readerMap}
		db, err := bbolt.Open(path, 0o600, options)
		check(b, err)
		putMillion(b, db)
		reader, err := db.Begin(false)
		check(b, err)
		for first := 0; db.Stats().FreePageN+db.Stats().PendingPageN < manyPages; first += perOverwrite {
			putMany(b, db, func(i int) int { return farApart(first+i, million) }, perOverwrite)
		}
		check(b, reader.Rollback())
		check(b, db.Close())
		options.NoFreelistSync = unsaved
		db, err = bbolt.Open(path, 0o600, options)
		check(b, err)
		putMany(b, db, func(i int) int { return i }, 1)
		check(b, db.Close())
	})
}

// putMillion puts a million long values, in order.
func putMillion(b *testing.B, db *bbolt.DB) {
	b.Helper()
	for first := 0; first < million; first += perTx {
		putMany(b, db, func(i int) int { return first + i }, perTx)
	}
}

// putMany puts long values in a transaction.
func putMany(b *testing.B, db *bbolt.DB, order func(i int) int, n int) {
	b.Helper()
	check(b, db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucketIfNotExists(name)
		check(b, err)
		key, long := make([]byte, 8), make([]byte, 100)
		for i := range n {
			setKey(key, order(i))
			check(b, bucket.Put(key, long))
		}
		return nil
	}))
}

func copyFile(b *testing.B, to, from string) {
	b.Helper()
	src, err := os.Open(from)
	check(b, err)
	dst, err := os.Create(to)
	check(b, err)
	_, err = io.Copy(dst, src)
	check(b, err)
	check(b, src.Close())
	check(b, dst.Sync())
	check(b, dst.Close())
}
