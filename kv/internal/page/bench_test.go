// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"
	"testing"

	"github.com/holtdb/holt/kv/internal/page"
)

// benchKeys are keys as numbers make them, and as texts do that differ late.
var benchKeys = map[string]func(i int) []byte{
	"number": func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b1) },
	"text":   func(i int) []byte { return fmt.Appendf(nil, "/registry/pods/default/%06d", i) },
	"short":  func(i int) []byte { return fmt.Appendf(nil, "%04d", i) },
}

func benchPage(flags uint16, keyOf func(i int) []byte) (page.Page, [][]byte) {
	const n = 72
	var elems []elem
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = keyOf(i)
		elems = append(elems, elem{key: keys[i], value: make([]byte, 32*int(flags/page.Leaf)), child: uint64(i)})
	}
	return build(flags, elems), keys
}

func BenchmarkSearchLeaf(b *testing.B) {
	for name, keyOf := range benchKeys {
		p, keys := benchPage(page.Leaf, keyOf)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, exact := p.SearchLeaf(keys[i*7%len(keys)]); !exact {
					b.Fatal("not found")
				}
			}
		})
	}
}

func BenchmarkSearchBranch(b *testing.B) {
	for name, keyOf := range benchKeys {
		p, keys := benchPage(page.Branch, keyOf)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if n := i * 7 % len(keys); p.SearchBranch(keys[n]) != n {
					b.Fatal("not found")
				}
			}
		})
	}
}

// BenchmarkSearchSimple is what the searches are to be faster than.
func BenchmarkSearchSimple(b *testing.B) {
	for name, keyOf := range benchKeys {
		p, keys := benchPage(page.Leaf, keyOf)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				key := keys[i*7%len(keys)]
				n := sort.Search(p.Count(), func(i int) bool {
					_, k, _, _ := p.LeafElem(i)
					return bytes.Compare(k, key) >= 0
				})
				if n == len(keys) {
					b.Fatal("not found")
				}
			}
		})
	}
}

func BenchmarkMetaSum(b *testing.B) {
	p := page.Page(make([]byte, 1024))
	page.PutMeta(p, page.MetaRecord{PageSize: 1024, Root: 3, Freelist: 2, HWM: 4, TxID: 7})
	m := page.MetaOf(p)
	b.ReportAllocs()
	for b.Loop() {
		if m.Sum() != m.Checksum() {
			b.Fatal("checksum")
		}
	}
}
