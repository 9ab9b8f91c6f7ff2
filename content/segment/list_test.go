// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"strconv"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

// listSizes are those around which the shape of a list changes.
var listSizes = []int{0, 1, 2, 3, 10, 254, 255, 256, 257, 300, 509, 510, 511, 512, 1000, 65025, 65026, 65027, 65281}

// numberedArray stores the texts 0, 1, 2 … as an array.
func (b *builder) numberedArray(n int) segment.RecordID {
	ids := make([]segment.RecordID, n)
	for i := range ids {
		ids[i] = b.value(strconv.AppendInt(nil, int64(i), 10))
	}
	return b.array(ids...)
}

func (b *builder) openArray(n int) segment.List {
	b.t.Helper()
	l, err := b.open(b.numberedArray(n)).List()
	must(b.t, err)
	return l
}

func TestLists(t *testing.T) {
	for _, n := range listSizes {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			l := newBuilder(t).openArray(n)
			if l.Len() != n {
				t.Fatalf("%d entries", l.Len())
			}
			for i := range n {
				r, err := l.Entry(i)
				must(t, err)
				v, err := r.Value()
				must(t, err)
				if text, ok := v.Bytes(); !ok || string(text) != strconv.Itoa(i) {
					t.Fatalf("entry %d is %q", i, text)
				}
				if id, err := l.EntryID(i); err != nil || id != r.ID() {
					t.Fatalf("entry %d has the id %s, want %s: %v", i, id, r.ID(), err)
				}
			}
			for _, i := range []int{-1, n, n + 1, 1 << 30} {
				mustPanic(t, func() { _, _ = l.Entry(i) })
				mustPanic(t, func() { _, _ = l.EntryID(i) })
			}
		})
	}
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f()
}

// TestListOfMost has the greatest list: buckets shared all the way.
func TestListOfMost(t *testing.T) {
	b := newBuilder(t)
	ids := []any{}
	one := b.name("one")
	for range 255 {
		ids = append(ids, one)
	}
	for range 2 {
		next := b.record(segment.RecordBucket, ids...)
		for i := range ids {
			ids[i] = next
		}
	}
	top := b.record(segment.RecordBucket, ids...)
	l, err := b.open(b.record(segment.RecordList, uint32(segment.MaxList), top)).List()
	must(t, err)
	for _, i := range []int{0, 255, 65025, segment.MaxList / 2, segment.MaxList - 1} {
		if r, err := l.Entry(i); err != nil || r.ID() != one {
			t.Errorf("entry %d is %s, want %s: %v", i, r.ID(), one, err)
		}
	}
	for _, n := range []uint32{segment.MaxList + 1, 1 << 31, 1<<32 - 1} {
		if _, err := b.open(b.record(segment.RecordList, n, top)).List(); !isCorrupt(err) {
			t.Errorf("a list of %d: %v", n, err)
		}
	}
}

func TestListsRefused(t *testing.T) {
	b := newBuilder(t)
	text := b.name("text")
	nowhere := segment.RecordID{Segment: b.id, Number: 1 << 20}
	bulk := segment.RecordID{Segment: b.bulk(make([]byte, 5000)), Number: segment.MaxSize - 5000}
	lost := segment.RecordID{Segment: segment.NewDataID()}
	twoLevels := func(second segment.RecordID) segment.RecordID {
		return b.record(segment.RecordBucket, b.list(rep(text, 255)), second)
	}
	for _, tt := range []struct {
		what string
		size uint32
		id   segment.RecordID
		at   int
	}{
		{"no element", 1, nowhere, 0},
		{"no element in a bucket", 2, b.record(segment.RecordBucket, text, nowhere), 1},
		{"no bucket", 2, nowhere, 0},
		{"no second bucket", 300, twoLevels(nowhere), 299},
		{"no single element", 256, twoLevels(nowhere), 255},
		{"no segment", 2, lost, 0},
		{"no segment below", 300, twoLevels(lost), 299},
		{"bulk", 2, bulk, 0},
		{"bulk element", 1, bulk, 0},
	} {
		t.Run(tt.what, func(t *testing.T) {
			l, err := b.open(b.record(segment.RecordList, tt.size, tt.id)).List()
			if err == nil {
				_, err = l.Entry(tt.at)
			}
			if err == nil {
				t.Error("was read")
			}
		})
	}
}

// TestListsCut has lists that pass the end of the segment.
func TestListsCut(t *testing.T) {
	for what, size := range map[string]int{"no id": 4, "a bucket": 4 + 6 + 2} {
		b := newBuilder(t)
		b.records, b.used = nil, 0 // no info: what comes first lies at the end
		id := segment.RecordID{Segment: b.id}
		if size == 4 {
			b.record(segment.RecordList, uint32(2))
		} else {
			b.record(segment.RecordList, uint32(2), id) // itself as a bucket: just enough
			b.record(segment.RecordList, uint32(3), id) // not enough
			id.Number = 1
		}
		b.record(segment.RecordBlock, uint32(0))
		if _, err := b.open(id).List(); !isCorrupt(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func rep(id segment.RecordID, n int) []segment.RecordID {
	ids := make([]segment.RecordID, n)
	for i := range ids {
		ids[i] = id
	}
	return ids
}
