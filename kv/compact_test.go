// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holtdb/holt/kv"
)

// fillHoley makes a database with sequences, nested and empty buckets, a plain key at the top, and much deleted.
func fillHoley(t testing.TB, db *kv.DB) {
	t.Helper()
	must(t, db.Update(func(tx *kv.Tx) error { return fillSample(tx, 0) }))
	must(t, db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("holey"))
		for i := range 2000 {
			err = errors.Join(err, b.Put(fmt.Appendf(nil, "%04d", i), make([]byte, 100)))
		}
		return err
	}))
	must(t, db.Update(func(tx *kv.Tx) error {
		b := tx.Bucket([]byte("holey"))
		var errs []error
		for i := range 2000 {
			if i%10 != 0 {
				errs = append(errs, b.Delete(fmt.Appendf(nil, "%04d", i)))
			}
		}
		deep := b
		for i := range 5 {
			sub, err := deep.CreateBucket(fmt.Appendf(nil, "deep %d", i))
			if err != nil {
				return err
			}
			deep = sub
			errs = append(errs, deep.SetSequence(uint64(100+i)), deep.Put([]byte("k"), make([]byte, 500*i)))
		}
		_, err := tx.CreateBucket([]byte("empty"))
		errs = append(errs, err, tx.Cursor().Bucket().Put([]byte("plain"), []byte("value")))
		return errors.Join(errs...)
	}))
}

func TestCompact(t *testing.T) {
	src := openTemp(t, nil)
	fillHoley(t, src)
	want := content(t, src)
	var transactions []int
	for _, max := range []int64{0, 1, 1000, 65536} {
		dst := openTemp(t, nil)
		before := id(t, dst)
		copied := int64(0)
		must(t, kv.CompactContext(t.Context(), dst, src, max, kv.CompactProgress(func(n int64) { copied += n })))
		if copied < int64(len(want))/4 {
			t.Errorf("max %d: progress was told of %d bytes", max, copied)
		}
		transactions = append(transactions, id(t, dst)-before)
		if have := content(t, dst); have != want {
			t.Errorf("max %d: the copy has\n%swant\n%s", max, have, want)
		}
		have, was := used(t, dst), used(t, src)
		if have >= was {
			t.Errorf("max %d: %d pages are used, %d in the source", max, have, was)
		}
	}
	if transactions[0] != 1 {
		t.Errorf("%d transactions without a maximum, want 1", transactions[0])
	}
	if descending := slices.IsSortedFunc(transactions[1:], func(a, b int) int { return b - a }); !descending {
		t.Errorf("%v transactions as the maximum rises", transactions)
	}
}

// used is the number of pages that are not free.
func used(t testing.TB, db *kv.DB) (n int64) {
	t.Helper()
	must(t, db.View(func(tx *kv.Tx) error {
		s := db.Stats()
		n = tx.Size()/int64(db.Info().PageSize) - int64(s.FreePageN+s.PendingPageN)
		return nil
	}))
	return n
}

// TestCompactFills looks at how full the pages of the copy are.
func TestCompactFills(t *testing.T) {
	src, dst := openTemp(t, nil), openTemp(t, nil)
	must(t, src.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		for i := range 20_000 {
			err = errors.Join(err, b.Put(fmt.Appendf(nil, "%08d", i), make([]byte, 32)))
		}
		return err
	}))
	must(t, kv.Compact(dst, src, 0))
	must(t, dst.View(func(tx *kv.Tx) error {
		s := tx.Bucket([]byte("b")).Stats()
		if percent := 100 * s.LeafInuse / s.LeafAlloc; percent < 95 {
			t.Errorf("leaves are %d %% full", percent)
		}
		return nil
	}))
}

// TestCompactMoment compacts beside a writer: the copy is that of one moment.
func TestCompactMoment(t *testing.T) {
	src := openTemp(t, nil)
	write := func(n int) error {
		return src.Update(func(tx *kv.Tx) error {
			var errs []error
			for i := range 3 {
				b, err := tx.CreateBucketIfNotExists(fmt.Appendf(nil, "bucket %d", i))
				errs = append(errs, err)
				for k := range 200 {
					errs = append(errs, b.Put(fmt.Appendf(nil, "%d", k), fmt.Appendf(nil, "%d", n)))
				}
			}
			return errors.Join(errs...)
		})
	}
	must(t, write(0))
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		for n := 1; ; n++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := write(n); err != nil {
				done <- err
				return
			}
		}
	}()
	for range 10 {
		dst := openTemp(t, nil)
		must(t, kv.Compact(dst, src, 500))
		must(t, dst.View(func(tx *kv.Tx) error {
			want := string(tx.Bucket([]byte("bucket 0")).Get([]byte("0")))
			return tx.ForEach(func(name []byte, b *kv.Bucket) error {
				return b.ForEach(func(k, v []byte) error {
					if string(v) != want {
						return fmt.Errorf("%s/%s is of round %s, others of %s", name, k, v, want)
					}
					return nil
				})
			})
		}))
	}
	close(stop)
	must(t, <-done)
}

