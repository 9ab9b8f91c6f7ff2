// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/holtdb/holt/kv"
)

// Programs that do what they may, but seldom do.

// TestBatchInOnCommit calls Batch from a function of OnCommit, in its own goroutine and in another one that it waits for,
// as the first call and as one of several that share a transaction.
func TestBatchInOnCommit(t *testing.T) {
	db := openTemp(t, nil)
	again := func() { must(t, db.Batch(put("again", "1"))) }
	for name, handler := range map[string]func(){
		"same goroutine": again,
		"another one": func() {
			done := make(chan struct{})
			go func() { defer close(done); again() }()
			<-done
		},
	} {
		t.Run(name, func(t *testing.T) {
			var calls sync.WaitGroup
			for i := range 16 {
				calls.Go(func() {
					must(t, db.Batch(func(tx *kv.Tx) error {
						tx.OnCommit(handler)
						return put(strconv.Itoa(i), "x")(tx)
					}))
				})
			}
			ends(t, calls.Wait)
		})
	}
}

// TestCloseBeforeWriter closes the database while a reader is open that goes on to write: the write is refused, or both
// would wait for ever.
func TestCloseBeforeWriter(t *testing.T) {
	db, err := kv.Open(filepath.Join(t.TempDir(), "my.db"), 0o600, nil)
	must(t, err)
	closed := make(chan error)
	ends(t, func() {
		must(t, db.View(func(*kv.Tx) error {
			go func() { closed <- db.Close() }()
			for {
				if err := db.Update(func(*kv.Tx) error { return nil }); err != nil {
					wantErr(t, err, kv.ErrDatabaseNotOpen)
					return nil
				}
			}
		}))
		must(t, <-closed)
	})
}

// TestMlockNoGrowSync locks a file in memory that grows by being written to.
func TestMlockNoGrowSync(t *testing.T) {
	db, err := kv.Open(filepath.Join(t.TempDir(), "my.db"), 0o600, &kv.Options{Mlock: true, NoGrowSync: true})
	if err != nil {
		t.Skipf("no memory can be locked here: %v", err)
	}
	for i := range 40 {
		must(t, db.Update(put(strconv.Itoa(i), string(make([]byte, 3000)))))
	}
	must(t, db.Close())
}

// TestReplacedValues has a transaction replace a large value many times: what was replaced is not kept.
func TestReplacedValues(t *testing.T) {
	db := openTemp(t, &kv.Options{NoSync: true})
	const rounds, size = 20_000, 4096
	must(t, db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		for range rounds {
			must(t, b.Put([]byte("key"), make([]byte, size)))
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		if m.HeapAlloc > rounds*size/2 {
			t.Errorf("%d MB are in use after replacing %d MB", m.HeapAlloc>>20, rounds*size>>20)
		}
		return err
	}))
}

// TestSharedReader has goroutines share a read transaction, for the race detector: they should not, but programs do.
func TestSharedReader(t *testing.T) {
	db := openTemp(t, nil)
	must(t, db.Update(put("key", "value")))
	must(t, db.View(func(tx *kv.Tx) error {
		b := tx.Bucket([]byte("b"))
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for range 100 {
					b.Get([]byte("key"))
				}
			})
		}
		readers.Wait()
		return nil
	}))
}

// TestHugeNode stores more in one leaf than a 32-bit machine can count: it must not write over its neighbours.
func TestHugeNode(t *testing.T) {
	if strconv.IntSize > 32 {
		t.Skip("an int counts further here")
	}
	db := openTemp(t, &kv.Options{NoSync: true, PageSize: 4096})
	must(t, db.Update(put("keep", "it")))
	value := make([]byte, 1<<26)
	err := db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("large"))
		for i := range 64 {
			must(t, b.Put(fmt.Appendf(nil, "%03d", i), value))
		}
		return err
	})
	if err == nil {
		t.Error("4 GiB were stored")
	}
	checkClean(t, db)
}

// TestTwiceDamaged recovers from damage inside View and meets other damage: View returns it all the same.
func TestTwiceDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.db")
	db, err := kv.Open(path, 0o600, &kv.Options{PageSize: 4096})
	must(t, err)
	var roots []kv.Pgid
	must(t, db.Update(func(tx *kv.Tx) error {
		for _, name := range []string{"one", "two"} {
			b, err := tx.CreateBucket([]byte(name))
			must(t, err)
			must(t, b.Put([]byte("key"), make([]byte, 2000)))
		}
		return nil
	}))
	must(t, db.View(func(tx *kv.Tx) error {
		return tx.ForEach(func(_ []byte, b *kv.Bucket) error {
			roots = append(roots, b.Root())
			return nil
		})
	}))
	must(t, db.Close())
	for _, root := range roots {
		patch(t, path, int64(root)*4096+8, []byte{0x77})
	}

	db, err = kv.Open(path, 0o600, nil)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	err = db.View(func(tx *kv.Tx) error {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no damage was met")
				}
			}()
			tx.Bucket([]byte("one")).Get([]byte("key"))
		}()
		tx.Bucket([]byte("two")).Get([]byte("key"))
		return nil
	})
	if _, ok := errors.AsType[*kv.CorruptError](err); !ok {
		t.Errorf("View returned %v", err)
	}
}

