// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/holtdb/holt/kv"
)

// compactShapes are contents whose leaves are put together in different ways.
var compactShapes = map[string]func(tx *kv.Tx) error{
	"nothing": func(*kv.Tx) error { return nil },
	"one large bucket": func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		for i := range 5000 {
			err = errors.Join(err, b.Put(numbered(i), make([]byte, i%300)))
		}
		return err
	},
	"small buckets only": func(tx *kv.Tx) error { return nest(tx, 3000, func(i int) int { return i % 4 }) },
	"buckets with pages": func(tx *kv.Tx) error { return nest(tx, 300, func(i int) int { return 50 + i%50 }) },
	"buckets of all sizes beside large values": func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("mixed"))
		for i := range 400 {
			err = errors.Join(err, b.Put(fmt.Appendf(nil, "%05d a", i), bytes.Repeat(numbered(i), 1+i%7*300)))
		}
		return errors.Join(err, nestIn(b, 400, func(i int) int { return i % 100 }))
	},
	"buckets that became small": func(tx *kv.Tx) error {
		if err := nest(tx, 100, func(int) int { return 60 }); err != nil {
			return err
		}
		return each(tx.Bucket([]byte("outer")), func(b *kv.Bucket) error {
			var errs []error
			for k := range 58 {
				errs = append(errs, b.Delete(numbered(k)))
			}
			return errors.Join(errs...)
		})
	},
	"a chain of large buckets": func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("0"))
		for depth := range 5 {
			for i := range 300 {
				err = errors.Join(err, b.Put(fmt.Appendf(nil, "%d", i), make([]byte, 50)))
			}
			sub, e := b.CreateBucket([]byte("1 next"))
			err = errors.Join(err, e, b.SetSequence(uint64(depth)))
			b = sub
		}
		return err
	},
	"values larger than the file's pages": func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		for i := range 30 {
			err = errors.Join(err, b.Put(numbered(i), bytes.Repeat([]byte{byte(i)}, i*9000)))
		}
		return err
	},
	"many at the top": func(tx *kv.Tx) error {
		var errs []error
		for i := range 500 {
			b, err := tx.CreateBucket(numbered(i))
			errs = append(errs, err)
			for k := range i % 60 {
				errs = append(errs, b.Put(numbered(k), make([]byte, 40)))
			}
		}
		return errors.Join(errs...)
	},
}

// nest makes a bucket of n buckets with so many pairs each.
func nest(tx *kv.Tx, n int, pairs func(i int) int) error {
	b, err := tx.CreateBucket([]byte("outer"))
	return errors.Join(err, nestIn(b, n, pairs))
}

func nestIn(b *kv.Bucket, n int, pairs func(i int) int) error {
	var errs []error
	for i := range n {
		sub, err := b.CreateBucket(fmt.Appendf(nil, "%05d", i))
		errs = append(errs, err, sub.SetSequence(uint64(i)))
		for k := range pairs(i) {
			errs = append(errs, sub.Put(numbered(k), make([]byte, 100)))
		}
	}
	return errors.Join(errs...)
}

// each calls fn for the buckets in b.
func each(b *kv.Bucket, fn func(*kv.Bucket) error) error {
	return b.ForEachBucket(func(k []byte) error { return fn(b.Bucket(k)) })
}

// TestCompactShapes copies each of the shapes, from and to pages of several sizes, by transactions of several sizes.
func TestCompactShapes(t *testing.T) {
	for name, fill := range compactShapes {
		t.Run(name, func(t *testing.T) {
			for _, sizes := range [][2]int{{4096, 4096}, {1024, 16384}, {16384, 1024}} {
				src := openTemp(t, &kv.Options{NoSync: true, PageSize: sizes[0]})
				must(t, src.Update(fill))
				want := content(t, src)
				for _, max := range []int64{0, 1, 20_000} {
					dst := openTemp(t, &kv.Options{NoSync: true, PageSize: sizes[1]})
					must(t, kv.Compact(dst, src, max))
					have, err := soundContent(dst)
					must(t, err)
					if have != want {
						t.Errorf("pages of %d to %d bytes, transactions of %d: %s", sizes[0], sizes[1], max, firstDifference(have, want))
					}
				}
			}
		})
	}
}

