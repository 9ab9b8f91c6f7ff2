// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// ghostHeights is the first version whose nodes have the heights of their children.
const ghostHeights = 3

// readHeader returns the version and the offset of the root.
func (g *ghostTree) readHeader(s *stack.Stack) (version byte, root int64, err error) {
	var h [ghostArena]byte
	if n := s.Len(); n < ghostArena {
		return 0, 0, fmt.Errorf("%w: %s has a payload of %d bytes, too short for a GhostTree", ErrFormat, g.path, n)
	}
	if _, err := s.ReadAt(h[:], 0); err != nil {
		return 0, 0, err
	}
	if !bytes.Equal(h[ghostMagicAt:ghostMagicAt+6], ghostMagic[:6]) {
		found := h[ghostMagicAt:ghostRootAt]
		return 0, 0, fmt.Errorf("%w: %s has %x in place of a GhostTree's magic", ErrFormat, g.path, found)
	}
	return h[ghostVersionAt], int64(le.Uint64(h[ghostRootAt:])), nil
}

// open loads the tree. What an older program left half done it completes.
func (g *ghostTree) open(s *stack.Stack, c *core) error {
	version, root, err := g.readHeader(s)
	if err != nil {
		return err
	}
	tree, stale, err := freetree.Load(root, s.Len(), nodesOf(s))
	if stale > 0 && version >= ghostHeights {
		err = staleHeights(stale)
	}
	if damage, ok := errors.AsType[*freetree.DamageError](err); ok {
		tree, err = g.rebuild(s, root, damage, c)
	}
	if err != nil {
		return err
	}
	g.adopt(tree)
	// Last, as a file that is refused must not be touched.
	missing := missingBytes(s.Len())
	if missing == 0 {
		return nil
	}
	if _, err := s.Extend(missing); err != nil {
		return err
	}
	c.repaired = append(c.repaired, fmt.Sprintf("extended the payload by %d bytes to whole blocks", missing))
	return nil
}

// staleHeights is a tree some of whose nodes were not written when others were.
func staleHeights(nodes int) error {
	reason := fmt.Sprintf("%d nodes have heights that are not those of their subtrees", nodes)
	return &freetree.DamageError{Off: ghostRootAt, Reason: reason}
}

// missingBytes is how many bytes a payload lacks to end with a whole block.
func missingBytes(length int64) int64 { return -(length - ghostArena) & (ghostUnit - 1) }

func (g *ghostTree) adopt(tree *freetree.Tree) {
	g.tree = tree
	end := int64(0)
	for b := range tree.ByAddress() {
		g.adjacent = g.adjacent || b.Off == end
		end = b.End()
	}
}

// corrupt is damage at an offset in the payload.
func (g *ghostTree) corrupt(off int64, format string, args ...any) error {
	return corruptAt(g.path, off, format, args...)
}

// rebuild makes a new tree of the nodes that can be reached from the root, and writes it. Changes of older programs
// that were interrupted leave nodes that cannot be reached, two ways to one, order and balance lost, and nodes set to
// zero, but never one that is wrong in itself: if there is such a node, or bytes in a free block that are not zero,
// then something else has happened, and what looks like a node may be a program's data.
func (g *ghostTree) rebuild(s *stack.Stack, root int64, found *freetree.DamageError, c *core) (*freetree.Tree, error) {
	blocks, err := freetree.Collect(root, s.Len(), nodesOf(s))
	if err != nil {
		return nil, g.located(err)
	}
	merged, absorbed, err := g.merge(blocks)
	if err != nil {
		return nil, err
	}
	w := newWindow(s, make([]byte, wideWindow))
	for _, b := range blocks {
		if err := g.checkZeros(&w, b); err != nil {
			return nil, err
		}
	}
	tree, err := freetree.Build(merged)
	if err != nil {
		return nil, g.located(err)
	}
	if err := s.Do(&ghostRebuild{g, tree, absorbed}); err != nil {
		return nil, err
	}
	c.repaired = append(c.repaired,
		fmt.Sprintf("rebuilt the tree of %d free blocks; at %d of the payload: %s", len(blocks), found.Off, found.Reason))
	return tree, nil
}

// located makes damage that the tree found an error that says where in the file it is.
func (g *ghostTree) located(err error) error {
	if damage, ok := errors.AsType[*freetree.DamageError](err); ok {
		return g.corrupt(damage.Off, "free tree: %s", damage.Reason)
	}
	return err
}

// merge merges blocks that touch, and returns those that are not there any more as well.
func (g *ghostTree) merge(blocks []freetree.Block) (merged, absorbed []freetree.Block, err error) {
	for _, b := range blocks {
		k := len(merged) - 1
		switch {
		case k >= 0 && merged[k].End() > b.Off:
			return nil, nil, g.corrupt(b.Off, "free tree: the block overlaps that at %d", merged[k].Off)
		case k >= 0 && merged[k].End() == b.Off:
			merged[k].Size += b.Size
			absorbed = append(absorbed, b)
		default:
			merged = append(merged, b)
		}
	}
	return merged, absorbed, nil
}

// ghostRebuild writes a whole tree.
type ghostRebuild struct {
	g        *ghostTree
	tree     *freetree.Tree
	absorbed []freetree.Block
}

func (r *ghostRebuild) Apply(u *stack.Unit) error {
	for _, b := range r.absorbed {
		if err := u.Zero(b.Off, freetree.NodeSize); err != nil {
			return err
		}
	}
	for image := range r.tree.Images() {
		if err := r.g.writeNode(u, image); err != nil {
			return err
		}
	}
	return r.g.writeRoot(u, r.tree.Root())
}

func (*ghostRebuild) Undo() {}

// nodesOf reads nodes of a payload.
func nodesOf(p payload) freetree.ReadNodes {
	var r nodeReader
	return func(offs []int64, dst [][freetree.NodeSize]byte) error { return r.read(p, offs, dst) }
}

// nodeReader reads nodes that lie near each other at once.
type nodeReader struct{ buf []byte }

const (
	nodeGap   = 4 << 10  // bytes that are read though no one wants them
	nodeBatch = 64 << 10 // bytes read at once at most
)

func (r *nodeReader) read(p payload, offs []int64, dst [][freetree.NodeSize]byte) error {
	for len(offs) > 0 {
		n := 1
		for n < len(offs) && offs[n]-offs[n-1] <= nodeGap && offs[n]-offs[0] <= nodeBatch-freetree.NodeSize {
			n++
		}
		if r.buf == nil {
			r.buf = make([]byte, nodeBatch)
		}
		span := r.buf[:offs[n-1]-offs[0]+freetree.NodeSize]
		if _, err := p.ReadAt(span, offs[0]); err != nil {
			return err
		}
		for i, off := range offs[:n] {
			copy(dst[i][:], span[off-offs[0]:])
		}
		offs, dst = offs[n:], dst[n:]
	}
	return nil
}
