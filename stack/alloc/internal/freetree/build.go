// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree

import (
	"cmp"
	"fmt"
	"slices"
)

// Build is a perfectly balanced tree of the blocks, which come in any order and must be disjoint. All of its Images are
// to be written.
func Build(blocks []Block) (*Tree, error) {
	t := New()
	if len(blocks) >= t.limit {
		return nil, ErrFull
	}
	t.nodes = slices.Grow(t.nodes, len(blocks))
	for _, b := range blocks {
		if !plausible(b.Off, b.End()) || b.Size%NodeSize != 0 {
			return nil, misfit(b)
		}
		t.nodes = append(t.nodes, node{Block: b})
	}
	if err := t.buildAddresses(); err != nil {
		return nil, err
	}
	t.root[bySize], _ = t.build(bySize, t.sorted(bySize))
	return t, nil
}

// buildAddresses makes the tree by address, and counts, from all slots of the pool.
func (t *Tree) buildAddresses() error {
	slots := t.sorted(byAddress)
	for k, i := range slots {
		b := t.nodes[i].Block
		if k > 0 && t.nodes[slots[k-1]].End() > b.Off {
			return &DamageError{b.Off, fmt.Sprintf("overlaps the free block %v", t.nodes[slots[k-1]].Block)}
		}
		t.bytes += b.Size
	}
	t.length = int32(len(slots))
	t.root[byAddress], _ = t.build(byAddress, slots)
	return nil
}

// sorted are all slots of the pool in an order.
func (t *Tree) sorted(o order) []int32 {
	slots := make([]int32, len(t.nodes)-1)
	for k := range slots {
		slots[k] = int32(k) + 1
	}
	slices.SortFunc(slots, func(i, j int32) int {
		a, b := &t.nodes[i], &t.nodes[j]
		if o == bySize && a.Size != b.Size {
			return cmp.Compare(a.Size, b.Size)
		}
		return cmp.Compare(a.Off, b.Off)
	})
	return slots
}

// build makes a subtree of the slots. It goes down as many levels as the tree will have.
func (t *Tree) build(o order, slots []int32) (root int32, height uint8) {
	if len(slots) == 0 {
		return 0, 0
	}
	middle := len(slots) / 2
	root = slots[middle]
	l := &t.nodes[root].links[o]
	l.child[left], l.height[left] = t.build(o, slots[:middle])
	l.child[right], l.height[right] = t.build(o, slots[middle+1:])
	return root, l.tall()
}