// TestCompactStopped ends a copy at some moment: what was committed until then is sound, no page of it is lost, and no
// goroutine is left behind.
func TestCompactStopped(t *testing.T) {
	for name, fill := range compactShapes {
		t.Run(name, func(t *testing.T) {
			src := openTemp(t, nil)
			must(t, src.Update(fill))
			before := runtime.NumGoroutine()
			for n := 1; ; n += 1 + n/times(1, 4) {
				dst := openTemp(t, nil)
				err := kv.CompactContext(&countdown{t.Context(), n}, dst, src, 10_000)
				for tries := 0; runtime.NumGoroutine() > before; tries++ { // they are about to end, as they have said
					if tries > 1_000_000 {
						t.Fatalf("stopped at step %d: %d goroutines, %d before", n, runtime.NumGoroutine(), before)
					}
					runtime.Gosched()
				}
				if _, e := soundContent(dst); e != nil {
					t.Errorf("stopped at step %d: %v", n, e)
				}
				must(t, dst.Update(func(*kv.Tx) error { return nil })) // nothing is left open
				if err == nil {
					break
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
			}
		})
	}
}

// countdown is a context that ends when it has been asked so many times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left <= 0 {
		return context.Canceled
	}
	return nil
}

// TestCompactSame has the copy not depend on how many goroutines make it.
func TestCompactSame(t *testing.T) {
	src := openTemp(t, nil)
	must(t, src.Update(func(tx *kv.Tx) error {
		random := rand.New(rand.NewPCG(1, 2))
		b, err := tx.CreateBucket([]byte("b"))
		for i := range 70_000 { // more pages than one goroutine is for
			err = errors.Join(err, b.Put(fmt.Appendf(nil, "%08d", i), make([]byte, random.IntN(600))))
		}
		return err
	}))
	var files [][]byte
	for _, procs := range []int{1, 4} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		dst := openTemp(t, nil)
		must(t, kv.Compact(dst, src, 1<<20))
		f, err := os.ReadFile(dst.Path())
		must(t, err)
		files = append(files, f)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Errorf("copies of %d and %d bytes differ", len(files[0]), len(files[1]))
	}
}

// TestCompactAlone has another writer of the destination wait until the copy is complete.
func TestCompactAlone(t *testing.T) {
	src, dst := openTemp(t, nil), openTemp(t, nil)
	must(t, src.Update(compactShapes["one large bucket"]))
	var other chan int
	must(t, kv.CompactContext(t.Context(), dst, src, 10_000, kv.CompactProgress(func(int64) {
		if other != nil {
			return
		}
		other = make(chan int, 1)
		go func() {
			n := -1
			_ = dst.Update(func(tx *kv.Tx) error {
				n = tx.ID()
				return nil
			})
			other <- n
		}()
	})))
	if n := <-other; n != id(t, dst) || n < 10 {
		t.Errorf("the other writer made transaction %d of %d", n, id(t, dst))
	}
}

// TestCompactMemory has a copy of large values, by one transaction, take little memory: they are written from where they
// are.
func TestCompactMemory(t *testing.T) {
	src, dst := openTemp(t, nil), openTemp(t, nil)
	must(t, src.Update(putNumbered("b", 300, 100_000)))
	if n := compactAllocates(t, dst, src); n > 4<<20 {
		t.Errorf("copying 30 MB takes %d bytes", n)
	} else {
		t.Logf("copying 30 MB takes %d bytes", n)
	}
}

// TestCompactMemoryOfSmallBuckets has a copy of many small buckets, which have no pages, not take more memory with larger
// ones.
func TestCompactMemoryOfSmallBuckets(t *testing.T) {
	src := openTemp(t, nil)
	must(t, src.Update(func(tx *kv.Tx) error {
		var errs []error
		for i := range 20_000 {
			b, err := tx.CreateBucket(numbered(i))
			errs = append(errs, err, b.Put([]byte("key"), []byte("value")))
		}
		return errors.Join(errs...)
	}))
	small := compactAllocates(t, openTemp(t, &kv.Options{PageSize: 4096}), src)
	large := compactAllocates(t, openTemp(t, &kv.Options{PageSize: 256 << 10}), src)
	if large > small+16<<20 {
		t.Errorf("%d bytes with small pages, %d with large ones", small, large)
	} else {
		t.Logf("%d bytes with small pages, %d with large ones", small, large)
	}
}

// compactAllocates is how many bytes a copy by one transaction allocates.
func compactAllocates(t *testing.T, dst, src *kv.DB) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must(t, kv.Compact(dst, src, 0))
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
