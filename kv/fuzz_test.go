// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"testing"

	"github.com/holtdb/holt/kv/internal/page"
)

// FuzzFile changes bytes of small sound files, makes the checksums of the metas right again, and demands of the result
// what the damage tests demand.
func FuzzFile(f *testing.F) {
	files := damageable(f)
	names := slices.Sorted(maps.Keys(files))
	f.Add(uint8(0), []byte{0x40, 0x04, 0x0a, 0xff})
	f.Add(uint8(1), []byte{0x00, 0x78, 0x00, 0x03, 0x40, 0x20, 0x0c, 0x01})
	f.Fuzz(func(t *testing.T, which uint8, edits []byte) {
		damaged := bytes.Clone(files[names[int(which)%len(names)]])
		applyEdits(damaged, edits)
		endure(t, "fuzzed", damaged)
	})
}

// applyEdits makes changes of four bytes each: where (16 bits), how, and with what.
func applyEdits(b, edits []byte) {
	const maxEdits = 32
	for n := 0; len(edits) >= 4 && n < maxEdits; n++ {
		at, how, v := int(binary.BigEndian.Uint16(edits)), edits[2], edits[3]
		edits = edits[4:]
		at %= len(b) - 8
		switch how % 4 {
		case 0:
			b[at] = v
		case 1:
			b[at] ^= v
		case 2: // a number of eight bytes that may be that of a page
			binary.NativeEndian.PutUint64(b[at&^7:], uint64(v))
		case 3: // one of four bytes
			binary.NativeEndian.PutUint32(b[at&^3:], uint32(int32(int8(v))))
		}
	}
	for id := range 2 {
		m := page.MetaOf(b[id*damagedPageSize:])
		if m.Magic() == page.Magic && m.Version() == page.Version {
			m.SetPageSize(damagedPageSize) // another one makes it another file; see TestDamageMetas
			m.Seal()
		}
	}
}
