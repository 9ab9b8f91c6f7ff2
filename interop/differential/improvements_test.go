// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The tests of this file play on kv what the histories leave out because bbolt
// does it differently.

// TestCommitsDoNotMatter plays the same ops in one transaction and in one
// transaction each: the content must be the same and the file undamaged, also
// when a bucket is moved or deleted after it was changed.
func TestCommitsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := anyOptions().Draw(t, "options")
		opts.pageSize = rapid.SampledFrom(pageSizes).Draw(t, "page size")
		opts.boltPlacement = rapid.Bool().Draw(t, "bolt placement")
		before := sliceOf(changingOp(opts.pageSize), 12).Draw(t, "ops before")
		ops := sliceOf(changingOp(opts.pageSize), 12).Draw(t, "ops")

		start := []step{write{commits, before}}
		together := append(start[:1:1], write{commits, ops}, checkpoint{})
		apart := start[:1:1]
		for _, o := range ops {
			apart = append(apart, write{commits, []op{o}})
		}
		apart = append(apart, checkpoint{})

		one, many := playFree(t, history{opts, together}), playFree(t, history{opts, apart})
		if !slices.Equal(one.copies[0].content, many.copies[0].content) {
			t.Fatalf("in one transaction:\n%s\nin many:\n%s",
				strings.Join(one.copies[0].content, "\n"), strings.Join(many.copies[0].content, "\n"))
		}
		verifyCopy(t, bolt, one.copies[0])
	})
}

// changingOp draws ops that change buckets, and often move and delete them.
func changingOp(pageSize int) *rapid.Generator[op] {
	parent := pathOf(0, 2)
	return weighted(
		choice[op]{4, putOf(pathOf(1, 3), pageSize)},
		choice[op]{3, dels(pathOf(1, 3))},
		choice[op]{1, sequences(pathOf(1, 3))},
		choice[op]{2, creates(parent)},
		choice[op]{3, drops(parent)},
		choice[op]{3, moves(parent)},
	)
}

// playFree plays a history on kv without leaving anything out.
func playFree(t *rapid.T, h history) *player {
	p := &player{engine: holt, dir: tempDir(t), free: true}
	p.play(h)
	for _, line := range p.trace {
		if strings.HasPrefix(line, "check:") || strings.HasPrefix(line, "panic:") {
			t.Fatal(line)
		}
	}
	return p
}

