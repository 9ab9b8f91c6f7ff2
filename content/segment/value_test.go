// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/holtdb/holt/content/segment"
)

// valueSizes are those around which the form of a value changes.
var valueSizes = []int{
	0, 1, 5, 127, 128, 129, 4095, 4096, 16511, 16512, 16513, 20000, 5 * 4096, 5*4096 + 1,
	segment.MaxSize - 1, segment.MaxSize, segment.MaxSize + 1, 2*segment.MaxSize + 5000, 260 * 4096, 1_100_000,
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}).Read(b)
	return b
}

func TestValues(t *testing.T) {
	b := newBuilder(t)
	for _, n := range valueSizes {
		data := randomBytes(n)
		for how, id := range map[string]segment.RecordID{"string": b.value(data), "binary": b.binary(data)} {
			t.Run(fmt.Sprintf("%s of %d bytes", how, n), func(t *testing.T) {
				v, err := b.open(id).Value()
				must(t, err)
				checkValue(t, v, data)
			})
		}
	}
}

func checkValue(t *testing.T, v segment.Value, data []byte) {
	t.Helper()
	if v.Len() != int64(len(data)) || v.IsExternal() || v.IsLong() != (len(data) >= 16512) {
		t.Errorf("%d bytes, external %t, long %t", v.Len(), v.IsExternal(), v.IsLong())
	}
	if view, ok := v.Bytes(); ok == v.IsLong() || ok && !bytes.Equal(view, data) {
		t.Errorf("view %t of %d bytes", ok, len(view))
	}
	checkReading(t, v, data)
	var w bytes.Buffer
	if n, err := v.WriteTo(&w); n != int64(len(data)) || err != nil || !bytes.Equal(w.Bytes(), data) {
		t.Errorf("wrote %d bytes: %v", n, err)
	}
	have, err := v.AppendTo([]byte("x"), v.Len())
	if err != nil || string(have) != "x"+string(data) {
		t.Errorf("appended %d bytes: %v", len(have), err)
	}
	if text, err := v.Text(v.Len()); err != nil || text != string(segment.AppendText(nil, data)) {
		t.Errorf("text of %d bytes: %v", len(text), err)
	}
	if len(data) == 0 {
		return
	}
	if _, err := v.AppendTo(nil, v.Len()-1); !errors.Is(err, segment.ErrTooLong) {
		t.Errorf("appended more than the limit: %v", err)
	}
	if _, err := v.Text(v.Len() - 1); !errors.Is(err, segment.ErrTooLong) {
		t.Errorf("text beyond the limit: %v", err)
	}
	if _, err := v.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("read in front of the value")
	}
	if n, err := v.ReadAt(make([]byte, 1), v.Len()); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("read %d bytes behind the value: %v", n, err)
	}
	wantErr := errors.New("full")
	if _, err := v.WriteTo(iotest.TruncateWriter(failingWriter{wantErr}, 0)); err != nil {
		t.Errorf("a writer that takes nothing: %v", err)
	}
	if _, err := v.WriteTo(failingWriter{wantErr}); !errors.Is(err, wantErr) {
		t.Errorf("a failing writer: %v", err)
	}
}

