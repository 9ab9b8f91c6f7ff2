// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree

import "encoding/binary"

// Positions in a payload.
const (
	NodeSize = 32 // bytes of a node; sizes of blocks are multiples of it
	rootAt   = 40 // where the offset of the root is
	arena    = 48 // where the first block may begin
)

// Image is a node as it lies on the disk, in the first bytes of its block. The children are offsets, 0 for none.
type Image struct {
	Block
	Left, Right             int64
	LeftHeight, RightHeight uint8
}

// Height of the node's subtree; that of a leaf is 1.
func (m Image) Height() uint8 { return 1 + max(m.LeftHeight, m.RightHeight) }

// Balance is by how much the right subtree is the taller one.
func (m Image) Balance() int8 { return int8(m.RightHeight - m.LeftHeight) }

// Encode puts all bytes of the node into dst.
func (m Image) Encode(dst *[NodeSize]byte) {
	le := binary.LittleEndian
	le.PutUint64(dst[0:8], uint64(m.Size))
	dst[8] = uint8(m.Balance())
	dst[9] = m.Height()
	dst[10] = m.LeftHeight
	dst[11] = m.RightHeight
	clear(dst[12:16]) // reserved
	le.PutUint64(dst[16:24], uint64(m.Left))
	le.PutUint64(dst[24:32], uint64(m.Right))
}

// Decode is the inverse of Encode for the node at an offset. Nothing is checked: sizes and offsets may be anything,
// also negative, and the heights are zero in files of old versions.
func Decode(src *[NodeSize]byte, off int64) Image {
	le := binary.LittleEndian
	return Image{
		Block:       Block{off, int64(le.Uint64(src[0:8]))},
		LeftHeight:  src[10],
		RightHeight: src[11],
		Left:        int64(le.Uint64(src[16:24])),
		Right:       int64(le.Uint64(src[24:32])),
	}
}

// derived are those bytes of a node that follow from its subtrees.
func derived(src *[NodeSize]byte) [8]byte { return [8]byte(src[8:16]) }

// plausible says whether a node can lie at off in a payload that is end bytes long.
func plausible(off, end int64) bool {
	return off >= arena && (off-arena)%NodeSize == 0 && off <= end-NodeSize
}

// fits says whether a block in a payload that is end bytes long can have this size.
func (b Block) fits(end int64) bool {
	return b.Size >= NodeSize && b.Size%NodeSize == 0 && b.Size <= end-b.Off
}

// image of the node in a slot.
func (t *Tree) image(i int32) Image {
	n := &t.nodes[i]
	l := &n.links[bySize]
	return Image{
		Block:       n.Block,
		Left:        t.nodes[l.child[left]].Off, // slot 0 has offset 0
		Right:       t.nodes[l.child[right]].Off,
		LeftHeight:  l.height[left],
		RightHeight: l.height[right],
	}
}