// TestSweep deletes with a cursor from a bucket that was changed before in the
// same transaction, forwards and backwards: the cursor must visit every
// element once, and no other.
func TestSweep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db, err := holt.open(filepath.Join(tempDir(t), "db"), options{pageSize: rapid.SampledFrom(pageSizes).Draw(t, "page size")})
		if err != nil {
			t.Fatal(err)
		}
		s := sweep{t: t, model: map[string]bool{}}
		for _, apply := range []func(transaction) error{s.fill, s.disturb} {
			if err := db.Update(apply); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.View(s.verify); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// A sweep is one run of TestSweep; model are the keys that must exist.
type sweep struct {
	t     *rapid.T
	model map[string]bool
}

func (s *sweep) fill(tx transaction) error {
	b, err := tx.CreateBucket([]byte("b"))
	if err != nil {
		return err
	}
	for i := range rapid.IntRange(0, 300).Draw(s.t, "keys") {
		s.put(b, 2*i)
	}
	return nil
}

func (s *sweep) put(b bucket, i int) {
	key := fmt.Sprintf("%04d", i)
	if err := b.Put([]byte(key), []byte(strings.Repeat("v", i%50))); err != nil {
		s.t.Fatal(err)
	}
	s.model[key] = true
}

// disturb changes some leaves and then sweeps, twice.
func (s *sweep) disturb(tx transaction) error {
	b := tx.Bucket([]byte("b"))
	for range 2 {
		for _, i := range rapid.SliceOf(rapid.IntRange(0, 600)).Draw(s.t, "puts") {
			s.put(b, i)
		}
		for _, i := range rapid.SliceOf(rapid.IntRange(0, 600)).Draw(s.t, "deletes") {
			key := fmt.Sprintf("%04d", i)
			if err := b.Delete([]byte(key)); err != nil {
				return err
			}
			delete(s.model, key)
		}
		s.walk(b, rapid.Bool().Draw(s.t, "backwards"), rapid.SampledFrom([]int{1, 2, 3, 50}).Draw(s.t, "delete every"))
	}
	return nil
}

// walk deletes every n-th element it visits.
func (s *sweep) walk(b bucket, backwards bool, n int) {
	want := slices.Sorted(maps.Keys(s.model))
	c := b.Cursor()
	start, advance := c.First, c.Next
	if backwards {
		slices.Reverse(want)
		start, advance = c.Last, c.Prev
	}
	var visited []string
	for k, _ := start(); k != nil; k, _ = advance() {
		visited = append(visited, string(k))
		if len(visited) > len(want) {
			break
		}
		if len(visited)%n == 0 {
			delete(s.model, string(k))
			if err := c.Delete(); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	if !slices.Equal(visited, want) {
		s.t.Fatalf("visited %q\nwant %q", visited, want)
	}
}

func (s *sweep) verify(tx transaction) error {
	var found []string
	err := tx.Bucket([]byte("b")).ForEach(func(k, _ []byte) error {
		found = append(found, string(k))
		return nil
	})
	if want := slices.Sorted(maps.Keys(s.model)); !slices.Equal(found, want) {
		s.t.Fatalf("left %q\nwant %q", found, want)
	}
	if damage := tx.Check(); len(damage) > 0 {
		s.t.Fatal(damage)
	}
	return err
}

// TestIdleReader commits while one reader is open: kv must reuse the pages
// that were allocated and freed again after the reader began, where bbolt
// keeps them all.
func TestIdleReader(t *testing.T) {
	ours, theirs := sizeWithReader(t, holt), sizeWithReader(t, bolt)
	if ours > theirs/10 {
		t.Errorf("%d bytes, bbolt %d", ours, theirs)
	}
}

func sizeWithReader(t *testing.T, e *engine) int64 {
	db, err := e.open(filepath.Join(t.TempDir(), "db"), options{mmapSize: e.minMmap})
	if err != nil {
		t.Fatal(err)
	}
	put := func(i int) error {
		return db.Update(func(tx transaction) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			if err != nil {
				return err
			}
			return b.Put([]byte("key"), fmt.Appendf(nil, "%d", i))
		})
	}
	if err := put(0); err != nil {
		t.Fatal(err)
	}
	reader, err := db.Begin(false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		if err := put(i); err != nil {
			t.Fatal(err)
		}
	}
	if got := reader.Bucket([]byte("b")).Get([]byte("key")); string(got) != "0" {
		t.Errorf("%s: the reader sees %q", e.name, got)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	var size int64
	err = db.View(func(tx transaction) error {
		size = tx.Size()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return size
}

// TestMaxSize fills databases that may not grow beyond a limit: kv must store
// at least as much as bbolt and never exceed the limit.
func TestMaxSize(t *testing.T) {
	for _, limit := range []int{64 << 10, 1 << 20, 5_000_000, 40 << 20} {
		ours, length := fillToLimit(t, holt, limit)
		theirs, _ := fillToLimit(t, bolt, limit)
		if length > int64(limit) {
			t.Errorf("limit %d: the file is %d bytes long", limit, length)
		}
		if ours < theirs {
			t.Errorf("limit %d: %d values fit, in bbolt %d", limit, ours, theirs)
		}
	}
}

// fillToLimit counts the values that fit and measures the file.
func fillToLimit(t *testing.T, e *engine, limit int) (stored int, length int64) {
	name := filepath.Join(t.TempDir(), "db")
	db, err := e.open(name, options{maxSize: limit})
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		err = db.Update(func(tx transaction) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			if err != nil {
				return err
			}
			return b.Put(fmt.Appendf(nil, "%08d", stored), make([]byte, limit/20))
		})
		if err == nil {
			stored++
		}
	}
	if got := e.errorName(err); got != "ErrMaxSizeReached" {
		t.Errorf("%s, limit %d: %s", e.name, limit, got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return stored, info.Size()
}
