// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/stack/alloc"
)

// goldenFile is what the reference implementation, bstack 0.4.4, has made of the same calls: words of the payload,
// the rest of which is zero.
type goldenFile struct {
	name   string
	open   opener
	run    func(t *testing.T, w *slabs)
	length int64
	words  map[int64]uint64
	layout map[alloc.Kind]int64 // bytes
}

var goldenFiles = []goldenFile{
	{"slab", openSlab, func(t *testing.T, w *slabs) {
		t.Helper()
		rs := w.calls(t, 10, 48, 32, 80, 33, 112, 100, 176, 5, 304)
		w.free(t, rs[0], rs[1])
		w.calls(t, 3, 80)
		w.free(t, rs[2])
		r, err := w.Realloc(rs[3], 40)
		at(t, r, err, 176, 40)
	}, 336, map[int64]uint64{
		24: 0x00020100_4c534c41, 32: 32, 40: 240, 112: 144, 144: 48, 240: 272, 272: 112,
	}, map[alloc.Kind]int64{alloc.Used: 4 * 32, alloc.Free: 5 * 32}},

	{"checked slab", openChecked, func(t *testing.T, w *slabs) {
		t.Helper()
		rs := w.calls(t, 10, 56, 24, 88, 25, 120, 100, 184, 5, 312, 1, 344)
		w.free(t, rs[0], rs[1])
		w.calls(t, 3, 88)
		w.free(t, rs[2])
		r, err := w.Realloc(rs[3], 30)
		at(t, r, err, 184, 30)
	}, 368, map[int64]uint64{
		24: 0x00030100_4b434c41, 32: 32, 40: 240, 80: 1<<63 | 1, 120: 144, 152: 48, 176: 1<<63 | 2, 248: 272, 280: 112,
		304: 1<<63 | 1, 336: 1<<63 | 1,
	}, map[alloc.Kind]int64{alloc.Used: 5 * 32, alloc.Free: 5 * 32}},

	{"segregated", openSeg, func(t *testing.T, w *slabs) {
		t.Helper()
		rs := w.calls(
			t,
			10000,
			312,
			1,
			10328,
			9000,
			10344,
			1,
			19352,
			4600,
			19368,
			1,
			23976,
			300,
			23992,
			4100,
			24312,
			1,
			28424,
		)
		w.free(t, rs[7], rs[4], rs[2], rs[0])
		more := w.calls(t, 4090, 312, 4590, 4424, 8000, 10344)
		w.free(t, rs[6], rs[3])
		r, err := w.Realloc(more[0], 4500)
		at(t, r, err, 19368, 4500)
		w.calls(t, 4089, 312)
	}, 28432, map[int64]uint64{
		24: 0x00010200_47534c41, 40: 19344, 80: 19248, 168: 23984, 216: 18352, 232: 9024, 296: 24304,
		304: 1<<63 | 257, 4416: 1<<63 | 288, 9024: 80, 10304: 1, 10320: 1<<63 | 1, 10336: 1<<63 | 501, 18352: 56, 19248: 6,
		19344: 1, 19352: 10304, 19360: 1<<63 | 288, 23968: 1<<63 | 1, 23984: 20, 24304: 257, 28416: 1<<63 | 1,
	}, map[alloc.Kind]int64{
		alloc.Used: 4112 + 4608 + 16 + 8016 + 4608 + 16 + 16, alloc.Free: 1280 + 16 + 896 + 96 + 16 + 320 + 4112,
	}},
}

// calls allocates regions: pairs of a length and where it has to be.
func (w *slabs) calls(t rapid.TB, pairs ...int64) (rs []alloc.Region) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		r, err := w.Alloc(pairs[i])
		rs = append(rs, at(t, r, err, pairs[i+1], pairs[i]))
	}
	return rs
}

func (g *goldenFile) payload() []byte {
	p := make([]byte, g.length)
	for off, word := range g.words {
		le.PutUint64(p[off:], word)
	}
	return p
}

func TestSlabGoldens(t *testing.T) {
	for _, g := range goldenFiles {
		t.Run(g.name, func(t *testing.T) {
			w := newSlabs(t, g.open)
			g.run(t, w)
			got, err := w.Stack().Peek(0)
			check(t, err)
			same(t, "payload", got, g.payload())
			check(t, w.reopen(t))
			w.untouched(t, "opening and looking", func() {
				w.clean(t)
				g.layoutOf(t, w)
			})
		})
	}
}

// layoutOf compares how many bytes are used and free.
func (g *goldenFile) layoutOf(t *testing.T, w *slabs) {
	t.Helper()
	spans, err := w.Layout()
	check(t, err)
	end, n := int64(0), map[alloc.Kind]int64{}
	for _, sp := range spans {
		if sp.Off != end {
			t.Fatalf("%+v begins where none ends", sp)
		}
		end = sp.Off + sp.Len
		n[sp.Kind] += sp.Len
	}
	for _, kind := range []alloc.Kind{alloc.Used, alloc.Free} {
		if n[kind] != g.layout[kind] {
			t.Errorf("%v: %d bytes, want %d", kind, n[kind], g.layout[kind])
		}
	}
	if end != g.length || n[alloc.Reserved] != 24 || len(w.Repaired()) != 0 {
		t.Errorf("end %d, reserved %d, repaired %q", end, n[alloc.Reserved], w.Repaired())
	}
}
