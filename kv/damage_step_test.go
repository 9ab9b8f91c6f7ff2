// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

// steps are the ways over all keys of a bucket, forwards or backwards.
var steps = map[string]func(b *kv.Bucket, see func(k []byte)){
	"Next": func(b *kv.Bucket, see func(k []byte)) {
		c := b.Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			see(k)
		}
	},
	"Prev": func(b *kv.Bucket, see func(k []byte)) {
		c := b.Cursor()
		for k, _ := c.Last(); k != nil; k, _ = c.Prev() {
			see(k)
		}
	},
	"All": func(b *kv.Bucket, see func(k []byte)) {
		for k := range b.All() {
			see(k)
		}
	},
	"Backward": func(b *kv.Bucket, see func(k []byte)) {
		for k := range b.Backward() {
			see(k)
		}
	},
	"ForEach": func(b *kv.Bucket, see func(k []byte)) {
		_ = b.ForEach(func(k, _ []byte) error {
			see(k)
			return nil
		})
	},
}

// TestDamageStep walks over leaves of which one element leads out of the leaf, which need not lead out of the file: what
// lies before it is seen, and then there is an error.
func TestDamageStep(t *testing.T) {
	const keys = "abcdefghij"
	var first, second []craftedElem
	for k := range strings.SplitSeq(keys[:5], "") {
		first = append(first, leafPair(k, "1"))
	}
	for k := range strings.SplitSeq(keys[5:], "") {
		second = append(second, leafPair(k, "2"))
	}
	records := map[string]func(f crafted, i int) []byte{
		"tree": func(f crafted, i int) []byte {
			return f.page(uint64(4 + i/5))[page.HeaderSize+page.ElemSize*(i%5):]
		},
		"inline": func(f crafted, i int) []byte {
			_, _, value, _ := f.page(2).LeafElem(0)
			_, _, inline, _ := page.BucketValue(value)
			return inline[page.HeaderSize+page.ElemSize*i:]
		},
	}
	for bucket, record := range records {
		for i := range keys {
			for field := 4; field < 16; field += 4 {
				for _, wrong := range []uint32{damagedPageSize, 9 * damagedPageSize, math.MaxInt32, math.MaxUint32} {
					f := craft(12)
					f.leaf(2, inlineBucket("inline", append(slices.Clone(first), second...)...), bucketAt("tree", 3))
					f.branch(3, childAt("a", 4), childAt("f", 5))
					f.leaf(4, first...)
					f.leaf(5, second...)
					f.storeFreelist(11, 6, 7, 8, 9, 10)
					binary.NativeEndian.PutUint32(record(f, i)[field:], wrong)
					db := f.open(t, kv.Options{})
					for way, walk := range steps {
						seen := ""
						err := db.View(func(tx *kv.Tx) error {
							walk(tx.Bucket([]byte(bucket)), func(k []byte) { seen += string(k) })
							return nil
						})
						wantDamage(t, way+" over "+bucket, err)
						want := keys[:i]
						if way == "Prev" || way == "Backward" {
							want = backwards(keys[i+1:])
						}
						searches := bucket == "tree" || way == "All" // and so looks at elements further on
						if !strings.HasPrefix(want, seen) || !searches && seen != want {
							t.Fatalf("%s over %s, %d at byte %d of record %d: it sees %q, want %q",
								way, bucket, wrong, field, i, seen, want)
						}
					}
					must(t, db.Close())
				}
			}
		}
	}
}

// TestStepOverFlags has flags that mean nothing: the elements are pairs like others.
func TestStepOverFlags(t *testing.T) {
	const keys = "abc"
	f := craft(8)
	f.leaf(2, bucketAt("b", 3))
	f.leaf(3, leafPair("a", "1"), leafPair("b", "2"), leafPair("c", "3"))
	f.storeFreelist(7)
	for i := range keys {
		binary.NativeEndian.PutUint32(f.page(3)[page.HeaderSize+page.ElemSize*i:], 1<<(8*i+1))
	}
	db := f.open(t, kv.Options{})
	for way, walk := range steps {
		seen := ""
		must(t, db.View(func(tx *kv.Tx) error {
			walk(tx.Bucket([]byte("b")), func(k []byte) { seen += string(k) })
			return nil
		}))
		if seen != keys && seen != backwards(keys) {
			t.Errorf("%s sees %s", way, seen)
		}
	}
}

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}
