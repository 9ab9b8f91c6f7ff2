// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/holtdb/holt/kv"
)

// statsVectors are what bbolt 1.5.0 reports for a bucket filled by a workload. LeafInuse is 0 where it is not given.
var statsVectors = []struct {
	name     string
	fill     func(db *kv.DB) error
	pageSize int
	want     kv.BucketStats
}{
	{"small and one big value", fillSmallAndBig, 4096, kv.BucketStats{
		BranchPageN: 1, LeafPageN: 7, LeafOverflowN: 10, KeyN: 501, Depth: 2, BranchInuse: 149, LeafAlloc: 69632,
		LeafInuse: 7*16 + 501*16 + (500*3 + 16) + (10 + 2*90 + 3*400) + (10*4096 + 17),
	}},
	{"small and one big value", fillSmallAndBig, 16384, kv.BucketStats{
		BranchPageN: 1, LeafPageN: 3, LeafOverflowN: 10, KeyN: 501, Depth: 2, BranchInuse: 73, LeafAlloc: 212992,
	}},
	{"small and one big value", fillSmallAndBig, 65536, kv.BucketStats{
		BranchPageN: 1, LeafPageN: 2, LeafOverflowN: 10, KeyN: 501, Depth: 2, BranchInuse: 54, LeafAlloc: 786432,
	}},
	{"hundred thousand", fillHundredThousand, 4096, kv.BucketStats{
		BranchPageN: 13, LeafPageN: 1196, KeyN: 100000, Depth: 3, BranchInuse: 25257, LeafAlloc: 4898816, LeafInuse: 2596916,
	}},
	{"hundred thousand", fillHundredThousand, 16384, kv.BucketStats{
		BranchPageN: 1, LeafPageN: 292, KeyN: 100000, Depth: 2, BranchInuse: 6094, LeafAlloc: 4784128, LeafInuse: 2582452,
	}},
	{"hundred thousand", fillHundredThousand, 65536, kv.BucketStats{
		BranchPageN: 1, LeafPageN: 73, KeyN: 100000, Depth: 2, BranchInuse: 1534, LeafAlloc: 4784128, LeafInuse: 2578948,
	}},
}

// fillSmallAndBig stores 500 small values, a transaction each, and one that takes ten pages and a bit.
func fillSmallAndBig(db *kv.DB) error {
	for i := range 500 {
		if err := putOne(db, fmt.Sprintf("%03d", i), []byte(strconv.Itoa(i))); err != nil {
			return err
		}
	}
	return putOne(db, "really-big-value", make([]byte, 10*db.Info().PageSize+17))
}

func putOne(db *kv.DB, key string, value []byte) error {
	return db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte("b"))
		if err != nil {
			return err
		}
		return b.Put([]byte(key), value)
	})
}

// fillHundredThousand stores 100000 numbers under themselves, a thousand in a transaction.
func fillHundredThousand(db *kv.DB) error {
	for first := 0; first < 100_000; first += 1000 {
		err := db.Update(func(tx *kv.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			if err != nil {
				return err
			}
			for i := first; i < first+1000; i++ {
				text := strconv.Itoa(i)
				if err := b.Put([]byte(text), []byte(text)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func TestBucketStatsVectors(t *testing.T) {
	for _, v := range statsVectors {
		t.Run(fmt.Sprintf("%s/%d", v.name, v.pageSize), func(t *testing.T) {
			got := statsAfter(t, v.pageSize, v.fill)
			want := v.want
			want.BranchAlloc, want.BucketN = want.BranchPageN*v.pageSize, 1
			if want.LeafInuse == 0 {
				want.LeafInuse = got.LeafInuse
			}
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestInlineBucketStats(t *testing.T) {
	for _, test := range []struct {
		name string
		fill func(db *kv.DB) error
		want kv.BucketStats
	}{
		{
			"one pair",
			func(db *kv.DB) error { return putOne(db, "foo", []byte("bar")) },
			kv.BucketStats{KeyN: 1, Depth: 1, BucketN: 1, InlineBucketN: 1, InlineBucketInuse: 38},
		},
		{
			"empty",
			func(db *kv.DB) error {
				return db.Update(func(tx *kv.Tx) error {
					_, err := tx.CreateBucket([]byte("b"))
					return err
				})
			},
			kv.BucketStats{Depth: 1, BucketN: 1, InlineBucketN: 1, InlineBucketInuse: 16},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := statsAfter(t, 4096, test.fill); got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// statsAfter returns the statistics of bucket "b" of a new database after fill.
func statsAfter(t *testing.T, pageSize int, fill func(db *kv.DB) error) (stats kv.BucketStats) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stats.db")
	db, err := kv.Open(path, 0o600, &kv.Options{PageSize: pageSize, NoSync: true, BoltPlacement: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := fill(db); err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *kv.Tx) error {
		stats = tx.Bucket([]byte("b")).Stats()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return stats
}
