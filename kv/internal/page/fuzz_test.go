// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"testing"

	"github.com/holtdb/holt/kv/internal/page"
)

// FuzzPage reads arbitrary bytes as a page of each type: no method may panic where it promises not to, and what can be
// read can be written again and reads the same.
func FuzzPage(f *testing.F) {
	f.Add([]byte(build(page.Leaf, []elem{{key: []byte("k"), value: []byte("v")}, {flags: 1, key: []byte("l")}})), []byte("k"))
	f.Add([]byte(build(page.Branch, []elem{{key: []byte("k"), child: 7}, {key: []byte("l"), child: 8}})), []byte("l"))
	f.Add(bytes.Repeat([]byte{0xff}, 200), []byte("m"))
	f.Fuzz(func(t *testing.T, b, key []byte) {
		if len(b) < page.HeaderSize || len(b) > 1<<14 {
			return
		}
		p := page.Page(b)
		fuzzMeta(t, p)
		if _, ok := p.FreelistIDs(); ok && p.Count() < page.MaxCount && len(p) < page.HeaderSize+8*p.Count() {
			t.Errorf("a free list of %d ids is read from %d bytes", p.Count(), len(p))
		}
		_ = page.TypeName(p.Flags())
		if _, _, inline, ok := page.BucketValue(b); ok && inline != nil {
			fuzzElements(t, inline, key)
		}
		if p.TableFits() {
			fuzzElements(t, p, key)
		}
	})
}

// fuzzElements reads the elements of a page whose table fits.
func fuzzElements(t *testing.T, p page.Page, key []byte) {
	if i, exact := p.SearchLeaf(key); exact {
		if _, k, _, ok := p.LeafElem(i); ok && !bytes.Equal(k, key) {
			t.Errorf("search for %q in a leaf finds %q", key, k)
		}
	} else if i < -1 || i > p.Count() {
		t.Errorf("search in a leaf of %d finds %d", p.Count(), i)
	}
	if i := p.SearchBranch(key); i < -1 || i >= p.Count() {
		t.Errorf("search in a branch of %d finds %d", p.Count(), i)
	}
	var leaf, branch []elem
	for i := range p.Count() {
		if flags, k, v, ok := p.LeafElem(i); ok {
			leaf = append(leaf, elem{flags: flags, key: k, value: v})
			if _, off, ksize, vsize, ok := p.LeafSpan(i); !ok || !bytes.Equal(p[off:off+uint64(ksize)+uint64(vsize)], append(k, v...)) {
				t.Errorf("LeafSpan and LeafElem of %d differ", i)
			}
		}
		if k, ok := p.BranchKey(i); ok {
			branch = append(branch, elem{key: k, child: p.Child(i)})
		}
	}
	const enough = 1 << 10 // elements may overlap: all of them together can be much larger than the page
	again := build(page.Leaf, leaf[:min(len(leaf), enough)])
	for i, want := range leaf[:min(len(leaf), enough)] {
		flags, k, v, ok := again.LeafElem(i)
		if !ok || flags != want.flags || !bytes.Equal(k, want.key) || !bytes.Equal(v, want.value) {
			t.Errorf("element %d of a leaf, written again, reads %x %q %q %t", i, flags, k, v, ok)
		}
	}
	again = build(page.Branch, branch[:min(len(branch), enough)])
	for i, want := range branch[:min(len(branch), enough)] {
		if k, ok := again.BranchKey(i); !ok || !bytes.Equal(k, want.key) || again.Child(i) != want.child {
			t.Errorf("element %d of a branch, written again, reads %q %d %t", i, k, again.Child(i), ok)
		}
	}
}

// fuzzMeta reads a meta, and writes one with the same fields.
func fuzzMeta(t *testing.T, p page.Page) {
	if len(p) < page.HeaderSize+page.MetaSize {
		return
	}
	m := page.MetaOf(p)
	again := page.Page(make([]byte, len(p)))
	page.PutMeta(again, m.Record())
	if n := page.MetaOf(again); n.Record() != m.Record() || n.Validate() != nil {
		t.Errorf("meta %+v, written again, reads %+v, %v", m.Record(), n.Record(), n.Validate())
	} else if m.Validate() == nil && m.Flags() == 0 && *n != *m {
		t.Errorf("meta %x, written again, is %x", *m, *n)
	}
}
