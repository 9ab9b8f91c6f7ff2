// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree

import (
	"cmp"
	"slices"
)

// Collect reads all blocks that can be reached from the root of a tree that [Load] refused, ascending by offset and
// each once: for a rebuild. Nodes of zeros, which have been merged into others, are passed over; order, balance and
// overlaps are not looked at. The error is a *DamageError for a node that is wrong in itself.
func Collect(root, end int64, read ReadNodes) ([]Block, error) {
	var blocks []Block
	seen := map[int64]bool{0: true}
	if root != 0 && !plausible(root, end) {
		return nil, misdirected(rootAt, root)
	}
	for level := []int64{root}; len(level) > 0; {
		slices.Sort(level)
		level = slices.DeleteFunc(level, func(off int64) bool {
			known := seen[off]
			seen[off] = true
			return known
		})
		nodes := make([][NodeSize]byte, len(level))
		if err := read(level, nodes); err != nil {
			return nil, err
		}
		var next []int64
		for k, off := range level {
			if nodes[k] == [NodeSize]byte{} {
				continue
			}
			m := Decode(&nodes[k], off)
			if !m.fits(end) {
				return nil, misfit(m.Block)
			}
			blocks = append(blocks, m.Block)
			for _, c := range [...]int64{m.Left, m.Right} {
				if c != 0 && !plausible(c, end) {
					return nil, misdirected(off, c)
				}
				next = append(next, c)
			}
		}
		level = next
	}
	slices.SortFunc(blocks, func(a, b Block) int { return cmp.Compare(a.Off, b.Off) })
	return blocks, nil
}
