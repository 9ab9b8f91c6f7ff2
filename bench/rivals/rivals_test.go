// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package rivals_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/holtdb/holt/bench/internal/cputime"
	"github.com/holtdb/holt/bench/internal/twin"
	"github.com/holtdb/holt/bench/rivals"
)

const (
	keys         = 100_000 // of 8 bytes
	million      = 1_000_000
	perTx        = 10_000 // keys that a bulk load puts in one transaction
	perOverwrite = 100    // keys that are deleted in a transaction, and put over
	goroutines   = 64
)

// Values are of random bytes, as some stores compress.
var short, long, large = random(32), random(100), random(1 << 20)

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // never fails
	return b
}

// TestMain says the versions of those engines that are not Go modules, in the way of results of benchmarks.
func TestMain(m *testing.M) {
	flag.Parse()
	for _, e := range rivals.Engines {
		if e.Version != "" {
			fmt.Printf("%s: %s\n", e.Name, e.Version)
		}
	}
	os.Exit(m.Run())
}

func check(tb testing.TB, err error) {
	if err != nil {
		tb.Helper()
		tb.Fatal(err)
	}
}

func key(buf []byte, i int) []byte {
	binary.BigEndian.PutUint64(buf, uint64(i))
	return buf
}

// farApart is the i-th index of a walk that visits n keys, far apart from each other. 618_029 is prime.
func farApart(i, n int) int { return int(int64(i) * 618_029 % int64(n)) }

func inOrder(i int) int { return i }

