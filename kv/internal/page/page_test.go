// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/kv/internal/page"
)

// elem is an element of a leaf, or with a child one of a branch.
type elem struct {
	flags      uint32
	key, value []byte
	child      uint64
}

// build makes a page of elements, packed as they are to be.
func build(flags uint16, elems []elem) page.Page {
	size := page.HeaderSize
	for _, e := range elems {
		size += page.ElemSize + len(e.key) + len(e.value)
	}
	p := page.Page(make([]byte, size))
	p.PutHeader(5, flags, len(elems), 0)
	at := page.HeaderSize + page.ElemSize*len(elems)
	for i, e := range elems {
		if flags == page.Branch {
			p.PutBranchElem(i, at, uint32(len(e.key)), e.child)
		} else {
			p.PutLeafElem(i, e.flags, at, uint32(len(e.key)), uint32(len(e.value)))
		}
		at += copy(p[at:], e.key)
		at += copy(p[at:], e.value)
	}
	return p
}

func TestHeader(t *testing.T) {
	skipBigEndian(t)
	p := page.Page(make([]byte, 16))
	p.PutHeader(0x0102030405060708, page.Freelist, 0xabcd, 0x11223344)
	if want := "0807060504030201" + "1000" + "cdab" + "44332211"; fmt.Sprintf("%x", p) != want {
		t.Errorf("%x, want %s", p, want)
	}
	p.SetID(7)
	if p.ID() != 7 || p.Flags() != page.Freelist || p.Count() != 0xabcd || p.Overflow() != 0x11223344 {
		t.Errorf("after SetID: %x", p)
	}
}

// TestLeafBytes compares an inline leaf with the one that the specification of the format shows.
func TestLeafBytes(t *testing.T) {
	skipBigEndian(t)
	p := build(page.Leaf, []elem{{key: []byte("k1"), value: []byte("v1")}, {key: []byte("k2")}})
	p.SetID(0)
	want := "0000000000000000" + "0200" + "0200" + "00000000" +
		"00000000" + "20000000" + "02000000" + "02000000" +
		"00000000" + "14000000" + "02000000" + "00000000" +
		"6b31" + "7631" + "6b32"
	if fmt.Sprintf("%x", p) != want {
		t.Errorf("have %x\nwant %s", p, want)
	}
}

var genElem = rapid.Custom(func(t *rapid.T) elem {
	bytesOf := rapid.SliceOfN(rapid.Byte(), 0, 40)
	return elem{
		flags: rapid.Uint32().Draw(t, "flags"),
		key:   bytesOf.Draw(t, "key"),
		value: bytesOf.Draw(t, "value"),
		child: rapid.Uint64().Draw(t, "child"),
	}
})

func TestLeafRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		elems := rapid.SliceOfN(genElem, 0, 30).Draw(t, "elements")
		p := build(page.Leaf, elems)
		if p.ID() != 5 || p.Flags() != page.Leaf || p.Count() != len(elems) || !p.TableFits() {
			t.Fatalf("header %x", p[:page.HeaderSize])
		}
		for i, want := range elems {
			flags, key, value, ok := p.LeafElem(i)
			if !ok || flags != want.flags || !bytes.Equal(key, want.key) || !bytes.Equal(value, want.value) {
				t.Fatalf("element %d is %x %q %q %t", i, flags, key, value, ok)
			}
			if cap(key) != len(key) || cap(value) != len(value) {
				t.Fatalf("element %d can be appended to in place", i)
			}
			flags, off, ksize, vsize, ok := p.LeafSpan(i)
			if !ok || flags != want.flags || int(ksize) != len(want.key) || int(vsize) != len(want.value) ||
				!bytes.Equal(p[off:off+uint64(ksize)], want.key) {
				t.Fatalf("element %d lies at %d, %d, %d %t", i, off, ksize, vsize, ok)
			}
			if o, k, v, ok := p.Span(i); o != off || k != ksize || v != vsize || !ok {
				t.Fatalf("the span of element %d is %d, %d, %d, %t", i, o, k, v, ok)
			}
			if key, ok := p.Key(i); !ok || !bytes.Equal(key, want.key) || cap(key) != len(key) {
				t.Fatalf("the key of element %d is %q, %t", i, key, ok)
			}
			if page.LeafFlags(p.Elem(i)) != want.flags {
				t.Fatalf("element %d has flags %x", i, page.LeafFlags(p.Elem(i)))
			}
		}
	})
}

func TestBranchRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		elems := rapid.SliceOfN(genElem, 0, 30).Draw(t, "elements")
		for i := range elems {
			elems[i].value = nil
		}
		p := build(page.Branch, elems)
		for i, want := range elems {
			key, ok := p.BranchKey(i)
			if !ok || !bytes.Equal(key, want.key) || p.Child(i) != want.child || cap(key) != len(key) {
				t.Fatalf("element %d is %q, %d, %t", i, key, p.Child(i), ok)
			}
			off, ksize, ok := p.BranchSpan(i)
			if !ok || !bytes.Equal(p[off:off+uint64(ksize)], want.key) {
				t.Fatalf("element %d lies at %d, %d, %t", i, off, ksize, ok)
			}
			if o, k, v, ok := p.Span(i); o != off || k != ksize || v != 0 || !ok {
				t.Fatalf("the span of element %d is %d, %d, %d, %t", i, o, k, v, ok)
			}
			if again, ok := p.Key(i); !ok || !bytes.Equal(again, key) {
				t.Fatalf("the key of element %d is %q, %t", i, again, ok)
			}
		}
	})
}