// TestOverlappingElements has 500 elements share the bytes of a 2 MiB page run: written anew they would be 1 GB.
func TestOverlappingElements(t *testing.T) {
	const n, size = 500, 2 << 20
	path := filepath.Join(t.TempDir(), "my.db")
	db, err := kv.Open(path, 0o600, &kv.Options{PageSize: 4096})
	must(t, err)
	must(t, db.Update(put("key", string(make([]byte, size)))))
	var root kv.Pgid
	must(t, db.View(func(tx *kv.Tx) error { root = tx.Bucket([]byte("b")).Root(); return nil }))
	must(t, db.Close())

	ne, run := binary.NativeEndian, size+4096
	elements := make([]byte, (16+4)*n)
	for i := range n {
		e, key := elements[16*i:], 16*n+4*i
		ne.PutUint32(e[4:], uint32(key-16*i))
		ne.PutUint32(e[8:], 4)
		ne.PutUint32(e[12:], uint32(run-16-key-4))
		binary.BigEndian.PutUint32(elements[key:], uint32(i+1))
	}
	patch(t, path, int64(root)*4096+16, elements)
	patch(t, path, int64(root)*4096+10, ne.AppendUint16(nil, n))

	db, err = kv.Open(path, 0o600, &kv.Options{NoSync: true})
	must(t, err)
	defer func() { must(t, db.Close()) }()
	for what, err := range map[string]error{
		"Put":     db.Update(put("new", "value")),
		"Compact": kv.Compact(openTemp(t, &kv.Options{NoSync: true}), db, 0),
	} {
		if _, ok := errors.AsType[*kv.CorruptError](err); !ok {
			t.Errorf("%s: %v", what, err)
		}
	}
	if len(findings(t, db)) == 0 {
		t.Error("Check found nothing")
	}
}

// TestZeroValues uses a database that was never opened, and a transaction that never began.
func TestZeroValues(t *testing.T) {
	var db kv.DB
	refusesAll(t, &db)
	must(t, db.Close())
	db.Logger().Errorf("to nobody")
	if s := db.Stats(); s != (kv.Stats{}) {
		t.Errorf("statistics %+v", s)
	}

	var tx kv.Tx
	wantErr(t, tx.Commit(), kv.ErrTxClosed)
	wantErr(t, tx.Rollback(), kv.ErrTxClosed)
	if p, err := tx.Page(0); p != nil || !errors.Is(err, kv.ErrTxClosed) {
		t.Errorf("page %v, %v", p, err)
	}
	if tx.ID() != -1 || tx.DB() != nil || tx.Writable() {
		t.Errorf("transaction %d of %v, writable %t", tx.ID(), tx.DB(), tx.Writable())
	}
}

// TestClosed uses a database after its end.
func TestClosed(t *testing.T) {
	db, err := kv.Open(filepath.Join(t.TempDir(), "my.db"), 0o600, nil)
	must(t, err)
	must(t, db.Close())
	refusesAll(t, db)
	must(t, db.Close())
}

// refusesAll demands that a database which is not open says so.
func refusesAll(t *testing.T, db *kv.DB) {
	t.Helper()
	nothing := func(*kv.Tx) error { return nil }
	_, shrinking := db.Shrink(t.Context(), kv.ShrinkOptions{})
	_, punching := db.PunchHoles(t.Context())
	for what, err := range map[string]error{
		"View": db.View(nothing), "Update": db.Update(nothing), "Batch": db.Batch(nothing), "Sync": db.Sync(),
		"Shrink": shrinking, "PunchHoles": punching,
	} {
		if !errors.Is(err, kv.ErrDatabaseNotOpen) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestTinyPages opens what is no database with page sizes that leave no room for a meta page.
func TestTinyPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.db")
	writeFile(t, path, make([]byte, 8192))
	for _, size := range []int{1, 16, 79, 80, 1000} {
		for _, readOnly := range []bool{false, true} {
			db, err := kv.Open(path, 0o600, &kv.Options{PageSize: size, ReadOnly: readOnly})
			if db != nil || !errors.Is(err, kv.ErrInvalid) {
				t.Errorf("page size %d: %v, %v", size, db, err)
			}
		}
	}
}

// put stores a pair in bucket b.
func put(key, value string) func(*kv.Tx) error {
	return func(tx *kv.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte("b"))
		if err != nil {
			return err
		}
		return b.Put([]byte(key), []byte(value))
	}
}

// patch overwrites bytes of a file.
func patch(t *testing.T, path string, off int64, data []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt(data, off)
	must(t, err)
	must(t, f.Close())
}

// ends fails if fn has not ended after a minute.
func ends(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); fn() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it waits for ever")
	}
}
