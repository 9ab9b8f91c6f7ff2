// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holtdb/holt/kv"
)

// fillBucket does something to a bucket.
type fillBucket func(t *testing.T, b *kv.Bucket)

func putAll(pairs ...string) fillBucket {
	return func(t *testing.T, b *kv.Bucket) {
		for _, p := range pairs {
			k, v, _ := strings.Cut(p, "=")
			must(t, b.Put([]byte(k), []byte(v)))
		}
	}
}

func inChild(name string, fill fillBucket) fillBucket {
	return func(t *testing.T, b *kv.Bucket) {
		child, err := b.CreateBucketIfNotExists([]byte(name))
		must(t, err)
		fill(t, child)
	}
}

// putMany makes a bucket too large to be kept inside its parent.
func putMany(t *testing.T, b *kv.Bucket) {
	for i := range 200 {
		must(t, b.Put(numbered(i), []byte("v")))
	}
}

func deleteAll(t *testing.T, b *kv.Bucket) {
	for _, k := range keysOf(b) {
		must(t, b.Delete([]byte(k)))
	}
}

func inTurn(fills ...fillBucket) fillBucket {
	return func(t *testing.T, b *kv.Bucket) {
		for _, fill := range fills {
			fill(t, b)
		}
	}
}

func setSequence(n uint64) fillBucket {
	return func(t *testing.T, b *kv.Bucket) { must(t, b.SetSequence(n)) }
}

func deleteBucket(name string) fillBucket {
	return func(t *testing.T, b *kv.Bucket) { must(t, b.DeleteBucket([]byte(name))) }
}

// outline writes down a bucket: pairs, buckets, sequence. Numbered keys are only counted.
func outline(b *kv.Bucket) string {
	var parts []string
	many := 0
	for k, v := range b.All() {
		child := b.Bucket(k)
		switch {
		case child != nil:
			parts = append(parts, string(k)+"{"+outline(child)+"}")
		case len(k) == len(numbered(0)):
			many++
		default:
			parts = append(parts, string(k)+"="+string(v))
		}
	}
	if many > 0 {
		parts = append(parts, strconv.Itoa(many)+" more")
	}
	if b.Sequence() > 0 {
		parts = append(parts, fmt.Sprintf("seq %d", b.Sequence()))
	}
	return strings.Join(parts, " ")
}

// movedBuckets are what is done to a bucket that is moved.
var movedBuckets = map[string]struct {
	before fillBucket // in a transaction of its own; without it the bucket is made in the one that moves it
	change fillBucket // in the transaction of the move, before it
	after  fillBucket // in the same, by the handle found at the new place
	want   string     // its outline
}{
	"unchanged":                 {before: putAll("a=1"), want: "a=1"},
	"created, filled":           {change: putAll("a=1", "b=2"), want: "a=1 b=2"},
	"created, filled with many": {change: putMany, want: "200 more"},
	"put":                       {before: putAll("a=1"), change: putAll("b=2"), want: "a=1 b=2"},
	"put into many":             {before: putMany, change: putAll("b=2"), want: "b=2 200 more"},
	"put many":                  {before: putAll("a=1"), change: putMany, want: "a=1 200 more"},
	"overwritten":               {before: putAll("a=1"), change: putAll("a=2"), want: "a=2"},
	"put afterwards":            {before: putAll("a=1"), after: putAll("b=2"), want: "a=1 b=2"},
	"put both before and afterwards": {
		before: putAll("a=1"), change: putAll("b=2"), after: putAll("c=3"), want: "a=1 b=2 c=3",
	},
	"child made": {before: putAll("a=1"), change: inChild("x", putAll("y=2")), want: "a=1 x{y=2}"},
	"child changed": {
		before: inChild("x", putMany), change: inChild("x", putAll("y=2")), want: "x{y=2 200 more}",
	},
	"child of a child changed": {
		before: inChild("x", inChild("y", putMany)), change: inChild("x", inChild("y", putAll("z=3"))),
		want: "x{y{z=3 200 more}}",
	},
	"inline child of a child changed": {
		before: inChild("x", inChild("y", putAll("z=1"))), change: inChild("x", inChild("y", putAll("z=3"))),
		want: "x{y{z=3}}",
	},
	"child of a child put afterwards": {
		before: inChild("x", inChild("y", putAll("z=1"))), after: inChild("x", inChild("y", putAll("z=3"))),
		want: "x{y{z=3}}",
	},
	"deleted from, down to none": {before: putMany, change: deleteAll, want: ""},
	"deleted from, down to few":  {before: putMany, change: inTurn(deleteAll, putAll("a=1")), want: "a=1"},
	"sequence set":               {before: putAll("a=1"), change: setSequence(7), want: "a=1 seq 7"},
	"sequence of many set":       {before: putMany, change: setSequence(7), want: "200 more seq 7"},
	"child deleted":              {before: inChild("x", putMany), change: deleteBucket("x"), want: ""},
}

