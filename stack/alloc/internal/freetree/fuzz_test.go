// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// FuzzDecode demands that what is decoded is encoded to the same bytes, as far as they do not follow from others.
func FuzzDecode(f *testing.F) {
	for _, b := range seven(f).nodes {
		f.Add(b[:])
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) < freetree.NodeSize {
			t.Skip("not a node")
		}
		b := raw(src)
		m := freetree.Decode(&b, 48)
		var again raw
		m.Encode(&again)
		copy(b[8:10], again[8:10])
		clear(b[12:16])
		if again != b || freetree.Decode(&again, 48) != m {
			t.Errorf("%x became %x", b, again)
		}
	})
}

// FuzzLoad takes bytes for an arena. It is refused, or is a tree that lies there as it was found.
func FuzzLoad(f *testing.F) {
	for _, root := range []int64{nth(4), nth(2), nth(1), 0, 8, -32, sevenEnd} {
		f.Add(root, seven(f).bytes())
		f.Add(root, seven(f).bytes()[:5*unit])
	}
	f.Fuzz(func(t *testing.T, root int64, content []byte) {
		d := &disk{root, map[int64]raw{}}
		for off := int64(0); off+unit <= int64(len(content)); off += unit {
			d.nodes[freetree.Arena+off] = raw(content[off:])
		}
		end := freetree.Arena + int64(len(content))
		blocks, wrong := freetree.Collect(root, end, d.read(t))
		tree, _, err := freetree.Load(root, end, d.read(t))
		for _, err := range []error{wrong, err} {
			if _, ok := errors.AsType[*freetree.DamageError](err); err != nil && !ok {
				t.Fatal(err)
			}
		}
		if err != nil {
			return
		}
		check(t, wrong) // a tree that is sound has no node that is wrong in itself
		sound(t, tree)
		if tree.Root() != root || tree.Len() != len(blocks) {
			t.Errorf("root %d became %d, %d blocks %d", root, tree.Root(), len(blocks), tree.Len())
		}
		for m := range tree.Images() {
			var b raw
			m.Encode(&b)
			if found := d.nodes[m.Off]; [8]byte(b[:8]) != [8]byte(found[:8]) || [16]byte(b[16:]) != [16]byte(found[16:]) {
				t.Errorf("node at %d was %x, is %x", m.Off, found, b)
			}
		}
	})
}

// bytes are the arena of seven.
func (d *disk) bytes() []byte {
	content := make([]byte, sevenEnd-freetree.Arena)
	for off, b := range d.nodes {
		copy(content[off-freetree.Arena:], b[:])
	}
	return content
}

// TestLoadFlipped changes each byte of the tree of seven to a few others: it is refused, or read as it lies there.
func TestLoadFlipped(t *testing.T) {
	for off := range seven(t).nodes {
		for k := range freetree.NodeSize {
			for _, by := range []byte{1, 0x20, 0x80, 0xFF} {
				d := seven(t)
				b := d.nodes[off]
				b[k] ^= by
				d.nodes[off] = b
				tree, stale, err := freetree.Load(d.root, sevenEnd, d.read(t))
				derived := k >= 8 && k < 16
				switch {
				case derived && (err != nil || stale != 1):
					t.Errorf("byte %d of %d: %d stale, %v", k, off, stale, err)
				case err == nil:
					sound(t, tree)
					if size := int64(binary.LittleEndian.Uint64(b[:8])); !has(tree, block{off, size}) {
						t.Errorf("byte %d of %d: no block of %d bytes", k, off, size)
					}
				}
			}
		}
	}
}

func has(tree *freetree.Tree, b block) bool {
	found, ok := tree.Floor(b.Off)
	return ok && found == b
}
