// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree

import (
	"cmp"
	"slices"
)

// Collect reads all blocks that can be reached from the root of a tree that [Load] refused, ascending by offset and
// each once: for a rebuild. What cannot be a node is passed over; order, balance and overlaps are not looked at.
func Collect(root, end int64, read ReadNodes) ([]Block, error) {
	var blocks []Block
	seen := map[int64]bool{}
	for level := []int64{root}; len(level) > 0; {
		slices.Sort(level)
		level = slices.DeleteFunc(level, func(off int64) bool {
			known := seen[off] || !plausible(off, end)
			seen[off] = true
			return known
		})
		nodes := make([][NodeSize]byte, len(level))
		if err := read(level, nodes); err != nil {
			return nil, err
		}
		var next []int64
		for k, off := range level {
			m := Decode(&nodes[k], off)
			if !m.fits(end) {
				continue
			}
			blocks = append(blocks, m.Block)
			next = append(next, m.Left, m.Right)
		}
		level = next
	}
	slices.SortFunc(blocks, func(a, b Block) int { return cmp.Compare(a.Off, b.Off) })
	return blocks, nil
}
