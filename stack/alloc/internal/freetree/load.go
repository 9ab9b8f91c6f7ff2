// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree

import (
	"cmp"
	"fmt"
	"slices"
)

// depthGuard is how deep a tree may be in the format. One that is deeper than maxDepth cannot be balanced, but that is
// found out from below.
const depthGuard = 128

// ReadNodes reads the nodes at offs, which are in range and ascend, into as many elements of dst.
type ReadNodes func(offs []int64, dst [][NodeSize]byte) error

// DamageError reports a tree that no complete operation could have left.
type DamageError struct {
	Off    int64 // of the node, or of the pointer to the root, in the payload
	Reason string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("freetree: payload offset %d: %s", e.Off, e.Reason)
}

// Load reads the tree with the given root from a payload that is end bytes long, level by level, and takes it over as
// it is if it is sound; otherwise the error is a *DamageError. Stored heights and balances are not relied on: stale is
// how many nodes have other ones than they should, as in files of old versions.
func Load(root, end int64, read ReadNodes) (t *Tree, stale int, err error) {
	l := &loader{t: New(), end: end}
	l.limit = int(min(int64(l.t.limit), end/NodeSize))
	if err := l.load(root, read); err != nil {
		return nil, 0, err
	}
	return l.t, l.stale(), nil
}

// loader is a tree being read. Slots are taken level by level, so that children have higher ones than their parents.
type loader struct {
	t      *Tree
	end    int64     // of the payload
	limit  int       // nodes; there cannot be more than fit in, unless what is read changes meanwhile
	wanted []place   // of the next level
	stored [][8]byte // what nodes say of their subtrees; slot 0 has none
}

// place is where a node belongs that is to be read.
type place struct {
	off          int64
	above        int32 // 0: it is the root
	side         uint8
	lower, upper int32 // the nodes it must lie between by size, 0 for no bound
}

func (l *loader) load(root int64, read ReadNodes) error {
	if err := l.want(root, place{}); err != nil {
		return err
	}
	for depth := 1; len(l.wanted) > 0; depth++ {
		if depth > depthGuard {
			return &DamageError{l.wanted[0].off, fmt.Sprintf("more than %d levels deep", depthGuard)}
		}
		if err := l.level(read); err != nil {
			return err
		}
	}
	if err := l.measure(); err != nil {
		return err
	}
	return l.t.buildAddresses()
}

// want notes an offset to be read, unless it is 0 for none.
func (l *loader) want(off int64, p place) error {
	if off == 0 {
		return nil
	}
	if !plausible(off, l.end) {
		return misdirected(cmp.Or(l.t.nodes[p.above].Off, rootAt), off)
	}
	p.off = off
	l.wanted = append(l.wanted, p)
	return nil
}

// level reads what is wanted, and notes the children.
func (l *loader) level(read ReadNodes) error {
	places := l.wanted
	l.wanted = nil
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.off, b.off) })
	offs := make([]int64, len(places))
	for k, p := range places {
		if k > 0 && offs[k-1] == p.off {
			return &DamageError{p.off, "is reached twice"}
		}
		offs[k] = p.off
	}
	nodes := make([][NodeSize]byte, len(places))
	if err := read(offs, nodes); err != nil {
		return err
	}
	for k, p := range places {
		if err := l.adopt(p, &nodes[k]); err != nil {
			return err
		}
	}
	return nil
}

// adopt makes what was read a node of the tree.
//
// Were it reached a second time, be it by a cycle or from two parents, it would not lie between its bounds again: where
// the two ways part, one leads to what is smaller than the node there, and the other to what is larger.
func (l *loader) adopt(p place, src *[NodeSize]byte) error {
	m := Decode(src, p.off)
	switch {
	case !m.fits(l.end):
		return misfit(m.Block)
	case !l.t.between(bySize, m.Block, p.lower, p.upper):
		return l.misplaced(p, m.Block)
	case len(l.t.nodes) > l.limit:
		return ErrFull
	}
	i := int32(len(l.t.nodes))
	l.t.nodes = append(l.t.nodes, node{Block: m.Block})
	l.stored = append(l.stored, derived(src))
	if p.above == 0 {
		l.t.root[bySize] = i
	} else {
		l.t.nodes[p.above].links[bySize].child[p.side] = i
	}
	if err := l.want(m.Left, place{above: i, side: left, lower: p.lower, upper: i}); err != nil {
		return err
	}
	return l.want(m.Right, place{above: i, side: right, lower: i, upper: p.upper})
}

// measure computes the heights, children before their parents, and checks the balance.
func (l *loader) measure() error {
	for i := len(l.t.nodes) - 1; i > 0; i-- {
		k := &l.t.nodes[i].links[bySize]
		for side, c := range k.child {
			if c != 0 {
				k.height[side] = l.t.nodes[c].links[bySize].tall()
			}
		}
		if !k.balanced() {
			reason := fmt.Sprintf("unbalanced: subtrees of heights %d and %d", k.height[left], k.height[right])
			return &DamageError{l.t.nodes[i].Off, reason}
		}
	}
	return nil
}

func (l *loader) stale() (n int) {
	var b [NodeSize]byte
	for k, stored := range l.stored {
		l.t.image(int32(k) + 1).Encode(&b)
		if derived(&b) != stored {
			n++
		}
	}
	return n
}

// misplaced says more precisely what is wrong with a node that does not lie between its bounds.
func (l *loader) misplaced(p place, b Block) error {
	if slices.ContainsFunc(l.t.nodes, func(n node) bool { return n.Off == b.Off }) {
		return &DamageError{b.Off, "is reached twice"}
	}
	return &DamageError{b.Off, fmt.Sprintf("out of order: %d bytes, below the node at %d", b.Size, l.t.nodes[p.above].Off)}
}

// misdirected reports a pointer at an offset to where no node can be.
func misdirected(at, to int64) error {
	return &DamageError{at, fmt.Sprintf("points to %d, where no node can be", to)}
}

// misfit reports a node with a size that its block cannot have.
func misfit(b Block) error {
	return &DamageError{b.Off, fmt.Sprintf("cannot be a free block of %d bytes", b.Size)}
}
