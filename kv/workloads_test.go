// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// world is a database at work in a test, with readers that stay open.
type world struct {
	disk    file.FS
	options kv.Options
	db      *kv.DB
	tx      *kv.Tx // in which to make changes; nil for a transaction for each step
	readers []heldReader
}

// heldReader is a read transaction and what it saw when it began.
type heldReader struct {
	tx   *kv.Tx
	text string
}

// step is one thing a workload does. Those that change the database are one transaction.
type step func(*world) error

// workload is a sequence of steps that always has the same results.
type workload struct {
	name  string
	steps []step
}

// update is a step of one write transaction.
func update(fn func(tx *kv.Tx) error) step {
	return func(w *world) error {
		if w.tx != nil {
			return fn(w.tx)
		}
		return w.db.Update(fn)
	}
}

// inBucket is a step that changes one top-level bucket.
func inBucket(name string, fn func(b *kv.Bucket) error) step {
	return update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte(name))
		if err != nil {
			return err
		}
		return fn(b)
	})
}

// puts is a step that stores numbered keys.
func puts(from, to, by, size int) step {
	return inBucket("b", func(b *kv.Bucket) error {
		for i := from; (to-i)*by > 0; i += by {
			if err := b.Put(numbered(i), filler(i, size)); err != nil {
				return err
			}
		}
		return nil
	})
}

