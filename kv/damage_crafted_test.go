// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

// crafted is a file that a test makes page by page, with pages of damagedPageSize bytes and no free list.
type crafted []byte

// craftedElem is one element of a crafted page. Its value makes it one of a leaf, its child one of a branch.
type craftedElem struct {
	flags      uint32
	key, value string
	child      uint64
}

// craft returns a file of n pages whose root is page 2.
func craft(n int) crafted {
	f := crafted(make([]byte, n*damagedPageSize))
	for txid := range uint64(2) {
		page.PutMeta(f.page(txid)[:damagedPageSize], page.MetaRecord{
			PageSize: damagedPageSize, Root: 2, Freelist: page.NoFreelist, HWM: uint64(n), TxID: txid,
		})
	}
	return f
}

func (f crafted) page(id uint64) page.Page { return page.Page(f[id*damagedPageSize:]) }

// leaf makes page id a leaf.
func (f crafted) leaf(id uint64, elems ...craftedElem) {
	p := f.page(id)
	p.PutHeader(id, page.Leaf, len(elems), 0)
	putLeaf(p, elems)
}

// putLeaf writes the elements of a leaf and returns where they end.
func putLeaf(p page.Page, elems []craftedElem) int {
	at := page.HeaderSize + page.ElemSize*len(elems)
	for i, e := range elems {
		p.PutLeafElem(i, e.flags, at, uint32(len(e.key)), uint32(len(e.value)))
		at += copy(p[at:], e.key+e.value)
	}
	return at
}

// branch makes page id a branch.
func (f crafted) branch(id uint64, elems ...craftedElem) {
	p := f.page(id)
	p.PutHeader(id, page.Branch, len(elems), 0)
	at := page.HeaderSize + page.ElemSize*len(elems)
	for i, e := range elems {
		p.PutBranchElem(i, at, uint32(len(e.key)), e.child)
		at += copy(p[at:], e.key)
	}
}

// leafPair, inlineBucket, bucketAt and childAt are the elements of leaves and branches.
func leafPair(key, value string) craftedElem       { return craftedElem{key: key, value: value} }
func childAt(key string, child uint64) craftedElem { return craftedElem{key: key, child: child} }
func inlineBucket(key string, elems ...craftedElem) craftedElem {
	b := make([]byte, damagedPageSize)
	p := page.Page(b[page.BucketHeader:])
	p.PutHeader(0, page.Leaf, len(elems), 0)
	end := putLeaf(p, elems)
	return craftedElem{flags: page.BucketFlag, key: key, value: string(b[:page.BucketHeader+end])}
}

func bucketAt(key string, root uint64) craftedElem {
	b := make([]byte, page.BucketHeader)
	page.PutBucketHeader(b, root, 0)
	return craftedElem{flags: page.BucketFlag, key: key, value: string(b)}
}

