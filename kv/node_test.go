// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
	"testing"

	"github.com/holtdb/holt/kv/internal/page"
	"pgregory.net/rapid"
)

// nodeOf makes a leaf node of keys, which ascend.
func nodeOf(w *writer, keys [][]byte) *node {
	n := w.newNode(true)
	for i, key := range keys {
		n.insert(i, false, w.element(key, []byte("value")))
	}
	return n
}

// TestNodeSearch holds the searches of a node against their definitions.
func TestNodeSearch(t *testing.T) {
	some := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 'a', 0xff}), 1, 10)
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(some, 1, 50).Draw(t, "keys")
		slices.SortFunc(keys, bytes.Compare)
		keys = slices.CompactFunc(keys, bytes.Equal)
		w := newWriter(4096)
		n := nodeOf(w, keys)
		want := some.Draw(t, "wanted")

		first := sort.Search(len(keys), func(i int) bool { return bytes.Compare(keys[i], want) >= 0 })
		there := first < len(keys) && bytes.Equal(keys[first], want)
		if i, exact := w.search(n, want); i != first || exact != there {
			t.Errorf("search: %d, %t, want %d, %t", i, exact, first, there)
		}
		last := max(sort.Search(len(keys), func(i int) bool { return bytes.Compare(keys[i], want) > 0 })-1, 0)
		search := page.SearchFor(want)
		if i := w.searchChild(n, want, &search); i != last {
			t.Errorf("searchChild: %d, want %d", i, last)
		}
		w.verifyNode(n)
	})
}

func BenchmarkSearchNode(b *testing.B) {
	const n = 128
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b9)
	}
	w := newWriter(4096)
	node := nodeOf(w, keys)
	for i := 0; b.Loop(); i++ {
		if _, exact := w.search(node, keys[i%n]); !exact {
			b.Fatal("not found")
		}
	}
}
