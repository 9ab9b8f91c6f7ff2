// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree

import "slices"

// Changes are the nodes that have to be written to make the tree on the disk, as it was at the mark, that of now:
// ascending by offset, each once. Blocks that were put in since are always among them, blocks that are gone never. The
// slice is valid until the next call.
func (t *Tree) Changes(m Mark) []Image {
	t.changes = t.changes[:0]
	for k := t.index(m); k < len(t.log); k++ {
		if e := &t.log[k]; t.changed(e, m) {
			t.changes = append(t.changes, t.image(e.at))
		}
	}
	slices.SortFunc(t.changes, ascending)
	return t.changes
}

// LowestChange is the offset of the first of Changes.
func (t *Tree) LowestChange(m Mark) (off int64, ok bool) {
	for k := t.index(m); k < len(t.log); k++ {
		if e := &t.log[k]; t.changed(e, m) && (!ok || t.nodes[e.at].Off < off) {
			off, ok = t.nodes[e.at].Off, true
		}
	}
	return off, ok
}

// RootChanged says whether the offset of the root is another than at the mark.
func (t *Tree) RootChanged(m Mark) bool { return t.Root() != m.root }

// changed says whether this is the first entry of a node since the mark, and its image has to be written.
func (t *Tree) changed(e *entry, m Mark) bool {
	n := &t.nodes[e.at]
	if e.was.logged >= m.time || n.Size == 0 {
		return false
	}
	l := &n.links[bySize]
	return n.born >= m.time || n.Size != e.was.Size || *l != e.was.links[bySize] ||
		t.nodes[l.child[left]].born >= m.time || t.nodes[l.child[right]].born >= m.time
}

func ascending(a, b Image) int {
	if a.Off < b.Off {
		return -1
	}
	return 1 // no two are equal
}
