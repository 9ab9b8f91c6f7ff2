// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree

import (
	"reflect"
	"slices"
)

// Arena and RootAt are positions in a payload.
const (
	Arena  = arena
	RootAt = rootAt
)

// SetLimit makes the pool full with so many blocks.
func (t *Tree) SetLimit(blocks int) { t.limit = blocks }

// LoadLimited is Load of so many blocks at most.
func LoadLimited(limit int, root, end int64, read ReadNodes) error {
	return (&loader{t: New(), end: end, limit: limit}).load(root, read)
}

// State is all that a tree must get back by Rewind.
type State struct {
	nodes []node
	head  head
}

func (t *Tree) State() State { return State{slices.Clone(t.nodes), t.head} }

func (s State) Equal(other State) bool { return reflect.DeepEqual(s, other) }

// Breakages break one invariant each, of a tree that has three blocks at least and a free slot.
func Breakages() map[string]func(*Tree) {
	top := func(t *Tree, o order) *node { return &t.nodes[t.root[o]] }
	return map[string]func(*Tree){
		"(1)":      func(t *Tree) { top(t, bySize).Size += 1 << 20 },
		"(2)":      func(t *Tree) { top(t, byAddress).Size += 1 << 30 },
		"(3)":      func(t *Tree) { top(t, bySize).links[bySize].height[left]++ },
		"(4)":      func(t *Tree) { t.free = 0 },
		"(4) loop": func(t *Tree) { t.nodes[t.free].links[bySize].child[left] = t.free },
		"(4) used": func(t *Tree) { t.free = t.root[bySize] },
		"(4) none": func(t *Tree) { t.nodes[0].Off = 1 },
		"(5)":      func(t *Tree) { t.bytes++ },
		"(6)":      func(t *Tree) { top(t, bySize).logged = t.now() },
		"(3) loop": func(t *Tree) { top(t, bySize).links[bySize].child[left] = t.root[bySize] },
	}
}
