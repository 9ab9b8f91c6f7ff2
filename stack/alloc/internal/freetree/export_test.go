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

// Breakages are damages to a tree of three blocks at least and with a free slot, by what Check should say.
func Breakages() map[string]func(*Tree) {
	top := func(t *Tree, o order) *node { return &t.nodes[t.root[o]] }
	return map[string]func(*Tree){
		"(1)":                      func(t *Tree) { top(t, bySize).Size += 1 << 20 },
		"(2) [":                    func(t *Tree) { t.nodes[t.outermost(bySize, t.root[bySize], right)].Size += 1 << 30 },
		"(2) order 1":              func(t *Tree) { top(t, byAddress).Off += 1 << 40 },
		"(3) order 0: ":            func(t *Tree) { top(t, bySize).links[bySize].height[left]++ },
		"(3) order 0 is more than": func(t *Tree) { top(t, bySize).links[bySize].child[left] = t.root[bySize] },
		"(4) 9 blocks and 0 free":  func(t *Tree) { t.free = 0 },
		"or a cycle":               func(t *Tree) { t.nodes[t.free].links[bySize].child[left] = t.free },
		"one that is in use":       func(t *Tree) { t.free = t.root[bySize] },
		"leads to a free slot":     func(t *Tree) { *top(t, byAddress) = node{} },
		"slot 0":                   func(t *Tree) { t.nodes[0].Off = 1 },
		"(5)":                      func(t *Tree) { t.bytes++ },
		"(6)":                      func(t *Tree) { top(t, bySize).logged = t.now() },
	}
}
