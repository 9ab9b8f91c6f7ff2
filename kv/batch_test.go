// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holtdb/holt/kv"
)

var batchBucket = []byte("batch")

// openBatch opens a database with an empty bucket.
func openBatch(t testing.TB) *kv.DB {
	t.Helper()
	db := openTemp(t, nil)
	must(t, db.Update(func(tx *kv.Tx) error {
		_, err := tx.CreateBucket(batchBucket)
		return err
	}))
	return db
}

// count adds one to the number under key.
func count(tx *kv.Tx, key string) error {
	b := tx.Bucket(batchBucket)
	var n uint64
	if v := b.Get([]byte(key)); v != nil {
		n = binary.BigEndian.Uint64(v)
	}
	return b.Put([]byte(key), binary.BigEndian.AppendUint64(nil, n+1))
}

// counts returns the numbers under all keys.
func counts(t testing.TB, db *kv.DB) map[string]uint64 {
	t.Helper()
	m := make(map[string]uint64)
	must(t, db.View(func(tx *kv.Tx) error {
		for k, v := range tx.Bucket(batchBucket).All() {
			m[string(k)] = binary.BigEndian.Uint64(v)
		}
		return nil
	}))
	return m
}

// id is the number of the last transaction.
func id(t testing.TB, db *kv.DB) (n int) {
	t.Helper()
	must(t, db.View(func(tx *kv.Tx) error {
		n = tx.ID()
		return nil
	}))
	return n
}

// hold runs a batch that lasts until release is called, so that calls made meanwhile must queue.
func hold(t testing.TB, db *kv.DB) (release func()) {
	t.Helper()
	entered, leave, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		if err := db.Batch(func(*kv.Tx) error {
			close(entered)
			<-leave
			return nil
		}); err != nil {
			t.Error(err)
		}
	}()
	<-entered
	return func() {
		close(leave)
		<-done
	}
}

// queue makes n calls and returns once they wait behind the one that hold has made.
func queue(t testing.TB, db *kv.DB, n int, call func(i int)) (wait func()) {
	t.Helper()
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() { call(i) })
	}
	for kv.BatchQueue(db) < n {
		runtime.Gosched()
	}
	return calls.Wait
}

// TestBatchShares makes ten calls while another commits: they share one transaction.
func TestBatchShares(t *testing.T) {
	db := openBatch(t)
	release := hold(t, db)
	before := id(t, db)
	wait := queue(t, db, 10, func(int) {
		if err := db.Batch(func(tx *kv.Tx) error { return count(tx, "n") }); err != nil {
			t.Error(err)
		}
	})
	release()
	wait()
	if n := id(t, db) - before; n != 2 {
		t.Errorf("%d transactions for one call and ten more, want 2", n)
	}
	if n := counts(t, db)["n"]; n != 10 {
		t.Errorf("counted %d, want 10", n)
	}
}

// TestBatchMaxSize bounds a transaction.
func TestBatchMaxSize(t *testing.T) {
	db := openBatch(t)
	db.MaxBatchSize = 4
	release := hold(t, db)
	before := id(t, db)
	wait := queue(t, db, 10, func(int) {
		if err := db.Batch(func(tx *kv.Tx) error { return count(tx, fmt.Sprint(tx.ID())) }); err != nil {
			t.Error(err)
		}
	})
	release()
	wait()
	if n := id(t, db) - before; n != 4 {
		t.Errorf("%d transactions for one call and ten more, four at a time; want 4", n)
	}
	for tx, n := range counts(t, db) {
		if n > 4 {
			t.Errorf("transaction %s ran %d functions, want at most 4", tx, n)
		}
	}
}