// checkReading reads the value in one go, by pieces, and if it is not large in all the ways of iotest.
func checkReading(t *testing.T, v segment.Value, data []byte) {
	t.Helper()
	if len(data) <= 20_000 {
		if err := iotest.TestReader(v.Reader(), data); err != nil {
			t.Error(err)
		}
	}
	if have, err := io.ReadAll(v.Reader()); err != nil || !bytes.Equal(have, data) {
		t.Errorf("read %d bytes: %v", len(have), err)
	}
	for at := 0; at < len(data); at += 1 + len(data)/50 {
		for _, size := range []int{0, 1, 4096, 10_000} {
			p := make([]byte, size)
			n, err := v.ReadAt(p, int64(at))
			if want := data[at:min(at+size, len(data))]; !bytes.Equal(p[:n], want) || (err != nil) != (n < size) {
				t.Fatalf("read %d of %d bytes at %d: %v", n, len(want), at, err)
			}
		}
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// TestValueHeads has the first bytes of values as Oak writes them.
func TestValueHeads(t *testing.T) {
	b := newBuilder(t)
	for _, tt := range []struct {
		id   segment.RecordID
		head string
	}{
		{b.value(nil), "00"},
		{b.value([]byte("hello")), "0568656c6c6f"},
		{b.value(make([]byte, 127)), "7f00"},
		{b.value(make([]byte, 128)), "800000"},
		{b.value(make([]byte, 16511)), "bfff00"},
		{b.value(make([]byte, 16512)), "c000000000000000"},
		{b.binary(make([]byte, 20000)), "c000000000000da0"},
		{b.blobID(strings.Repeat("a", 70)), "e04661"},
		{b.blobID(strings.Repeat("a", 4095)), "efff61"},
		{b.blobID(strings.Repeat("a", 4096)), "f0"},
	} {
		r := b.open(tt.id)
		if have := r.Segment().Bytes()[r.Offset():]; !bytes.HasPrefix(have, unhex(t, tt.head)) {
			t.Errorf("head %x, want %s", have[:8], tt.head)
		}
		if _, err := r.Value(); err != nil {
			t.Errorf("%s: %v", tt.head, err)
		}
	}
}

func TestExternalBinaries(t *testing.T) {
	b := newBuilder(t)
	for _, n := range []int{0, 1, 70, 127, 128, 4095, 4096, 16511, 20000} {
		want := strings.Repeat("i", n)
		v, err := b.open(b.blobID(want)).Value()
		must(t, err)
		if !v.IsExternal() || v.Len() != -1 || v.IsLong() {
			t.Errorf("id of %d bytes: external %t, %d bytes", n, v.IsExternal(), v.Len())
		}
		id, err := v.BlobID()
		must(t, err)
		if have, err := id.Text(int64(n)); err != nil || have != want {
			t.Errorf("id of %d bytes, want %d: %v", len(have), n, err)
		}
		if _, ok := v.Bytes(); ok {
			t.Error("a view of a binary kept outside")
		}
		_, err1 := v.ReadAt(make([]byte, 1), 0)
		_, err2 := v.WriteTo(io.Discard)
		_, err3 := v.AppendTo(nil, 1<<20)
		_, err4 := v.Text(1 << 20)
		_, err5 := io.ReadAll(v.Reader())
		for i, err := range []error{err1, err2, err3, err4, err5} {
			if !errors.Is(err, segment.ErrExternal) {
				t.Errorf("%d: %v", i, err)
			}
		}
	}
	v, err := b.open(b.value([]byte("in line"))).Value()
	must(t, err)
	if _, err := v.BlobID(); err == nil {
		t.Error("the id of a binary that is in line")
	}
}

// TestExternalString has the id of a binary where a string belongs.
func TestExternalString(t *testing.T) {
	b := newBuilder(t)
	tmpl := b.template([]property{{name: "p", typ: segment.TypeString}}, nil)
	n := b.openNode(b.nodeOf(tmpl, b.blobID("id")))
	p, ok, err := n.Property("p")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, err := p.Value(0); !isCorrupt(err) {
		t.Errorf("%v", err)
	}
}

func isCorrupt(err error) bool {
	_, ok := errors.AsType[*segment.CorruptError](err)
	return ok
}

func TestValuesRefused(t *testing.T) {
	b := newBuilder(t)
	text := b.name("text")
	nowhere := segment.RecordID{Segment: b.id, Number: 1 << 20}
	bulk := segment.RecordID{Segment: b.bulk(make([]byte, 5000)), Number: segment.MaxSize - 5000}
	before := segment.RecordID{Segment: bulk.Segment, Number: bulk.Number - 1}
	behind := segment.RecordID{Segment: bulk.Segment, Number: bulk.Number + 4096} // 904 bytes are left
	b.value(make([]byte, 4096))
	blocks := func(last segment.RecordID) segment.RecordID {
		return b.list([]segment.RecordID{bulk, bulk, bulk, bulk, last})
	}
	for what, parts := range map[string][]any{
		"head unknown":          {byte(0xF8)},
		"head unknown, all":     {byte(0xFF)},
		"head, absurdly long":   {uint64(0xDF<<56 | 1<<56 - 1), text},
		"head, more than lists": {uint64(0xC0<<56 | (255*255*255*4096 - 16511)), text},
		"no list":               {uint64(0xC0 << 56), nowhere},
		"no block":              {uint64(0xC0 << 56), blocks(nowhere)},
		"block before":          {uint64(0xC0 << 56), blocks(before)},
		"block behind":          {uint64(0xC0<<56 | 4*4096 + 905 - 16512), blocks(behind)},
		"bulk as list":          {uint64(0xC0 << 56), bulk},
		"no id":                 {byte(0xF0), nowhere},
		"id of an id":           {byte(0xF0), b.blobID("id")},
	} {
		v, err := b.open(b.record(segment.RecordValue, parts...)).Value()
		if early := strings.HasPrefix(what, "head"); early != (err != nil) {
			t.Errorf("%s: the value itself: %v", what, err)
		}
		if err == nil && v.IsExternal() {
			_, err = v.BlobID()
		} else if err == nil {
			_, err = v.WriteTo(io.Discard)
			if _, readErr := io.Copy(io.Discard, v.Reader()); readErr == nil {
				t.Errorf("%s: was read", what)
			}
		}
		if !isCorrupt(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestValuesCut has values that pass the end: the record is the first one of its segment, so lies at the end.
func TestValuesCut(t *testing.T) {
	for _, head := range []string{"05000000", "7f", "8000", "bfff", "c0", "c000000000000000", "e004", "efff", "f0"} {
		data := unhex(t, firstHex)
		end := data[len(data)-4:]
		clear(end)
		copy(end, unhex(t, head)[:min(4, len(head)/2)])
		put32(0x20+5, segment.MaxSize-4)(data)
		s, err := segment.Parse(parseID(t, firstID), data)
		must(t, err)
		r, err := s.Record(0)
		must(t, err)
		if _, err := r.Value(); !isCorrupt(err) {
			t.Errorf("%s: %v", head, err)
		}
	}
}

// TestMixedBlocks has blocks in bulk and data segments by turns, the short one last.
func TestMixedBlocks(t *testing.T) {
	b := newBuilder(t)
	data := randomBytes(9*4096 + 77)
	var blocks []segment.RecordID
	for part := range slices.Chunk(data, 4096) {
		if len(blocks)%2 == 0 {
			blocks = append(blocks, b.record(segment.RecordBlock, part))
		} else {
			blocks = append(blocks, b.bulkBlocks(part)...)
		}
	}
	v, err := b.open(b.record(segment.RecordValue, uint64(0xC0)<<56|uint64(len(data)-16512), b.list(blocks))).Value()
	must(t, err)
	checkValue(t, v, data)
}
