// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree

import "github.com/holtdb/holt/internal/invariant"

// entry is how a node was before a change.
type entry struct {
	at  int32
	was node
}

// Mark is a state of a tree to go back to.
type Mark struct {
	time  int64
	root  int64 // its offset
	slots int
	head  head
}

// now is the timestamp of the next log entry.
func (t *Tree) now() int64 { return t.base + int64(len(t.log)) }

// touch must precede every change of a node.
func (t *Tree) touch(i int32) {
	n := &t.nodes[i]
	if n.logged >= t.since {
		return
	}
	t.log = append(t.log, entry{i, *n})
	n.logged = t.now() - 1
}

// Mark is the state as it is now.
func (t *Tree) Mark() Mark {
	t.since = t.now()
	return Mark{t.since, t.Root(), len(t.nodes), t.head}
}

// Rewind takes back everything since the mark, to the last bit. The mark can be used again, later ones cannot.
func (t *Tree) Rewind(m Mark) {
	for k := len(t.log) - 1; k >= t.index(m); k-- {
		e := &t.log[k]
		t.nodes[e.at] = e.was
	}
	t.log = t.log[:t.index(m)]
	t.nodes = t.nodes[:m.slots]
	t.head = m.head
	t.since = m.time
	t.selfCheck()
}

// Settle forgets how to take back what was done until now. No mark made before can be used any more.
func (t *Tree) Settle() {
	t.base = t.now()
	t.log = t.log[:0]
	t.selfCheck()
}

// index is that of the first log entry since a mark.
func (t *Tree) index(m Mark) int {
	if m.time < t.base || m.time > t.now() {
		panic("freetree: the mark is no longer valid")
	}
	return int(m.time - t.base)
}

// selfCheck leaves out large trees, whose users would not wait for it after each change.
func (t *Tree) selfCheck() {
	if !invariant.Enabled || t.Len() > 1000 {
		return
	}
	if err := t.Check(); err != nil {
		panic(err)
	}
}
