// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/kv/internal/page"
)

// genKey makes keys that have much in common: few letters, zeros among them, and lengths about the eight bytes that
// searches compare as numbers.
var genKey = rapid.Custom(func(t *rapid.T) []byte {
	head := rapid.SampledFrom([]string{"", "a", "aaaaaaa", "aaaaaaaa", "\x00\x00\x00\x00\x00\x00\x00", "\xff\xff\xff\xff\xff\xff\xff\xff"}).Draw(t, "head")
	return append([]byte(head), rapid.SliceOfN(rapid.SampledFrom([]byte{0, 'a', 'b', 0xff}), 0, 4).Draw(t, "tail")...)
})

// sortedKeys makes distinct keys in order.
func sortedKeys(t *rapid.T) [][]byte {
	keys := rapid.SliceOfN(genKey, 0, 40).Draw(t, "keys")
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}

func elemsOf(keys [][]byte) (elems []elem) {
	for i, k := range keys {
		elems = append(elems, elem{key: k, child: uint64(i)})
	}
	return elems
}

func TestSearchLeaf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := sortedKeys(t)
		p := build(page.Leaf, elemsOf(keys))
		for _, key := range append(keys, genKey.Draw(t, "key"), nil) {
			want := sort.Search(len(keys), func(i int) bool { return bytes.Compare(keys[i], key) >= 0 })
			found := want < len(keys) && bytes.Equal(keys[want], key)
			if i, exact := p.SearchLeaf(key); i != want || exact != found {
				t.Fatalf("%q is found at %d, %t; want %d, %t in %q", key, i, exact, want, found, keys)
			}
		}
	})
}

// TestSearchBetween has bounds that all keys of a page, and the wanted one, are in.
func TestSearchBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := sortedKeys(t)
		key := genKey.Draw(t, "key")
		from := rapid.IntRange(0, len(all)).Draw(t, "from")
		to := rapid.IntRange(from, len(all)).Draw(t, "to")
		var lo, hi []byte
		if from < to && bytes.Compare(all[from], key) <= 0 {
			lo = all[from]
		}
		if to < len(all) && bytes.Compare(key, all[to]) < 0 {
			hi = all[to]
		}
		keys := all[from:to]
		want := sort.Search(len(keys), func(i int) bool { return bytes.Compare(keys[i], key) >= 0 })
		found := want < len(keys) && bytes.Equal(keys[want], key)
		s := page.SearchBetween(key, lo, hi)
		if i, exact := s.Leaf(build(page.Leaf, elemsOf(keys))); i != want || exact != found {
			t.Fatalf("%q in [%q, %q) is found at %d, %t; want %d, %t in %q", key, lo, hi, i, exact, want, found, keys)
		}
	})
}

func TestSearchBranch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := sortedKeys(t)
		p := build(page.Branch, elemsOf(keys))
		for _, key := range append(keys, genKey.Draw(t, "key"), nil) {
			above := sort.Search(len(keys), func(i int) bool { return bytes.Compare(keys[i], key) > 0 })
			want := max(above-1, 0)
			if len(keys) == 0 {
				want = -1
			}
			if i := p.SearchBranch(key); i != want {
				t.Fatalf("%q leads to %d; want %d in %q", key, i, want, keys)
			}
		}
	})
}

// TestSearchDamaged has one element lie outside of the page: a search that comes upon it has to say so, and one that
// does not may be right.
func TestSearchDamaged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := sortedKeys(t)
		if len(keys) == 0 {
			t.Skip("nothing to damage")
		}
		leaf, branch := build(page.Leaf, elemsOf(keys)), build(page.Branch, elemsOf(keys))
		bad := rapid.IntRange(0, len(keys)-1).Draw(t, "bad")
		leaf.PutLeafElem(bad, 0, len(leaf), 1, 0)
		branch.PutBranchElem(bad, len(branch), 1, 0)
		if i, exact := leaf.SearchLeaf(keys[bad]); exact {
			t.Fatalf("a damaged element is found at %d", i)
		}
		for n, key := range keys {
			if i, exact := leaf.SearchLeaf(key); i >= 0 && (i != n || !exact) {
				t.Fatalf("with element %d damaged, %d is found at %d, %t", bad, n, i, exact)
			}
			if i := branch.SearchBranch(key); i >= 0 && i != n {
				t.Fatalf("with element %d damaged, %d leads to %d", bad, n, i)
			}
		}
	})
}

func TestPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genKey.Draw(t, "a"), genKey.Draw(t, "b")
		switch p, q := page.Prefix(a), page.Prefix(b); {
		case p < q && bytes.Compare(a, b) >= 0, p > q && bytes.Compare(a, b) <= 0:
			t.Fatalf("%q and %q have the prefixes %x and %x", a, b, p, q)
		}
	})
}

// TestWithin holds the keys of pages against bounds, those of none too.
func TestWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := sortedKeys(t)
		bound := rapid.OneOf(genKey, rapid.Just([]byte(nil)))
		if len(keys) > 0 {
			bound = rapid.OneOf(bound, rapid.SampledFrom(keys))
		}
		lo, hi := bound.Draw(t, "lo"), bound.Draw(t, "hi")
		want := true
		for _, k := range keys {
			want = want && (lo == nil || bytes.Compare(k, lo) >= 0) && (hi == nil || bytes.Compare(k, hi) < 0)
		}
		for _, flags := range []uint16{page.Leaf, page.Branch} {
			if got := build(flags, elemsOf(keys)).Within(lo, hi); got != want {
				t.Fatalf("%s with %q in [%q, %q): %t", page.TypeName(flags), keys, lo, hi, got)
			}
		}
	})
}
