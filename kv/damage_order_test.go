// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"testing"

	"github.com/holtdb/holt/kv"
)

// TestDamageOrderWrites changes pages whose keys are not in order, and branches whose are not: a key put there might
// never be found again.
func TestDamageOrderWrites(t *testing.T) {
	fine := []craftedElem{leafPair("m", "1"), leafPair("n", "2"), leafPair("o", "3")}
	for name, craftTree := range map[string]func(f crafted){
		"leaf": func(f crafted) {
			f.branch(3, childAt("a", 4), childAt("m", 5))
			f.leaf(4, leafPair("a", "1"), leafPair("c", "2"), leafPair("b", "3"), leafPair("d", "4"))
			f.leaf(5, fine...)
		},
		"same key": func(f crafted) {
			f.branch(3, childAt("a", 4), childAt("m", 5))
			f.leaf(4, leafPair("a", "1"), leafPair("b", "2"), leafPair("b", "3"))
			f.leaf(5, fine...)
		},
		"branch": func(f crafted) {
			f.branch(3, childAt("a", 4), childAt("o", 5), childAt("m", 6))
			f.leaf(4, leafPair("a", "1"), leafPair("b", "2"))
			f.leaf(5, leafPair("o", "1"))
			f.leaf(6, leafPair("m", "1"))
		},
	} {
		f := craft(8)
		f.leaf(2, bucketAt("b", 3), inlineBucket("inline", leafPair("b", "1"), leafPair("a", "2")))
		craftTree(f)
		f.storeFreelist(7)
		db := f.open(t, kv.Options{})
		for _, bucket := range []string{"b", "inline"} {
			wantDamage(t, name+": put into "+bucket, db.Update(func(tx *kv.Tx) error {
				return tx.Bucket([]byte(bucket)).Put([]byte("aa"), []byte("new"))
			}))
		}
	}
}

// TestDamageRangeOfEmptyLeaf has a leaf without elements: no key of it is out of place.
func TestDamageRangeOfEmptyLeaf(t *testing.T) {
	f := craft(8)
	f.leaf(2, bucketAt("b", 3))
	f.branch(3, childAt("a", 4), childAt("m", 5))
	f.leaf(4)
	f.leaf(5, leafPair("m", "1"), leafPair("n", "2"))
	f.storeFreelist(7, 6)
	db := f.open(t, kv.Options{})
	must(t, db.View(func(tx *kv.Tx) error {
		must(t, checked(tx))
		b := tx.Bucket([]byte("b"))
		if v := b.Get([]byte("b")); v != nil {
			t.Errorf("there is %q", v)
		}
		if k, _ := b.Cursor().First(); string(k) != "m" {
			t.Errorf("the first key is %q", k)
		}
		return nil
	}))
	must(t, db.Update(func(tx *kv.Tx) error { return tx.Bucket([]byte("b")).Put([]byte("0"), []byte("new")) }))
	must(t, db.View(checked))
}

// TestDamageRangeBelow has keys between the one that leads to a leaf and the first there, which old versions may have
// left, and a key put below all.
func TestDamageRangeBelow(t *testing.T) {
	f := craft(12)
	f.leaf(2, bucketAt("b", 3))
	f.branch(3, childAt("b", 4), childAt("m", 5))
	f.branch(4, childAt("c", 6), childAt("f", 7))
	f.branch(5, childAt("n", 8), childAt("t", 9))
	f.leaf(6, leafPair("d", "1"), leafPair("e", "2"))
	f.leaf(7, leafPair("g", "3"), leafPair("h", "4"))
	f.leaf(8, leafPair("o", "5"), leafPair("p", "6"))
	f.leaf(9, leafPair("u", "7"), leafPair("v", "8"))
	f.storeFreelist(11, 10)
	sound := []byte(f)
	keys := "deghopuv"
	for _, change := range []func(b *kv.Bucket, key string) error{
		func(b *kv.Bucket, key string) error { return b.Put([]byte(key), []byte("new")) },
		func(b *kv.Bucket, key string) error { return b.Delete([]byte(key)) },
	} {
		for _, first := range "0abcdefghijklmnopqrstuvwxyz" {
			for _, second := range "0bcdmnouz" {
				db := mustOpenSim(t, memoryWith(t, sound), kv.Options{})
				must(t, db.Update(func(tx *kv.Tx) error {
					b := tx.Bucket([]byte("b"))
					must(t, change(b, string(first)))
					must(t, change(b, string(second)))
					for _, key := range keys {
						if b.Get([]byte(string(key))) == nil && key != first && key != second {
							t.Errorf("%c is lost after %c and %c", key, first, second)
						}
					}
					for k := range b.Backward() {
						b.Get(k)
					}
					return nil
				}))
				must(t, db.View(checked))
				must(t, db.Close())
			}
		}
	}
}