// open opens the file for writing. The free pages are not looked for, as if they were stored.
func (f crafted) open(t *testing.T, o kv.Options) *kv.DB {
	t.Helper()
	db := mustOpenSim(t, memoryWith(t, f), o)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

// storeFreelist puts an empty free list on page id, so that nobody looks at all pages for them.
func (f crafted) storeFreelist(id uint64, free ...uint64) {
	ids := f.page(id).PutFreelistCount(id, len(free), 0)
	for i, v := range free {
		binary.NativeEndian.PutUint64(ids[8*i:], v)
	}
	for meta := range uint64(2) {
		m := page.MetaOf(f.page(meta))
		m.SetFreelist(id)
		m.Seal()
	}
}

// wantDamage demands that err is a *CorruptError.
func wantDamage(t *testing.T, doing string, err error) {
	t.Helper()
	if corrupt := (*kv.CorruptError)(nil); !errors.As(err, &corrupt) {
		t.Errorf("%s: %v, want a *CorruptError", doing, err)
	}
}

// TestDamageBucketInInline makes a pair of an inline bucket a bucket, which the format does not allow there.
func TestDamageBucketInInline(t *testing.T) {
	f := craft(4)
	f.leaf(2, inlineBucket("outer", inlineBucket("inner", leafPair("k", "v"))))
	f.storeFreelist(3)
	db := f.open(t, kv.Options{})
	err := db.Update(func(tx *kv.Tx) error {
		return tx.Bucket([]byte("outer")).Bucket([]byte("inner")).Put([]byte("n"), []byte("new"))
	})
	if err != nil {
		wantDamage(t, "put", err)
		return
	}
	must(t, db.View(func(tx *kv.Tx) error {
		b := tx.Bucket([]byte("outer")).Bucket([]byte("inner"))
		if k, n := b.Get([]byte("k")), b.Get([]byte("n")); string(k) != "v" || string(n) != "new" {
			t.Errorf("the bucket inside has k=%q n=%q", k, n)
		}
		return nil
	}))
}

// TestDamageManyWays has branches that refer to the next one twice, and an empty leaf in the end: there are 2^60 ways to
// go through them, all of which a cursor would have to go to find that there is no element.
func TestDamageManyWays(t *testing.T) {
	f := craft(70)
	f.leaf(2, bucketAt("b", 3))
	for id := uint64(3); id < 63; id++ {
		f.branch(id, childAt("a", id+1), childAt("b", id+1))
	}
	f.leaf(63)
	f.storeFreelist(64)
	db := f.open(t, kv.Options{})
	for name, move := range map[string]func(c *kv.Cursor){
		"first": func(c *kv.Cursor) { c.First() },
		"last":  func(c *kv.Cursor) { c.Last() },
		"seek":  func(c *kv.Cursor) { c.Seek([]byte("a")) },
	} {
		wantDamage(t, name, db.View(func(tx *kv.Tx) error {
			move(tx.Bucket([]byte("b")).Cursor())
			return nil
		}))
		wantDamage(t, name+" in a write transaction", db.Update(func(tx *kv.Tx) error {
			b := tx.Bucket([]byte("b"))
			must(t, b.Put([]byte("a"), nil))
			must(t, b.Delete([]byte("a")))
			move(b.Cursor())
			return nil
		}))
	}
	for name, use := range map[string]func(tx *kv.Tx) error{
		"inspect": func(tx *kv.Tx) error { tx.Inspect(); return nil },
		"stats":   func(tx *kv.Tx) error { tx.Bucket([]byte("b")).Stats(); return nil },
		"check":   checked,
		"delete":  func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("b")) },
	} {
		wantDamage(t, name, db.Update(use))
	}
}

// TestDamageUnevenDepth has a branch and leaves side by side: they must not be merged, and reading notices.
func TestDamageUnevenDepth(t *testing.T) {
	for _, order := range [][]uint64{{4, 5, 8}, {5, 4, 8}, {4, 8, 5}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			f := craft(10)
			f.leaf(2, bucketAt("b", 3))
			f.branch(3, childAt("a", order[0]), childAt("d", order[1]), childAt("g", order[2]))
			for i, id := range order {
				letter := string(rune('a' + 3*i))
				if id == 5 {
					f.branch(5, childAt(letter, 6), childAt(letter+"m", 7))
					f.leaf(6, leafPair(letter+"1", "1"), leafPair(letter+"2", "2"))
					f.leaf(7, leafPair(letter+"m", "3"))
					continue
				}
				f.leaf(id, leafPair(letter+"1", "1"), leafPair(letter+"2", "2"))
			}
			f.storeFreelist(9)
			db := f.open(t, kv.Options{})
			for i := range order {
				key := string(rune('a'+3*i)) + "1"
				err := db.Update(func(tx *kv.Tx) error { return tx.Bucket([]byte("b")).Delete([]byte(key)) })
				if err != nil {
					wantDamage(t, "delete", err)
				}
			}
			err := db.View(func(tx *kv.Tx) error {
				for k := range tx.Bucket([]byte("b")).All() {
					if v := tx.Bucket([]byte("b")).Get(k); v == nil {
						t.Errorf("%q is not found", k)
					}
				}
				return nil
			})
			wantDamage(t, "reading", err) // what is found before it is true
			wantDamage(t, "check", db.View(checked))
		})
	}
}

