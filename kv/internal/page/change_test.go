// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/kv/internal/page"
)

// pair is an element of a leaf.
type pair struct{ key, value []byte }

// leafOf is the leaf page that holds pairs side by side.
func leafOf(id uint64, pairs []pair) page.Page {
	p := make(page.Page, 1024)
	p.PutHeader(id, page.Leaf, len(pairs), 0)
	at := page.HeaderSize + page.ElemSize*len(pairs)
	for i, e := range pairs {
		p.PutLeafElem(i, 0, at, uint32(len(e.key)), uint32(len(e.value)))
		at += copy(p[at:], e.key)
		at += copy(p[at:], e.value)
	}
	return p
}

// TestPutChanged compares a page that is made by changing another with one that is made of its elements.
func TestPutChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := func() []byte { return bytes.Repeat([]byte{'v'}, rapid.IntRange(0, 9).Draw(t, "size")) }
		var pairs []pair
		for i := range rapid.IntRange(1, 12).Draw(t, "elements") {
			pairs = append(pairs, pair{fmt.Appendf(nil, "%02d", i), value()})
		}
		src := leafOf(7, pairs)
		for i := int(src.Used()); i < len(src); i++ {
			src[i] = 0xA5 // is not to be copied
		}
		var changes []page.Change
		var want []pair
		for i := range len(pairs) + 1 {
			for j := range rapid.IntRange(0, 2).Draw(t, "new ones") {
				e := pair{fmt.Appendf(nil, "%02d+%d", i-1, j), value()}
				want = append(want, e)
				changes = append(changes, page.Change{At: i, KeySize: uint32(len(e.key)), Data: slices.Concat(e.key, e.value)})
			}
			if i == len(pairs) {
				break
			}
			e := pairs[i]
			if rapid.Bool().Draw(t, "replace") {
				e.value = value()
				changes = append(changes, page.Change{
					At: i, Replace: true, KeySize: uint32(len(e.key)), Data: slices.Concat(e.key, e.value),
				})
			}
			want = append(want, e)
		}
		got := page.Page(bytes.Repeat([]byte{0x5A}, 1024))
		if !got.PutChanged(9, src, changes) {
			t.Fatalf("%d changes of %d elements do not fit", len(changes), len(pairs))
		}
		if !bytes.Equal(got, leafOf(9, want)) {
			t.Fatalf("%d elements with %d changes are not what they should be", len(pairs), len(changes))
		}
	})
}

// TestPutChangedRefuses has pages that are not as PutChanged needs them.
func TestPutChangedRefuses(t *testing.T) {
	src := leafOf(7, []pair{{[]byte("a"), []byte("1")}, {[]byte("b"), []byte("2")}})
	small := make(page.Page, 60)
	if small.PutChanged(9, src, []page.Change{{At: 1, KeySize: 1, Data: []byte("aa")}}) {
		t.Error("more than there is room for")
	}
	if make(page.Page, 1024).PutChanged(9, src, []page.Change{{At: 1, KeySize: 1, Data: make([]byte, 1024)}}) {
		t.Error("an element larger than the page")
	}
	if make(page.Page, 1024).PutChanged(9, src, []page.Change{{At: 3}}) {
		t.Error("a change behind the end")
	}
	src.PutLeafElem(1, 0, 1000, 100, 0)
	if make(page.Page, 1024).PutChanged(9, src, nil) {
		t.Error("an element that leads out of the page")
	}
}
