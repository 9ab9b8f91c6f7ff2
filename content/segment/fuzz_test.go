// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

// FuzzParse takes the input for a data segment, and reads all that is reachable from each of its records.
func FuzzParse(f *testing.F) {
	f.Add(unhex(f, firstHex))
	f.Add(unhex(f, secondHex))
	f.Fuzz(func(t *testing.T, data []byte) {
		endure(t, vectorStore(t), parseID(t, secondID), data)
	})
}

// FuzzEdits does the same with a segment of a store that has everything, after changing some of it.
func FuzzEdits(f *testing.F) {
	store, _ := smallStore(f)
	ids := slices.SortedFunc(maps.Keys(store.raw), segment.ID.Compare)
	f.Add(uint8(0), []byte{0x00, 0x80, 0x01, 0x55})
	f.Add(uint8(1), []byte{0x10, 0x00, 0x00, 0xFF, 0x10, 0x02, 0x02, 0x07})
	f.Fuzz(func(t *testing.T, which uint8, edits []byte) {
		id := ids[int(which)%len(ids)]
		data := bytes.Clone(store.raw[id])
		applyEdits(data, edits)
		endure(t, &memStore{raw: maps.Clone(store.raw), parsed: map[segment.ID]*segment.Segment{}}, id, data)
	})
}

// applyEdits makes changes of four bytes each: where (16 bits, so in multiples of 4), how, and with what.
func applyEdits(b, edits []byte) {
	const maxEdits = 32
	for n := 0; len(edits) >= 4 && n < maxEdits; n++ {
		at, how, v := int(binary.BigEndian.Uint16(edits))*4, edits[2], edits[3]
		edits = edits[4:]
		at = (at + int(how>>6)) % (len(b) - 4)
		switch how % 4 {
		case 0:
			b[at] = v
		case 1:
			b[at] ^= v
		case 2: // a record number or size
			binary.BigEndian.PutUint32(b[at:], uint32(v))
		case 3: // a great one
			binary.BigEndian.PutUint32(b[at:], uint32(int32(int8(v))))
		}
	}
}

// endure reads everything of a segment in a store. What is wrong with it shows as an error of the right kind.
func endure(t *testing.T, store *memStore, id segment.ID, data []byte) {
	t.Helper()
	store.raw[id] = data
	s, err := store.Segment(id)
	if err != nil {
		checkDamageError(t, err)
		return
	}
	var r reading
	if err := r.tools(s); err != nil {
		checkDamageError(t, err)
	}
}