// TestDamageOverflow has a page claim the one behind it, which belongs to another bucket: writing to the one must not
// free the page of the other.
func TestDamageOverflow(t *testing.T) {
	for _, claims := range []uint32{1, 2} {
		f := craft(8)
		f.leaf(2, bucketAt("keep", 4), bucketAt("long", 3))
		f.leaf(3, leafPair("k", "v"))
		f.leaf(4, leafPair("kept", "value"))
		f.page(3).PutHeader(3, page.Leaf, 1, claims)
		f.storeFreelist(7)
		db := f.open(t, kv.Options{})
		for i := range 10 {
			err := db.Update(func(tx *kv.Tx) error {
				return tx.Bucket([]byte("long")).Put(numbered(i), filler(i, 100))
			})
			if err != nil {
				wantDamage(t, "put", err)
			}
		}
		err := db.View(func(tx *kv.Tx) error {
			if v := tx.Bucket([]byte("keep")).Get([]byte("kept")); string(v) != "value" {
				t.Errorf("claiming %d pages: the value in another bucket is now %q", claims, v)
			}
			return nil
		})
		if err != nil {
			t.Errorf("claiming %d pages: reading another bucket: %v", claims, err)
		}
	}
}

// TestDamageFreeInUse has the free list name pages that are in use. Where a write transaction comes upon them it must
// notice.
func TestDamageFreeInUse(t *testing.T) {
	f := craft(8)
	f.leaf(2, bucketAt("a", 3), bucketAt("b", 4))
	f.leaf(3, leafPair("k", "v"))
	f.leaf(4, leafPair("k", "v"))
	f.storeFreelist(7, 3, 5, 6)
	db := f.open(t, kv.Options{})
	wantDamage(t, "put", db.Update(func(tx *kv.Tx) error { return tx.Bucket([]byte("a")).Put([]byte("k"), nil) }))
	wantDamage(t, "delete", db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("a")) }))
}

// TestDamageLastTransaction has the number of the last transaction be the highest there is: the one after it would seem
// older than all others.
func TestDamageLastTransaction(t *testing.T) {
	f := craft(4)
	f.leaf(2, inlineBucket("b", leafPair("k", "v")))
	f.storeFreelist(3)
	m := page.MetaOf(f.page(1))
	m.SetTxID(math.MaxUint64)
	m.Seal()
	disk := memoryWith(t, f)
	db := mustOpenSim(t, disk, kv.Options{})
	err := db.Update(func(tx *kv.Tx) error { return tx.Bucket([]byte("b")).Put([]byte("k"), []byte("new")) })
	must(t, db.Close())
	if err != nil {
		return
	}
	db = mustOpenSim(t, disk, kv.Options{})
	must(t, db.View(func(tx *kv.Tx) error {
		if v := tx.Bucket([]byte("b")).Get([]byte("k")); string(v) != "new" {
			t.Errorf("a committed value is gone; there is %q", v)
		}
		return nil
	}))
	must(t, db.Close())
}