func load(tb testing.TB, s rivals.Store, n int, value []byte, order func(i int) int) {
	tb.Helper()
	buf := make([]byte, 8)
	for first := 0; first < n; first += perTx {
		check(tb, s.Update(func(w rivals.Writer) error {
			for i := first; i < min(n, first+perTx); i++ {
				if err := w.Put(key(buf, order(i)), value); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// each runs a benchmark on a new store of every engine with n keys.
func each(b *testing.B, n int, value []byte, durable bool, loop func(b *testing.B, s rivals.Store)) {
	for _, e := range rivals.Engines {
		b.Run("engine="+e.Name, func(b *testing.B) {
			dir := b.TempDir()
			s, err := e.Open(dir, false)
			check(b, err)
			load(b, s, n, value, inOrder)
			if durable {
				check(b, s.Close())
				s, err = e.Open(dir, true)
				check(b, err)
			}
			b.Cleanup(func() { check(b, s.Close()) })
			loop(b, s)
		})
	}
}

func view(b *testing.B, n int, loop func(b *testing.B, r rivals.Reader) error) {
	each(b, n, short, false, func(b *testing.B, s rivals.Store) {
		check(b, s.View(func(r rivals.Reader) error {
			defer cputime.Measure(b)()
			return loop(b, r)
		}))
	})
}

func get(b *testing.B, n int, order func(i int) int) {
	view(b, n, func(b *testing.B, r rivals.Reader) error {
		buf := make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			if v, err := r.Get(key(buf, order(i))); v == nil {
				return fmt.Errorf("key %d is missing: %w", order(i), err)
			}
		}
		return nil
	})
}

// Get finds keys far apart from each other, CursorGet all keys in turn; RandGet1M is Get among a million.
func BenchmarkGet(b *testing.B)       { get(b, keys, func(i int) int { return farApart(i, keys) }) }
func BenchmarkCursorGet(b *testing.B) { get(b, keys, func(i int) int { return i % keys }) }
func BenchmarkRandGet1M(b *testing.B) {
	get(b, million, func(i int) int { return farApart(i, million) })
}

func cursor(b *testing.B, loop func(b *testing.B, c rivals.Cursor) error) {
	view(b, keys, func(b *testing.B, r rivals.Reader) error {
		c, err := r.Cursor()
		if err != nil {
			return err
		}
		if err := loop(b, c); err != nil {
			return fmt.Errorf("%w: %w", err, c.Close())
		}
		return c.Close()
	})
}

// CursorSeek moves one cursor.
func BenchmarkCursorSeek(b *testing.B) {
	cursor(b, func(b *testing.B, c rivals.Cursor) error {
		buf := make([]byte, 8)
		for i := 0; b.Loop(); i++ {
			if k, _ := c.Seek(key(buf, farApart(i, keys))); k == nil {
				return fmt.Errorf("key %d is missing", farApart(i, keys))
			}
		}
		return nil
	})
}

// CursorScan visits all keys.
func BenchmarkCursorScan(b *testing.B) {
	cursor(b, func(b *testing.B, c rivals.Cursor) error {
		for b.Loop() {
			n := 0
			for k, v := c.Seek([]byte{0}); k != nil; k, v = c.Next() {
				n += len(v) / len(short)
			}
			if n != keys {
				return fmt.Errorf("%d keys", n)
			}
		}
		return nil
	})
}

func put(b *testing.B, s rivals.Store, n int) {
	buf := make([]byte, 8)
	defer cputime.Measure(b)()
	for i := 0; b.Loop(); i++ {
		check(b, s.Update(func(w rivals.Writer) error { return w.Put(key(buf, farApart(i, n)), short) }))
	}
}

// Put puts over existing keys in a transaction each, CursorPut in one for all.
func BenchmarkPut(b *testing.B) {
	each(b, keys, short, false, func(b *testing.B, s rivals.Store) { put(b, s, keys) })
}

func BenchmarkCursorPut(b *testing.B) {
	each(b, keys, short, false, func(b *testing.B, s rivals.Store) {
		buf := make([]byte, 8)
		defer cputime.Measure(b)()
		check(b, s.Update(func(w rivals.Writer) error {
			for i := 0; b.Loop(); i++ {
				if err := w.Put(key(buf, i%keys), short); err != nil {
					return err
				}
			}
			return nil
		}))
	})
}

// PutReader is Put while a reader is open.
func BenchmarkPutReader(b *testing.B) {
	each(b, keys, short, false, func(b *testing.B, s rivals.Store) {
		if alone(b) {
			b.Skip("nobody writes while a reader is open")
		}
		check(b, s.View(func(r rivals.Reader) error {
			put(b, s, keys)
			_, err := r.Get(make([]byte, 8))
			return err
		}))
	})
}

// alone says so of the engine of a benchmark.
func alone(b *testing.B) bool {
	for _, e := range rivals.Engines {
		if filepath.Base(b.Name()) == "engine="+e.Name {
			return e.Alone
		}
	}
	return false
}

// PutDurable is a transaction of one Put that is on the disk when it ends, Batch64 the same in 64 goroutines.
func BenchmarkPutDurable(b *testing.B) {
	each(b, keys, short, true, func(b *testing.B, s rivals.Store) { put(b, s, keys) })
}

func BenchmarkBatch64(b *testing.B) {
	each(b, keys, short, true, func(b *testing.B, s rivals.Store) {
		batch := func(key []byte) error {
			return s.Update(func(w rivals.Writer) error { return w.Put(key, short) })
		}
		if s, ok := s.(rivals.Batcher); ok {
			batch = func(key []byte) error { return s.Batch(key, short) }
		}
		b.SetParallelism((goroutines + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
		var next atomic.Int64
		b.ResetTimer()
		defer cputime.Measure(b)()
		b.RunParallel(func(pb *testing.PB) {
			buf := make([]byte, 8)
			for pb.Next() {
				if err := batch(key(buf, farApart(int(next.Add(1)), keys))); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

// BulkSeq1M and BulkRand1M load a million keys into a new store and close it.
func BenchmarkBulkSeq1M(b *testing.B) { bulk(b, inOrder) }

func BenchmarkBulkRand1M(b *testing.B) {
	perm := rand.New(rand.NewPCG(1, 2)).Perm(million)
	bulk(b, func(i int) int { return perm[i] })
}

func bulk(b *testing.B, order func(i int) int) {
	for _, e := range rivals.Engines {
		b.Run("engine="+e.Name, func(b *testing.B) {
			dir, size := b.TempDir(), int64(0)
			stop := cputime.Measure(b)
			for i := 0; b.Loop(); i++ {
				dir := filepath.Join(dir, fmt.Sprint(i))
				check(b, os.Mkdir(dir, 0o700))
				s, err := e.Open(dir, false)
				check(b, err)
				load(b, s, million, short, order)
				check(b, s.Close())
				size = sizeOf(b, dir)
				check(b, os.RemoveAll(dir)) // of a temporary directory
			}
			stop()
			b.ReportMetric(float64(size)/million/float64(8+len(short)), "file/live")
		})
	}
}

// sizeOf is the size of all files in a folder.
func sizeOf(tb testing.TB, dir string) (size int64) {
	tb.Helper()
	check(tb, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	}))
	return size
}

// Overwrite is a transaction that deletes a hundred keys of a million and puts over a hundred others; those that were
// deleted come back with the next one.
func BenchmarkOverwrite(b *testing.B) {
	each(b, million, long, false, func(b *testing.B, s rivals.Store) {
		buf, at := make([]byte, 8), 0
		defer cputime.Measure(b)()
		for b.Loop() {
			check(b, s.Update(func(w rivals.Writer) error { return overwrite(w, buf, at) }))
			at += perOverwrite
		}
	})
}

func overwrite(w rivals.Writer, buf []byte, at int) error {
	for i := at; i < at+perOverwrite; i++ {
		if err := w.Put(key(buf, farApart(i, million)), long); err != nil {
			return err
		}
		if err := w.Delete(key(buf, farApart(i+perOverwrite, million))); err != nil {
			return err
		}
	}
	return nil
}

// LargePut is a transaction that puts a value of 1 MiB over another, LargeGet reads one and a byte of each of its pages.
func BenchmarkLargePut(b *testing.B) {
	each(b, 0, nil, false, func(b *testing.B, s rivals.Store) {
		putLarge(b, s)
		defer cputime.Measure(b)()
		for b.Loop() {
			putLarge(b, s)
		}
	})
}

func putLarge(b *testing.B, s rivals.Store) {
	check(b, s.Update(func(w rivals.Writer) error { return w.Put([]byte("large"), large) }))
}

func BenchmarkLargeGet(b *testing.B) {
	each(b, 0, nil, false, func(b *testing.B, s rivals.Store) {
		putLarge(b, s)
		check(b, s.View(func(r rivals.Reader) error {
			defer cputime.Measure(b)()
			for b.Loop() {
				v, err := r.Get([]byte("large"))
				if len(v) != len(large) {
					return fmt.Errorf("%d bytes: %w", len(v), err)
				}
				for at := 0; at < len(v); at += 4096 {
					touched += int(v[at])
				}
			}
			return nil
		}))
	})
}

var touched int // so that no compiler leaves reading out

func TestFilesAreTheSame(t *testing.T) { twin.Check(t, "holt.go", "bbolt.go") }

// TestEngines demands of every engine what benchmarks take for granted.
func TestEngines(t *testing.T) {
	for _, e := range rivals.Engines {
		t.Run(e.Name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := e.Open(dir, false)
			check(t, err)
			load(t, s, 1000, short, inOrder)
			check(t, s.Update(func(w rivals.Writer) error { return w.Delete(key(make([]byte, 8), 500)) }))
			check(t, s.Close())
			s, err = e.Open(dir, true)
			check(t, err)
			check(t, s.View(func(r rivals.Reader) error { return holds(t, r) }))
			check(t, s.Close())
		})
	}
}

// holds looks whether a store has the first thousand keys but the 500th.
func holds(t *testing.T, r rivals.Reader) error {
	buf := make([]byte, 8)
	for i, want := range map[int]string{0: string(short), 499: string(short), 500: "", 999: string(short), 1000: ""} {
		v, err := r.Get(key(buf, i))
		if err != nil {
			return err
		}
		if string(v) != want {
			t.Errorf("key %d is %x, not %x", i, v, want)
		}
	}
	c, err := r.Cursor()
	if err != nil {
		return err
	}
	var have []int
	for k, v := c.Seek(key(buf, 497)); k != nil && len(have) < 5; k, v = c.Next() {
		have = append(have, int(binary.BigEndian.Uint64(k)))
		if string(v) != string(short) {
			t.Errorf("key %x is %x", k, v)
		}
	}
	if fmt.Sprint(have) != "[497 498 499 501 502]" {
		t.Errorf("the cursor went to %v", have)
	}
	if k, _ := c.Seek(key(buf, 1000)); k != nil {
		t.Errorf("behind the end is %x", k)
	}
	return c.Close()
}