// TestElementBounds moves and stretches an element: it is readable as long as it lies in the page.
func TestElementBounds(t *testing.T) {
	const size = 100
	for _, test := range []struct {
		off          int
		ksize, vsize uint32
		ok           bool
	}{
		{32, 0, 0, true},
		{32, 34, 34, true},
		{32, 34, 35, false},
		{32, 68, 0, true},
		{32, 69, 0, false},
		{100, 0, 0, true},
		{101, 0, 0, false},
		{32, 1<<32 - 1, 1, false},
		{32, 1, 1<<32 - 1, false},
		{1<<31 - 1, 1<<32 - 1, 1<<32 - 1, false},
		{16, 0, 84, true}, // onto the element itself: odd, but in the page
	} {
		p := page.Page(make([]byte, size))
		p.PutHeader(5, page.Leaf, 1, 0)
		p.PutLeafElem(0, 0, test.off, test.ksize, test.vsize)
		if _, _, _, ok := p.LeafElem(0); ok != test.ok {
			t.Errorf("leaf %+v: %t", test, ok)
		}
		if _, _, _, _, ok := p.LeafSpan(0); ok != test.ok {
			t.Errorf("span in leaf %+v: %t", test, ok)
		}
		spanned, keyed, within := readable(p)
		if spanned != test.ok || keyed != test.ok || within != test.ok {
			t.Errorf("leaf %+v: %t, %t, %t", test, spanned, keyed, within)
		}
		if test.vsize != 0 {
			continue
		}
		p.PutBranchElem(0, test.off, test.ksize, 1)
		if _, ok := p.BranchKey(0); ok != test.ok {
			t.Errorf("branch %+v: %t", test, ok)
		}
		if _, _, ok := p.BranchSpan(0); ok != test.ok {
			t.Errorf("span in branch %+v: %t", test, ok)
		}
		p.PutHeader(5, page.Branch, 1, 0)
		if spanned, keyed, within := readable(p); spanned != test.ok || keyed != test.ok || within != test.ok {
			t.Errorf("branch %+v: %t, %t, %t", test, spanned, keyed, within)
		}
	}
}

// readable says which methods for both types of pages can read the only element.
func readable(p page.Page) (spanned, keyed, within bool) {
	_, _, _, spanned = p.Span(0)
	_, keyed = p.Key(0)
	return spanned, keyed, p.Within([]byte{}, nil) && p.Within(nil, bytes.Repeat([]byte{0xff}, 200))
}

func TestTableFits(t *testing.T) {
	for count := range 6 {
		p := page.Page(make([]byte, page.HeaderSize+page.ElemSize*3))
		p.PutHeader(5, page.Leaf, count, 0)
		if got := p.TableFits(); got != (count <= 3) {
			t.Errorf("table of %d in a page for 3: %t", count, got)
		}
	}
}

// TestFreelistCount goes over the number of ids at which the header no longer holds it.
func TestFreelistCount(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000, page.MaxCount - 2, page.MaxCount - 1, page.MaxCount, page.MaxCount + 1, 200_000} {
		size := page.FreelistSize(n)
		slots := n
		if n >= page.MaxCount {
			slots++
		}
		if want := page.HeaderSize + 8*slots; size != want {
			t.Errorf("%d ids take %d bytes, want %d", n, size, want)
		}
		p := page.Page(make([]byte, size))
		ids := p.PutFreelistCount(9, n, 3)
		if len(ids) != 8*n {
			t.Fatalf("%d ids have %d bytes", n, len(ids))
		}
		for i := range n {
			binary.NativeEndian.PutUint64(ids[8*i:], uint64(3*i+2))
		}
		if p.ID() != 9 || p.Flags() != page.Freelist || p.Overflow() != 3 || p.Count() != min(n, page.MaxCount) {
			t.Errorf("%d ids: header %x", n, p[:page.HeaderSize])
		}
		read, ok := p.FreelistIDs()
		if !ok || len(read) != 8*n || cap(read) != len(read) {
			t.Fatalf("%d ids read back as %d bytes, %t", n, len(read), ok)
		}
		for i := range n {
			if id := page.FreelistID(read, i); id != uint64(3*i+2) {
				t.Fatalf("id %d of %d is %d", i, n, id)
			}
		}
		if n > 0 {
			if _, ok := p[:size-1].FreelistIDs(); ok {
				t.Errorf("%d ids can be read from a page too short for them", n)
			}
		}
	}
}

