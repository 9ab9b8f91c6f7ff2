// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/holtdb/holt/kv"
)

// TestShrunkFiles has bbolt fill a file and delete from it, kv shrink it, bbolt check and change what that has left, and
// kv shrink it once more.
func TestShrunkFiles(t *testing.T) {
	for name, o := range map[string]kv.Options{
		"default":      {},
		"free lists":   {SyncFreelist: true},
		"no free list": {NoFreelistSync: true},
		"bolt":         {BoltPlacement: true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			withBolt(t, path, func(tx *bbolt.Tx) error { return fillTree(tx, 20_000) })
			for round := range 3 {
				withBolt(t, path, func(tx *bbolt.Tx) error { return thin(tx, round) })
				before, sum := sizeOf(t, path), boltSum(t, path)
				shrinkWith(t, path, o, 100_000)
				if after := sizeOf(t, path); after >= before {
					t.Errorf("round %d: %d bytes, %d before", round, after, before)
				}
				if boltSum(t, path) != sum {
					t.Errorf("round %d: something else is in it now", round)
				}
			}
		})
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func withBolt(t *testing.T, path string, fn func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err == nil {
		err = db.Update(fn)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal("bbolt:", err)
	}
}

func shrinkWith(t *testing.T, path string, o kv.Options, step int) {
	t.Helper()
	o.NoSync = true
	db, err := kv.Open(path, 0o600, &o)
	if err == nil {
		_, err = db.Shrink(t.Context(), kv.ShrinkOptions{StepBytes: step})
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal("kv:", err)
	}
}

// fillTree fills buckets in buckets.
func fillTree(tx *bbolt.Tx, n int) error {
	for i := range n {
		b, err := tx.CreateBucketIfNotExists(fmt.Appendf(nil, "bucket %d", i%3))
		if err == nil && i%5 == 0 {
			b, err = b.CreateBucketIfNotExists(fmt.Appendf(nil, "in %d", i%70))
		}
		size := i * 7919 % 300
		if i%500 == 0 {
			size = i
		}
		if err == nil {
			err = b.Put(fmt.Appendf(nil, "key %d", i*7919%n), make([]byte, size))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// thin deletes some of the keys, and puts a few new ones.
func thin(tx *bbolt.Tx, round int) error {
	return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error { return thinBucket(b, round) })
}

func thinBucket(b *bbolt.Bucket, round int) error {
	var gone [][]byte
	n := 0
	err := b.ForEach(func(k, v []byte) error {
		if v == nil {
			return thinBucket(b.Bucket(k), round)
		}
		if n++; n%4 < 2 {
			gone = append(gone, k)
		}
		return nil
	})
	for _, k := range gone {
		if err == nil {
			err = b.Delete(append([]byte(nil), k...))
		}
	}
	for i := range 5 {
		if err == nil {
			err = b.Put(fmt.Appendf(nil, "new %d of %d", i, round), make([]byte, 50*i))
		}
	}
	return err
}

// boltSum has bbolt check a file, and returns a sum of what is in it.
func boltSum(t *testing.T, path string) string {
	t.Helper()
	h := sha256.New()
	withBolt(t, path, func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			t.Error("bbolt check:", err)
		}
		return sumBucket(h, tx.Cursor().Bucket())
	})
	return fmt.Sprintf("%x", h.Sum(nil))
}

func sumBucket(h hash.Hash, b *bbolt.Bucket) error {
	return b.ForEach(func(k, v []byte) error {
		fmt.Fprintf(h, "%q=%q\n", k, v)
		if v != nil {
			return nil
		}
		defer fmt.Fprintln(h, "end")
		return sumBucket(h, b.Bucket(k))
	})
}

// TestShrunkBranches has bbolt delete from trees with few children to a branch, as the keys are long, that kv has shrunk in
// small steps: bbolt panics where a branch has a single child.
func TestShrunkBranches(t *testing.T) {
	for seed := range 10 {
		path := filepath.Join(t.TempDir(), "x.db")
		created, err := kv.Open(path, 0o600, &kv.Options{PageSize: 1024, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := created.Close(); err != nil {
			t.Fatal(err)
		}
		withBolt(t, path, func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket([]byte("b"))
			for i := 0; i < 1000 && err == nil; i++ {
				err = b.Put(someLong(i), make([]byte, i*131%200))
			}
			return err
		})
		for round := range 8 {
			withBolt(t, path, func(tx *bbolt.Tx) error {
				b := tx.Bucket([]byte("b"))
				for i := range 1000 {
					if (i*7919+seed*31+round*17)%8 > 5 || i/100 == (seed+round)%10 && i%3 > 0 {
						if err := b.Delete(someLong(i)); err != nil {
							return err
						}
					}
				}
				return nil
			})
			sum := boltSum(t, path)
			shrinkWith(t, path, kv.Options{}, 4096<<(round%3))
			if boltSum(t, path) != sum {
				t.Errorf("round %d: something else is in it now", round)
			}
		}
	}
}

// someLong is key number i, long in one of eleven.
func someLong(i int) []byte {
	key := fmt.Appendf(nil, "%05d", i)
	if i%11 == 0 {
		key = append(key, make([]byte, i*31%900)...)
	}
	return key
}