// TestBatchOff makes every call an Update.
func TestBatchOff(t *testing.T) {
	for _, size := range []int{-1, 0, 1} {
		db := openBatch(t)
		db.MaxBatchSize = size
		before := id(t, db)
		var calls sync.WaitGroup
		for range 10 {
			calls.Go(func() {
				if err := db.Batch(func(tx *kv.Tx) error { return count(tx, "n") }); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		if n := id(t, db) - before; n != 10 {
			t.Errorf("size %d: %d transactions for 10 calls", size, n)
		}
	}
}

// TestBatchError has three of ten calls fail, each in its own way. The others must not notice.
func TestBatchError(t *testing.T) {
	db := openBatch(t)
	errOwn := errors.New("own")
	release := hold(t, db)
	var good atomic.Int32
	wait := queue(t, db, 10, func(i int) {
		exited := true
		defer func() {
			switch r := recover(); {
			case i == 5 && r != "boom":
				t.Errorf("recovered %v, want the panic of the function", r)
			case i != 5 && r != nil:
				t.Errorf("call %d panics: %v", i, r)
			case i == 7 && !exited:
				t.Error("the goroutine whose function exits goes on")
			case i != 5 && i != 7 && exited:
				t.Errorf("call %d exits", i)
			}
		}()
		err := db.Batch(func(tx *kv.Tx) error {
			if err := count(tx, "n"); err != nil {
				return err
			}
			switch i {
			case 3:
				return errOwn
			case 5:
				panic("boom")
			case 7:
				runtime.Goexit()
			}
			return nil
		})
		exited = false
		switch {
		case i == 3:
			wantErr(t, err, errOwn)
		case err != nil:
			t.Errorf("call %d: %v", i, err)
		default:
			good.Add(1)
		}
	})
	release()
	wait()
	if n := counts(t, db)["n"]; n != 7 || good.Load() != 7 {
		t.Errorf("counted %d, %d calls succeeded; want 7", n, good.Load())
	}
}

// TestBatchAlone fails without company: the function runs once, in the goroutine of its caller.
func TestBatchAlone(t *testing.T) {
	db := openBatch(t)
	errOwn := errors.New("own")
	ran := 0
	if err := db.Batch(func(tx *kv.Tx) error {
		ran++
		return errors.Join(count(tx, "n"), errOwn)
	}); !errors.Is(err, errOwn) {
		t.Errorf("have %v, want the error of the function", err)
	}
	func() {
		defer func() {
			if r := recover(); r != "boom" {
				t.Errorf("recovered %v, want the panic of the function", r)
			}
		}()
		_ = db.Batch(func(*kv.Tx) error { ran++; panic("boom") })
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = db.Batch(func(*kv.Tx) error { ran++; runtime.Goexit(); return nil })
		t.Error("Batch returns to a goroutine that was to exit")
	}()
	<-done
	if ran != 3 {
		t.Errorf("three functions ran %d times", ran)
	}
	must(t, db.Batch(func(tx *kv.Tx) error { return count(tx, "n") }))
	if n := counts(t, db)["n"]; n != 1 {
		t.Errorf("counted %d, want 1", n)
	}
}

// TestBatchGathers asks for full transactions by a delay that never ends.
func TestBatchGathers(t *testing.T) {
	db := openBatch(t)
	db.MaxBatchSize, db.MaxBatchDelay = 3, time.Hour
	before := id(t, db)
	call := func(int) {
		if err := db.Batch(func(tx *kv.Tx) error { return count(tx, "n") }); err != nil {
			t.Error(err)
		}
	}
	wait2 := queue(t, db, 2, call)
	if n := id(t, db) - before; n != 0 {
		t.Errorf("%d transactions for a batch that is not full", n)
	}
	call(2)
	wait2()
	if n := id(t, db) - before; n != 1 {
		t.Errorf("%d transactions for 3 calls, want 1", n)
	}
}

// TestBatchDelayEnds does not fill the transaction.
func TestBatchDelayEnds(t *testing.T) {
	db := openBatch(t)
	db.MaxBatchDelay = 2 * kv.DefaultMaxBatchDelay
	start := time.Now()
	must(t, db.Batch(func(tx *kv.Tx) error { return count(tx, "n") }))
	if d := time.Since(start); d < db.MaxBatchDelay {
		t.Errorf("waited %v for others to come, want %v", d, db.MaxBatchDelay)
	}
}

// TestBatchOnCommitPanics: the changes have been made, and nobody may make them again.
func TestBatchOnCommitPanics(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func()
	}{
		{"panic", func() { panic("boom") }},
		{"exit", runtime.Goexit},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := openBatch(t)
			release := hold(t, db)
			wait := queue(t, db, 3, func(i int) {
				defer func() {
					if recover() == nil {
						t.Error("no panic in a call whose transaction panicked")
					}
				}()
				_ = db.Batch(func(tx *kv.Tx) error {
					if i == 1 {
						tx.OnCommit(test.do)
					}
					return count(tx, "n")
				})
			})
			release()
			wait()
			if n := counts(t, db)["n"]; n != 3 {
				t.Errorf("counted %d, want 3", n)
			}
		})
	}
}

func TestBatchClosed(t *testing.T) {
	db, err := kv.Open(filepath.Join(t.TempDir(), "test.db"), 0o600, &kv.Options{NoSync: true})
	must(t, err)
	must(t, db.Close())
	for range 2 {
		wantErr(t, db.Batch(func(*kv.Tx) error { return nil }), kv.ErrDatabaseNotOpen)
	}
}

// TestBatchStress mixes everything, with calls of Update in between, and keeps account.
func TestBatchStress(t *testing.T) {
	const goroutines, calls = 16, 60
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, size := range []int{2, 5, 1000} {
		db := openBatch(t)
		db.MaxBatchSize = size
		var all sync.WaitGroup
		var want atomic.Uint64
		for g := range goroutines {
			random := rand.New(rand.NewPCG(seed, uint64(g)))
			all.Go(func() {
				for range calls {
					if stressCall(db, random.IntN(12)) {
						want.Add(1)
					}
				}
			})
		}
		all.Wait()
		if have := counts(t, db)["n"]; have != want.Load() {
			t.Errorf("size %d: counted %d, want %d", size, have, want.Load())
		}
	}
}

// stressCall makes one call, and says whether it is to be counted.
func stressCall(db *kv.DB, kind int) (counted bool) {
	call := func(end func() error) (ok bool) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = recover() }()
			ok = db.Batch(func(tx *kv.Tx) error {
				if err := count(tx, "n"); err != nil {
					return err
				}
				return end()
			}) == nil
		}()
		<-done
		return ok
	}
	switch kind {
	case 0:
		return call(func() error { return errors.New("own") })
	case 1:
		return call(func() error { panic("boom") })
	case 2:
		return call(func() error { runtime.Goexit(); return nil })
	case 3:
		return db.Update(func(tx *kv.Tx) error { return count(tx, "n") }) == nil
	default:
		return call(func() error { return nil })
	}
}

func BenchmarkBatch(b *testing.B) {
	db := openBatch(b)
	before := id(b, db)
	b.ReportAllocs()
	b.SetParallelism(32)
	key := []byte("key")
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := db.Batch(func(tx *kv.Tx) error { return tx.Bucket(batchBucket).Put(key, key) }); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/float64(id(b, db)-before), "calls/tx")
}