// TestFreelistWild claims numbers of ids that no page has.
func TestFreelistWild(t *testing.T) {
	for _, n := range []uint64{9, 1 << 61, 1<<61 + 1, 1 << 63, 1<<64 - 1, 1<<64 - 3} {
		p := page.Page(make([]byte, 24+8*8))
		p.PutHeader(9, page.Freelist, page.MaxCount, 0)
		binary.NativeEndian.PutUint64(p[16:], n)
		if _, ok := p.FreelistIDs(); ok {
			t.Errorf("%d ids can be read from a page with 8", n)
		}
	}
	p := page.Page(make([]byte, page.HeaderSize))
	p.PutHeader(9, page.Freelist, page.MaxCount, 0)
	if _, ok := p.FreelistIDs(); ok {
		t.Error("a count can be read from a page without one")
	}
}

func TestBucketValue(t *testing.T) {
	value := make([]byte, page.BucketHeader)
	page.PutBucketHeader(value, 7, 9)
	if root, seq, inline, ok := page.BucketValue(value); root != 7 || seq != 9 || inline != nil || !ok {
		t.Errorf("%d %d %x %t", root, seq, inline, ok)
	}
	if _, _, _, ok := page.BucketValue(value[:15]); ok {
		t.Error("15 bytes are a bucket")
	}
	page.PutBucketHeader(value, 0, 9)
	leaf := build(page.Leaf, []elem{{key: []byte("k"), value: []byte("v")}})
	value = append(value, leaf...)
	root, seq, inline, ok := page.BucketValue(value)
	if root != 0 || seq != 9 || !bytes.Equal(inline, leaf) || !ok {
		t.Errorf("%d %d %x %t", root, seq, inline, ok)
	}
	for _, n := range []int{16, 31, 32, 47} {
		if _, _, _, ok := page.BucketValue(value[:n]); ok {
			t.Errorf("%d bytes are an inline bucket with an element", n)
		}
	}
}

func TestTypes(t *testing.T) {
	names := map[uint16]string{1: "branch", 2: "leaf", 4: "meta", 16: "freelist", 0: "unknown<00>", 3: "unknown<03>", 0x1234: "unknown<1234>"}
	for flags, want := range names {
		if got := page.TypeName(flags); got != want {
			t.Errorf("%x is called %q, want %q", flags, got, want)
		}
		if got, want := page.ValidFlags(flags), want[0] != 'u'; got != want {
			t.Errorf("%x is valid: %t", flags, got)
		}
	}
}

// TestUnchecked compares what scans use with what checks bounds.
func TestUnchecked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var elems []elem
		buckets := false
		for range rapid.IntRange(1, 20).Draw(t, "elements") {
			e := elem{key: genKey.Draw(t, "key"), value: genKey.Draw(t, "value")}
			if rapid.IntRange(0, 9).Draw(t, "bucket") == 0 {
				e.flags, buckets = page.BucketFlag, true
			}
			elems = append(elems, e)
		}
		p := build(page.Leaf, elems)
		if p.HasBuckets() != buckets {
			t.Fatalf("the page has buckets: %t", !buckets)
		}
		at := uint64(rapid.IntRange(0, 3).Draw(t, "at") * 4)
		data := append(make([]byte, at), p...)
		for i, want := range elems {
			e := page.LeafRecordAt(data, at+uint64(page.HeaderSize+page.ElemSize*i))
			key := e.Bytes(uint64(e.Off), e.KeySize)
			value := e.Bytes(uint64(e.Off)+uint64(e.KeySize), e.ValueSize)
			if e.Flags != want.flags || !bytes.Equal(key, want.key) || !bytes.Equal(value, want.value) || value == nil ||
				cap(key) != len(key) || cap(value) != len(value) {
				t.Fatalf("element %d is %x, %q: %q, want %x, %q: %q", i, e.Flags, key, value, want.flags, want.key, want.value)
			}
		}
		if got := page.At(data, at, uint32(len(p))); !bytes.Equal(got, p) || cap(got) != len(got) {
			t.Fatalf("the page is %x, want %x", got, p)
		}
	})
}

// TestPlain has headers of which one field is wrong, or which need a longer page.
func TestPlain(t *testing.T) {
	p := build(page.Leaf, []elem{{key: []byte("a")}, {key: []byte("b")}})
	header := func(id uint64, flags uint16, count int, overflow uint32) page.Page {
		q := slices.Clone(p)
		q.PutHeader(id, flags, count, overflow)
		return q
	}
	room := (len(p) - page.HeaderSize) / page.ElemSize
	for want, headers := range map[bool][]page.Page{
		true: {header(7, page.Leaf, 2, 0), header(7, page.Branch, 2, 0), header(7, page.Leaf, room, 0)},
		false: {
			header(8, page.Leaf, 2, 0), header(7|1<<32, page.Leaf, 2, 0), header(7, page.Leaf|page.Branch, 2, 0),
			header(7, page.Meta, 2, 0), header(7, 0, 2, 0), header(7, page.Leaf, room+1, 0), header(7, page.Leaf, 2, 1),
		},
	} {
		for _, q := range headers {
			if q.Plain(7) != want {
				t.Errorf("plain: %t with id %d, flags %x, %d elements, %d pages more",
					!want, q.ID(), q.Flags(), q.Count(), q.Overflow())
			}
		}
	}
}
