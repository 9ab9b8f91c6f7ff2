// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree

import (
	"errors"
	"fmt"
)

// Check verifies the invariants of the tree.
func (t *Tree) Check() error {
	return errors.Join(t.checkOrder(bySize), t.checkOrder(byAddress), t.checkPool())
}

// audit is what a walk through one of the orders has come across.
type audit struct {
	t      *Tree
	o      order
	last   Block
	length int
	bytes  int64
}

func (t *Tree) checkOrder(o order) error {
	a := audit{t: t, o: o}
	if _, err := a.walk(t.root[o], 0); err != nil {
		return err
	}
	if a.length != t.Len() || a.bytes != t.bytes {
		return fmt.Errorf("freetree: (5) order %d has %d blocks, %d bytes, not %d and %d",
			o, a.length, a.bytes, t.length, t.bytes)
	}
	return nil
}

// walk checks a subtree from left to right, and returns its height.
func (a *audit) walk(i int32, depth int) (uint8, error) {
	if i == 0 {
		return 0, nil
	}
	if depth == maxDepth {
		return 0, fmt.Errorf("freetree: (3) order %d is more than %d deep", a.o, maxDepth)
	}
	n := &a.t.nodes[i]
	l := &n.links[a.o]
	before, err := a.walk(l.child[left], depth+1)
	if err != nil {
		return 0, err
	}
	if err := a.visit(n.Block); err != nil {
		return 0, err
	}
	after, err := a.walk(l.child[right], depth+1)
	if err != nil {
		return 0, err
	}
	if l.height != [2]uint8{before, after} || !l.balanced() {
		return 0, fmt.Errorf("freetree: (3) order %d: %v has subtrees of heights %d and %d, says %d",
			a.o, n.Block, before, after, l.height)
	}
	return l.tall(), nil
}

func (a *audit) visit(b Block) error {
	first := a.length == 0
	switch {
	case b.Size <= 0 || b.Off <= 0:
		return fmt.Errorf("freetree: (4) order %d leads to a free slot", a.o)
	case !first && !a.o.less(a.last, b):
		return fmt.Errorf("freetree: (%d) order %d: %v comes before %v", 1+a.o, a.o, a.last, b)
	case !first && a.o == byAddress && a.last.End() > b.Off:
		return fmt.Errorf("freetree: (2) %v overlaps %v", a.last, b)
	}
	a.last = b
	a.length++
	a.bytes += b.Size
	return nil
}

// checkPool relies on each order having as many distinct nodes as there are blocks: it is then enough to count the
// rest.
func (t *Tree) checkPool() error {
	free := 0
	for i := t.free; i != 0; i = t.nodes[i].links[bySize].child[left] {
		free++
		if t.nodes[i].Size != 0 || free > len(t.nodes) {
			return errors.New("freetree: (4) the list of free slots has one that is in use, or a cycle")
		}
	}
	if 1+t.Len()+free != len(t.nodes) {
		return fmt.Errorf("freetree: (4) %d blocks and %d free slots in a pool of %d", t.length, free, len(t.nodes))
	}
	for i := range t.nodes {
		if n := &t.nodes[i]; n.logged >= t.now() || n.born > n.logged {
			return fmt.Errorf("freetree: (6) slot %d: timestamps %d, %d at %d", i, n.born, n.logged, t.now())
		}
	}
	if t.nodes[0] != (node{}) {
		return errors.New("freetree: (4) slot 0 is in use")
	}
	return nil
}