// TestDamageMemory has files that claim to be large. Nothing may take memory on their word.
func TestDamageMemory(t *testing.T) {
	const limit = 64 << 20
	claims := map[string]func(f crafted){
		"overflow": func(f crafted) { f.page(3).PutHeader(3, page.Leaf, 1, math.MaxUint32) },
		"count":    func(f crafted) { f.page(3).PutHeader(3, page.Leaf, math.MaxUint16, 0) },
		"value":    func(f crafted) { f.page(3).PutLeafElem(0, 0, 32, 1, math.MaxUint32) },
		"key":      func(f crafted) { f.page(3).PutLeafElem(0, 0, 32, math.MaxUint32, 1) },
		"free list": func(f crafted) {
			f.page(7).PutFreelistCount(7, math.MaxInt32, 0)
		},
		"free list's overflow": func(f crafted) { f.page(7).PutHeader(7, page.Freelist, 1, math.MaxUint32) },
		"HWM": func(f crafted) {
			for id := range uint64(2) {
				m := page.MetaOf(f.page(id))
				m.SetHWM(1 << 40)
				m.Seal()
			}
		},
		"page size": func(f crafted) {
			for id := range uint64(2) {
				m := page.MetaOf(f.page(id))
				m.SetPageSize(1 << 31)
				m.Seal()
			}
		},
	}
	for name, claim := range claims {
		f := craft(8)
		f.leaf(2, bucketAt("b", 3))
		f.leaf(3, leafPair("k", "v"))
		f.storeFreelist(7)
		claim(f)
		for _, readOnly := range []bool{true, false} {
			disk := memoryWith(t, f)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if db, err := openSim(disk, kv.Options{ReadOnly: readOnly}); err == nil {
				p := &patient{T: t, what: name, db: db, says: &oracle{err: errNoMeta}}
				for _, read := range readings {
					p.corrupt("reading", db.View(read))
				}
				_ = db.View(checked)
				if !readOnly {
					p.write()
				}
				must(t, db.Close())
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > limit {
				t.Errorf("%s: a file of %d bytes made it allocate %d", name, len(f), took)
			}
		}
	}
}

// TestDamageNoEntry has a bucket whose name can be found at first, but no longer once the keys beside it have changed,
// since they are not in order.
func TestDamageNoEntry(t *testing.T) {
	names := []string{"a", "m", "c", "d", "z"} // m is out of order; c can be found among five, but not always
	var elems []craftedElem
	for _, name := range names {
		elems = append(elems, inlineBucket(name, leafPair("k", "v")))
	}
	f := craft(4)
	f.leaf(2, elems...)
	f.storeFreelist(3)
	for extra := range 6 {
		db := f.open(t, kv.Options{})
		err := db.Update(func(tx *kv.Tx) error {
			for _, name := range names {
				if b := tx.Bucket([]byte(name)); b != nil {
					must(t, b.Put([]byte("k"), []byte("new")))
				}
			}
			for i := range extra {
				if _, err := tx.CreateBucketIfNotExists(fmt.Appendf(nil, "%c%d", 'a'+i*3, i)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			wantDamage(t, "update", err)
		}
		must(t, db.View(func(tx *kv.Tx) error {
			contentOf(tx)
			return nil
		}))
	}
	if !bytes.Contains(f, []byte("v")) {
		t.Error("the crafted file is empty")
	}
}

// TestDamageNoCommit meets damage in one bucket after a change to another: the change must not be kept, whatever becomes
// of the panic.
func TestDamageNoCommit(t *testing.T) {
	f := craft(6)
	f.leaf(2, bucketAt("bad", 4), bucketAt("good", 3))
	f.leaf(3, leafPair("k", "v"))
	f.leaf(4, leafPair("k", "v"))
	f.page(4).SetID(77)
	f.storeFreelist(5)
	change := func(tx *kv.Tx) {
		must(t, tx.Bucket([]byte("good")).Put([]byte("k"), []byte("changed")))
		tx.Bucket([]byte("bad")).Get([]byte("k"))
		t.Error("no damage was met")
	}
	swallow := func(tx *kv.Tx) {
		defer func() {
			var damage *kv.CorruptError
			if r := recover(); !errors.As(asError(r), &damage) || !errors.Is(tx.Err(), damage) || damage.Page != 4 {
				t.Errorf("panic with %v, Err is %v", r, tx.Err())
			}
		}()
		change(tx)
	}
	for name, use := range map[string]func(db *kv.DB) error{
		"update": func(db *kv.DB) error {
			return db.Update(func(tx *kv.Tx) error { change(tx); return nil })
		},
		"update that goes on": func(db *kv.DB) error {
			return db.Update(func(tx *kv.Tx) error { swallow(tx); return nil })
		},
		"batch": func(db *kv.DB) error {
			return db.Batch(func(tx *kv.Tx) error { change(tx); return nil })
		},
		"manual": func(db *kv.DB) error {
			tx, err := db.Begin(true)
			must(t, err)
			swallow(tx)
			return tx.Commit()
		},
	} {
		t.Run(name, func(t *testing.T) {
			disk := memoryWith(t, f)
			db := mustOpenSim(t, disk, kv.Options{})
			wantDamage(t, name, use(db))
			for range 2 {
				must(t, db.View(func(tx *kv.Tx) error {
					if v := tx.Bucket([]byte("good")).Get([]byte("k")); string(v) != "v" {
						t.Errorf("the value is %q", v)
					}
					return nil
				}))
				must(t, db.Close())
				db = mustOpenSim(t, disk, kv.Options{})
			}
			must(t, db.Update(func(tx *kv.Tx) error {
				return tx.Bucket([]byte("good")).Put([]byte("k"), []byte("changed"))
			}))
			must(t, db.Close())
		})
	}
}

// asError is the value of a panic, if it is an error.
func asError(r any) error {
	err, _ := r.(error)
	return err
}