// TestReportMovedBucketKeepsChanges is bbolt #1239: what a transaction had changed in a bucket was lost when the same
// transaction moved it.
func TestReportMovedBucketKeepsChanges(t *testing.T) {
	for name, m := range movedBuckets {
		for _, to := range []string{"sibling", "top level", "and back"} {
			t.Run(name+", "+to, func(t *testing.T) {
				db, _ := openMemory(t, &kv.Options{PageSize: 1024})
				must(t, db.Update(func(tx *kv.Tx) error {
					src := mustCreate(t, tx, "src")
					mustCreate(t, tx, "dst")
					if m.before != nil {
						inChild("moved", m.before)(t, src)
					}
					return nil
				}))
				must(t, db.Update(func(tx *kv.Tx) error {
					if m.change != nil {
						inChild("moved", m.change)(t, tx.Bucket([]byte("src")))
					}
					moved := moveTo(t, tx, to)
					if m.after != nil {
						m.after(t, moved)
					}
					if got := outline(moved); got != m.want {
						t.Errorf("before the commit the moved bucket has %q, want %q", got, m.want)
					}
					return nil
				}))
				must(t, db.View(func(tx *kv.Tx) error {
					if got := outline(placeOf(tx, to).Bucket([]byte("moved"))); got != m.want {
						t.Errorf("the moved bucket has %q, want %q", got, m.want)
					}
					if to != "and back" && len(keysOf(tx.Bucket([]byte("src")))) > 0 {
						t.Error("it is at its old place too")
					}
					return nil
				}))
			})
		}
	}
}

// moveTo moves the bucket and returns it as it is found at its new place.
func moveTo(t *testing.T, tx *kv.Tx, to string) *kv.Bucket {
	t.Helper()
	name, src, dst := []byte("moved"), tx.Bucket([]byte("src")), tx.Bucket([]byte("dst"))
	switch to {
	case "sibling":
		must(t, src.MoveBucket(name, dst))
	case "top level":
		must(t, tx.MoveBucket(name, src, nil))
	default:
		must(t, tx.MoveBucket(name, src, dst))
		must(t, tx.MoveBucket(name, dst, src))
	}
	return placeOf(tx, to).Bucket(name)
}

// placeOf is the bucket that is to hold the moved one.
func placeOf(tx *kv.Tx, to string) *kv.Bucket {
	switch to {
	case "sibling":
		return tx.Bucket([]byte("dst"))
	case "top level":
		return tx.Cursor().Bucket()
	}
	return tx.Bucket([]byte("src"))
}

// TestMoveIntoItself demands that a bucket cannot be moved into one that the same transaction has moved into it.
func TestMoveIntoItself(t *testing.T) {
	db, _ := openMemory(t, nil)
	must(t, db.Update(func(tx *kv.Tx) error {
		a, b := mustCreate(t, tx, "a"), mustCreate(t, tx, "b")
		inChild("c", putAll("x=1"))(t, b)
		must(t, tx.MoveBucket([]byte("b"), nil, a))
		for _, dst := range []*kv.Bucket{a, b, b.Bucket([]byte("c"))} {
			wantErr(t, tx.MoveBucket([]byte("a"), nil, dst), kv.ErrSameBuckets)
		}
		if got, want := outline(tx.Cursor().Bucket()), "a{b{c{x=1}}}"; got != want {
			t.Errorf("the database has %q, want %q", got, want)
		}
		return nil
	}))
}

// TestReportNilValueAndBucketDeletion is bolt #547 and bbolt #208: a bucket with a key whose value had been put as nil
// in the same transaction could not be deleted, since the key was taken for a bucket.
func TestReportNilValueAndBucketDeletion(t *testing.T) {
	db, _ := openMemory(t, nil)
	must(t, db.Update(func(tx *kv.Tx) error {
		top := mustCreate(t, tx, "oops")
		must(t, top.Put([]byte("nil"), nil))
		must(t, top.Put([]byte("empty"), []byte{}))
		inChild("below", func(t *testing.T, b *kv.Bucket) { must(t, b.Put([]byte("nil"), nil)) })(t, top)
		must(t, top.ForEachBucket(func(k []byte) error {
			if string(k) != "below" {
				t.Errorf("%q is taken for a bucket", k)
			}
			return nil
		}))
		if b := top.Bucket([]byte("nil")); b != nil {
			t.Error("a key with a nil value opens as a bucket")
		}
		must(t, tx.DeleteBucket([]byte("oops")))
		if keys := keysOf(tx.Cursor().Bucket()); len(keys) != 0 {
			t.Errorf("left: %q", keys)
		}
		return nil
	}))
}

// TestReportHugeValues is bbolt #931 and #1044: values over 256 MiB could be put and not be read again, or not be put.
func TestReportHugeValues(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("such a file does not fit the address space of this machine")
	}
	if testing.Short() {
		t.Skip("writes a file of half a gibibyte")
	}
	const size = 256<<20 + 12345
	value := make([]byte, size)
	for i := 0; i < size; i += 4093 { // enough to notice a value that is out of place
		value[i] = byte(i / 4093)
	}
	db := openTemp(t, nil)
	must(t, db.Update(func(tx *kv.Tx) error {
		b := mustCreate(t, tx, "b")
		putAll("a=before", "c=behind")(t, b)
		return b.Put([]byte("b"), value)
	}))
	must(t, db.View(func(tx *kv.Tx) error {
		b := tx.Bucket([]byte("b"))
		if got := b.Get([]byte("b")); !bytes.Equal(got, value) {
			t.Errorf("got %d bytes, not those that were put", len(got))
		}
		if got := keysOf(b); !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("keys %q", got)
		}
		if got := string(b.Get([]byte("c"))); got != "behind" {
			t.Errorf("the value behind the huge one is %q", got)
		}
		return nil
	}))
	must(t, db.Update(func(tx *kv.Tx) error { return tx.Bucket([]byte("b")).Delete([]byte("b")) }))
}