func TestCompactErrors(t *testing.T) {
	src := openTemp(t, nil)
	fillHoley(t, src)
	wantErr(t, kv.Compact(src, src, 0), kv.ErrBucketExists)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantErr(t, kv.CompactContext(ctx, openTemp(t, nil), src, 0), context.Canceled)
	closed, err := kv.Open(filepath.Join(t.TempDir(), "test.db"), 0o600, nil)
	must(t, err)
	must(t, closed.Close())
	wantErr(t, kv.Compact(closed, src, 0), kv.ErrDatabaseNotOpen)
	wantErr(t, kv.Compact(openTemp(t, nil), closed, 0), kv.ErrDatabaseNotOpen)
	limited := openTemp(t, &kv.Options{NoSync: true, MaxSize: 1 << 16})
	wantErr(t, kv.Compact(limited, src, 0), kv.ErrMaxSizeReached)
	must(t, limited.Update(func(*kv.Tx) error { return nil })) // nothing is left open
}

// TestCompactDamage has each kind of damage end in an error, or in a copy of what can be read.
func TestCompactDamage(t *testing.T) {
	sound := sampleFile(t)
	var corrupt *kv.CorruptError
	for _, test := range checkTests {
		f := slices.Clone(sound)
		test.damage(f)
		src, dst := openPages(t, f), openTemp(t, nil)
		if err := kv.Compact(dst, src, 100); err != nil && !errors.As(err, &corrupt) {
			t.Errorf("%s: %v is no CorruptError", test.name, err)
		}
	}
	for _, name := range []string{"descending keys", "equal keys", "cycle", "two ways to a page", "bucket in itself"} {
		i := slices.IndexFunc(checkTests, func(test checkTest) bool { return test.name == name })
		f := slices.Clone(sound)
		checkTests[i].damage(f)
		if err := kv.Compact(openTemp(t, nil), openPages(t, f), 0); !errors.As(err, &corrupt) {
			t.Errorf("%s: have %v, want a CorruptError", name, err)
		}
	}
}

// TestCompactDamagedDestination: that too is an error, and no panic.
func TestCompactDamagedDestination(t *testing.T) {
	f := sampleFile(t)
	putChild(f.branch(), 1, 1<<40)
	path := filepath.Join(t.TempDir(), "damaged.db")
	writeFile(t, path, f)
	dst, err := kv.Open(path, 0o600, &kv.Options{NoSync: true})
	must(t, err)
	defer func() { must(t, dst.Close()) }()
	f.page(f.meta().Root).SetID(1000)
	writeFile(t, path, f) // under the open database

	src := openTemp(t, nil)
	must(t, src.Update(func(tx *kv.Tx) error {
		_, err := tx.CreateBucket([]byte("new"))
		return err
	}))
	var corrupt *kv.CorruptError
	if err := kv.Compact(dst, src, 0); !errors.As(err, &corrupt) || corrupt.Path != dst.Path() {
		t.Errorf("have %v, want a CorruptError of the destination", err)
	}
}

// TestCompactRandom copies trees of buckets that chance makes.
func TestCompactRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		src, dst := openTemp(t, nil), openTemp(t, nil)
		must(t, src.Update(func(tx *kv.Tx) error { return grow(random, tx.Cursor().Bucket(), 0) }))
		must(t, kv.Compact(dst, src, random.Int64N(3000)))
		if have, want := content(t, dst), content(t, src); have != want {
			t.Fatalf("the copy has\n%swant\n%s", have, want)
		}
	}
}

// grow puts random pairs and buckets into a bucket.
func grow(random *rand.Rand, b *kv.Bucket, depth int) error {
	for range random.IntN(30) {
		name := fmt.Appendf(nil, "%d", random.IntN(1000))
		if depth > 4 || random.IntN(5) != 0 {
			err := b.Put(name, make([]byte, random.IntN(300)))
			if err != nil && !errors.Is(err, kv.ErrIncompatibleValue) {
				return err
			}
			continue
		}
		sub, err := b.CreateBucketIfNotExists(name)
		if errors.Is(err, kv.ErrIncompatibleValue) {
			continue
		}
		if err := errors.Join(err, sub.SetSequence(random.Uint64()), grow(random, sub, depth+1)); err != nil {
			return err
		}
	}
	return nil
}