// deletes is a step that removes numbered keys.
func deletes(from, to, by int) step {
	return inBucket("b", func(b *kv.Bucket) error {
		for i := from; (to-i)*by > 0; i += by {
			if err := b.Delete(numbered(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// openReader is a step that begins a read transaction and keeps it.
func openReader(w *world) error {
	tx, err := w.db.Begin(false)
	if err != nil {
		return err
	}
	w.readers = append(w.readers, heldReader{tx, contentOf(tx)})
	return nil
}

// closeReader is a step that ends the oldest reader, which must still see what it saw.
func closeReader(w *world) error {
	r := w.readers[0]
	w.readers = w.readers[1:]
	if text := contentOf(r.tx); text != r.text {
		return fmt.Errorf("a reader no longer sees its snapshot: %s", firstDifference(text, r.text))
	}
	return r.tx.Rollback()
}

// reopen is a step that closes and opens the database.
func reopen(w *world) error {
	if err := w.close(); err != nil {
		return err
	}
	return w.open()
}

func (w *world) open() (err error) {
	w.db, err = openSim(w.disk, w.options)
	return err
}

// close ends all readers and closes the database, also if some of that fails.
func (w *world) close() error {
	var errs []error
	for _, r := range w.readers {
		errs = append(errs, r.tx.Rollback())
	}
	w.readers = nil
	return errors.Join(append(errs, w.db.Close())...)
}

// workloads grow, shrink, split and merge trees, and move buckets. Sizes are for pages of 1024 bytes.
func workloads() []workload {
	return []workload{
		{"grow", growing()},
		{"shrink", shrinking()},
		{"overwrite", overwriting()},
		{"buckets", buckets()},
		{"readers", reading()},
		{"shorter", shortening()},
		{"random", random(1)},
		{"random", random(2)},
	}
}

func growing() []step {
	return []step{
		puts(0, 1, 1, 10),
		puts(1, 20, 1, 100),
		puts(20, 60, 1, 60),
		puts(200, 203, 1, 5000), // pages that go on in others
		puts(150, 100, -1, 40),  // in front of all others
		puts(60, 100, 2, 200),
		puts(61, 101, 2, 1),
		puts(300, 400, 1, 20),
	}
}

func shrinking() []step {
	return []step{
		puts(0, 150, 1, 50),
		deletes(0, 30, 1),
		deletes(149, 100, -1),
		puts(400, 401, 1, 9000),
		deletes(31, 101, 2),
		deletes(400, 401, 1),
		deletes(30, 100, 2),
		puts(7, 8, 1, 7),
		deletes(7, 8, 1),
		update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("b")) }),
	}
}

func overwriting() []step {
	steps := []step{puts(0, 40, 1, 30)}
	for i := range 8 {
		steps = append(steps, puts(i*5, i*5+3, 1, 30+i*100))
	}
	return append(steps, reopen, puts(0, 40, 1, 3), update(func(*kv.Tx) error { return nil }))
}

// buckets makes, fills, moves and deletes buckets in buckets.
func buckets() []step {
	path := func(tx *kv.Tx, names ...string) (*kv.Bucket, error) {
		b := tx.Cursor().Bucket()
		for _, name := range names {
			var err error
			if b, err = b.CreateBucketIfNotExists([]byte(name)); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	fill := func(n, size int, names ...string) step {
		return update(func(tx *kv.Tx) error {
			b, err := path(tx, names...)
			if err != nil {
				return err
			}
			for i := range n {
				if err := b.Put(numbered(i), filler(i, size)); err != nil {
					return err
				}
			}
			return b.SetSequence(b.Sequence() + uint64(n))
		})
	}
	move := func(name string, from, to []string) step {
		return update(func(tx *kv.Tx) error {
			src, err := path(tx, from...)
			if err != nil {
				return err
			}
			dst, err := path(tx, to...)
			if err != nil {
				return err
			}
			return src.MoveBucket([]byte(name), dst)
		})
	}
	drop := func(name string, from ...string) step {
		return update(func(tx *kv.Tx) error {
			b, err := path(tx, from...)
			if err != nil {
				return err
			}
			return b.DeleteBucket([]byte(name))
		})
	}
	return []step{
		fill(2, 5, "a", "inline"),
		fill(30, 60, "a", "tree"),
		fill(3, 5, "a", "tree", "deep", "deeper"),
		fill(8, 60, "a", "inline"), // no longer inline
		move("tree", []string{"a"}, []string{"z"}),
		move("deeper", []string{"z", "tree", "deep"}, nil),
		fill(20, 80, "z", "tree", "deep"),
		fill(1, 2000, "deeper"),
		drop("inline", "a"),
		move("deep", []string{"z", "tree"}, []string{"deeper"}),
		drop("z"),
		drop("deep", "deeper"),
	}
}

// reading keeps readers open over commits, which then cannot use the pages that they free.
func reading() []step {
	return []step{
		puts(0, 60, 1, 50),
		openReader,
		puts(10, 20, 1, 70),
		openReader,
		puts(30, 50, 1, 10),
		deletes(0, 40, 2),
		closeReader,
		puts(60, 90, 1, 50),
		openReader,
		puts(0, 5, 1, 3000),
		deletes(60, 90, 1),
		closeReader,
		closeReader,
		puts(0, 30, 1, 30),
	}
}

// shorten is a step that makes the file shorter, which nobody sees.
func shorten(w *world) error {
	if w.tx != nil {
		return nil
	}
	_, err := w.db.Shrink(context.Background(), kv.ShrinkOptions{StepBytes: 6 << 10, ReaderWait: 1, PunchHoles: true})
	return err
}

// shortening makes the file shorter in between.
func shortening() []step {
	return []step{
		puts(0, 120, 1, 60),
		deletes(0, 120, 2),
		shorten,
		puts(0, 10, 1, 400),
		openReader,
		deletes(10, 110, 1),
		shorten,
		closeReader,
		shorten,
		shorten,
		puts(0, 40, 1, 40),
		reopen,
		deletes(0, 40, 1),
		shorten,
	}
}

// shorteningAlone is without readers.
func shorteningAlone() []step {
	return []step{
		puts(0, 80, 1, 60),
		deletes(0, 80, 2),
		shorten,
		puts(0, 10, 1, 400),
		deletes(10, 70, 1),
		shorten,
		puts(0, 40, 1, 40),
	}
}

// random does a bit of everything.
func random(seed uint64) []step {
	r := rand.New(rand.NewPCG(seed, 0))
	var steps []step
	open := 0
	for range 14 {
		from, n, size := r.IntN(100), 1+r.IntN(30), r.IntN(120)
		switch r.IntN(8) {
		case 0:
			steps = append(steps, openReader)
			open++
		case 1:
			if open > 0 {
				steps = append(steps, closeReader)
				open--
			}
		case 2, 3:
			steps = append(steps, deletes(from, from+n, 1))
		case 4:
			steps = append(steps, puts(from, from+1, 1, 1000*r.IntN(8)))
		default:
			steps = append(steps, puts(from, from+n, 1, size))
		}
	}
	return steps
}
