// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/holtdb/holt/kv"
)

// The tests in files called reports_* are after what users of bbolt and its predecessor bolt reported. Each names the
// report, and demands what the user had expected.

// TestReportPrevPastTheStart is bbolt #733 and #734: after Prev had returned nil at the beginning, Next returned nil too.
func TestReportPrevPastTheStart(t *testing.T) {
	for _, n := range []int{1, 3, 500} { // 500 keys take several leaves
		db, _ := openMemory(t, &kv.Options{PageSize: 1024})
		must(t, db.Update(putNumbered("b", n, 8)))
		for _, writable := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d keys, writable %t", n, writable), func(t *testing.T) {
				tx, err := db.Begin(writable)
				must(t, err)
				defer func() { must(t, tx.Rollback()) }()
				b := tx.Bucket([]byte("b"))
				if writable {
					must(t, b.Put(numbered(0), []byte("changed"))) // the first leaf becomes a node
				}
				pastTheStart(t, b.Cursor(), n)
				pastTheEnd(t, b.Cursor(), n)
			})
		}
	}
}

func pastTheStart(t *testing.T, c *kv.Cursor, n int) {
	t.Helper()
	c.First()
	for range 3 {
		if k, v := c.Prev(); k != nil || v != nil {
			t.Fatalf("Prev at the start: %q, %q", k, v)
		}
	}
	k, _ := c.Next()
	if n == 1 {
		if k != nil {
			t.Errorf("Next after that, of one key: %q", k)
		}
		return
	}
	if string(k) != string(numbered(1)) {
		t.Errorf("Next after that: %q, want the second key", k)
	}
}

func pastTheEnd(t *testing.T, c *kv.Cursor, n int) {
	t.Helper()
	c.Last()
	for range 3 {
		if k, v := c.Next(); k != nil || v != nil {
			t.Fatalf("Next at the end: %q, %q", k, v)
		}
	}
	k, _ := c.Prev()
	if n == 1 {
		if k != nil {
			t.Errorf("Prev after that, of one key: %q", k)
		}
		return
	}
	if string(k) != string(numbered(n-2)) {
		t.Errorf("Prev after that: %q, want the last key but one", k)
	}
}

// TestReportLastAfterDeletes is bbolt #95 and #341: once the last leaf had been emptied in the same transaction, Last
// returned nil although there were keys left. The mirror image, First, is bolt #450.
func TestReportLastAfterDeletes(t *testing.T) {
	const n = 400
	for _, committed := range []bool{false, true} {
		t.Run(fmt.Sprintf("committed before %t", committed), func(t *testing.T) {
			db, _ := openMemory(t, &kv.Options{PageSize: 1024})
			fill := putNumbered("b", n, 8)
			if committed {
				must(t, db.Update(fill))
			}
			must(t, db.Update(func(tx *kv.Tx) error {
				if !committed {
					must(t, fill(tx))
				}
				b := tx.Bucket([]byte("b"))
				for first, last := 0, n-1; first < last; first, last = first+1, last-1 {
					must(t, b.Delete(numbered(last)))
					must(t, b.Delete(numbered(first)))
					wantEnds(t, b, first+1, last-1)
				}
				return nil
			}))
		})
	}
}

// wantEnds demands that the keys of a bucket are those from first to last, by asking for the two ends alone. There are
// none if last is below first.
func wantEnds(t *testing.T, b *kv.Bucket, first, last int) {
	t.Helper()
	var wantFirst, wantLast []byte
	if first <= last {
		wantFirst, wantLast = numbered(first), numbered(last)
	}
	c := b.Cursor()
	if k, _ := c.First(); string(k) != string(wantFirst) {
		t.Fatalf("First is %q, want %q", k, wantFirst)
	}
	if k, _ := c.Last(); string(k) != string(wantLast) {
		t.Fatalf("Last is %q, want %q", k, wantLast)
	}
	if k, _ := c.Seek([]byte("0")); string(k) != string(wantFirst) {
		t.Fatalf("Seek to the front is %q, want %q", k, wantFirst)
	}
	if k, _ := c.SeekForPrev([]byte("9")); string(k) != string(wantLast) {
		t.Fatalf("SeekForPrev to the end is %q, want %q", k, wantLast)
	}
}

// TestReportKeysSkippedAfterDeletes is bolt #450 and #452: ForEach and Seek stopped at a leaf that deletes of the same
// transaction had emptied.
func TestReportKeysSkippedAfterDeletes(t *testing.T) {
	const n = 400
	for name, gone := range map[string]func(i int) bool{
		"at the front":       func(i int) bool { return i < 150 },
		"in the middle":      func(i int) bool { return i >= 100 && i < 300 },
		"at the end":         func(i int) bool { return i >= 250 },
		"all but one":        func(i int) bool { return i != 199 },
		"all but both ends":  func(i int) bool { return i != 0 && i != n-1 },
		"all":                func(int) bool { return true },
		"every other stripe": func(i int) bool { return i/60%2 == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := openMemory(t, &kv.Options{PageSize: 1024})
			must(t, db.Update(putNumbered("b", n, 8)))
			must(t, db.Update(func(tx *kv.Tx) error {
				b := tx.Bucket([]byte("b"))
				var left []string
				for i := range n {
					if gone(i) {
						must(t, b.Delete(numbered(i)))
					} else {
						left = append(left, string(numbered(i)))
					}
				}
				wantKeys(t, b, left)
				for i := range n {
					wantSeek(t, b.Cursor(), i, left)
				}
				return nil
			}))
		})
	}
}

// wantKeys demands that every way to walk over a bucket meets the keys, which ascend.
func wantKeys(t *testing.T, b *kv.Bucket, want []string) {
	t.Helper()
	var forEach, all, backward []string
	must(t, b.ForEach(func(k, _ []byte) error {
		forEach = append(forEach, string(k))
		return nil
	}))
	for k := range b.All() {
		all = append(all, string(k))
	}
	for k := range b.Backward() {
		backward = append(backward, string(k))
	}
	slices.Reverse(backward)
	for name, got := range map[string][]string{
		"a cursor": keysOf(b), "ForEach": forEach, "All": all, "Backward": backward,
	} {
		if !slices.Equal(got, want) {
			t.Errorf("%s met %d keys, want %d:\ngot  %q\nwant %q", name, len(got), len(want), got, want)
		}
	}
}

// wantSeek demands that Seek to the i-th key finds the first of those left that is not below it.
func wantSeek(t *testing.T, c *kv.Cursor, i int, left []string) {
	t.Helper()
	at, _ := slices.BinarySearch(left, string(numbered(i)))
	var want string
	if at < len(left) {
		want = left[at]
	}
	if k, _ := c.Seek(numbered(i)); string(k) != want {
		t.Errorf("Seek(%q) is %q, want %q", numbered(i), k, want)
	}
}

// TestReportKeysSkippedWhileDeleting is bolt #620 and #357, and bbolt #146: a loop of Delete and Next left every other
// key when the leaf had been changed before in the same transaction.
func TestReportKeysSkippedWhileDeleting(t *testing.T) {
	const n = 300
	starts := map[string]func(c *kv.Cursor) []byte{
		"First": func(c *kv.Cursor) []byte { k, _ := c.First(); return k },
		"Seek":  func(c *kv.Cursor) []byte { k, _ := c.Seek(numbered(0)); return k },
	}
	deletes := map[string]func(c *kv.Cursor, k []byte) error{
		"Cursor.Delete": func(c *kv.Cursor, _ []byte) error { return c.Delete() },
		"Bucket.Delete": func(c *kv.Cursor, k []byte) error { return c.Bucket().Delete(k) },
	}
	for _, state := range []string{"new", "one put", "all put", "untouched"} {
		for start, first := range starts {
			for what, del := range deletes {
				t.Run(fmt.Sprintf("%s, %s, %s", state, start, what), func(t *testing.T) {
					db, _ := openMemory(t, &kv.Options{PageSize: 1024})
					fill := putNumbered("b", n, 8)
					if state != "new" {
						must(t, db.Update(fill))
					}
					must(t, db.Update(func(tx *kv.Tx) error {
						switch state {
						case "new", "all put":
							must(t, fill(tx))
						case "one put":
							must(t, tx.Bucket([]byte("b")).Put(numbered(n/2), nil))
						}
						b := tx.Bucket([]byte("b"))
						c, visited := b.Cursor(), 0
						for k := first(c); k != nil; k, _ = c.Next() {
							if string(k) != string(numbered(visited)) {
								t.Fatalf("met %q, want %q", k, numbered(visited))
							}
							must(t, del(c, k))
							visited++
						}
						if left := keysOf(b); visited != n || len(left) != 0 {
							t.Errorf("visited %d of %d, left %q", visited, n, left)
						}
						return nil
					}))
				})
			}
		}
	}
}
