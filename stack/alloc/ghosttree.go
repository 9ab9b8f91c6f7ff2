// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"fmt"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// Positions in the payload of a GhostTree file, and sizes.
const (
	ghostMagicAt   = 32 // behind what is reserved for the program
	ghostVersionAt = 38 // in the magic
	ghostRootAt    = 40
	ghostArena     = 48
	ghostUnit      = 32      // blocks start at ghostArena plus a multiple of it, and have multiples of it
	ghostKeepTail  = 4 << 10 // bytes: see cutTail
)

var ghostMagic = [8]byte{'A', 'L', 'G', 'T', 0, 1, 4, 0}

// GhostTree is a general allocator: best fit, from an AVL tree of the free blocks by size and offset whose nodes lie in
// the free blocks themselves. Live blocks have no marks at all. Blocks are multiples of 32 bytes.
//
// The tree is kept in memory as well, about 100 bytes for a free block, so that nothing is read to find room;
// neighbours are merged when they are freed, and free space at the end of the file is cut off when that is cheap, see
// [GhostTree.Trim].
//
// As nothing on the disk tells where live blocks begin, only what overlaps free space or lies where no block can begin
// is known not to be one.
type GhostTree struct {
	core
	ghost *ghostTree
}

// ghostTree is the policy.
type ghostTree struct {
	path     string
	tree     *freetree.Tree // as the file has it, with the changes of the unit under way
	serial   uint64         // of the unit
	marks    []ghostMark
	keep     bool // do not cut the end off: see mark
	adjacent bool // some free blocks may touch, as other programs leave them
	node     [freetree.NodeSize]byte
	copied   []byte // for moving regions
}

// ghostMark is what there was in memory.
type ghostMark struct {
	freetree.Mark
	adjacent bool
}

// OpenGhostTree opens the allocator of a stack, or creates one in an empty stack. A sound file is not written to. A
// tree that an interrupted change of an older program has left in disorder is rebuilt, see Repaired. [ErrFormat] if the
// payload is not that of a GhostTree, *stack.CorruptError if its tree cannot be trusted.
func OpenGhostTree(s *stack.Stack) (*GhostTree, error) {
	g := &ghostTree{path: s.Path()}
	a := &GhostTree{newCore(s, g), g}
	if s.IsEmpty() {
		g.tree = freetree.New()
		if err := s.Do(ghostCreation{}); err != nil {
			return nil, err
		}
		return a, nil
	}
	if err := g.open(s, &a.core); err != nil {
		return nil, err
	}
	return a, nil
}

// ghostCreation writes the header.
type ghostCreation struct{}

func (ghostCreation) Apply(u *stack.Unit) error {
	if _, err := u.Extend(ghostArena); err != nil {
		return err
	}
	_, err := u.WriteAt(ghostMagic[:], ghostMagicAt)
	return err
}

func (ghostCreation) Undo() {}

// mark implements policy.
func (g *ghostTree) mark(u *stack.Unit, batch bool) int {
	g.keep = batch
	if u.Serial() != g.serial {
		g.tree.Settle()
		g.serial = u.Serial()
		g.marks = g.marks[:0]
	}
	g.marks = append(g.marks, ghostMark{g.tree.Mark(), g.adjacent})
	return len(g.marks) - 1
}

// rewind implements policy.
func (g *ghostTree) rewind(to int) {
	m := g.marks[to]
	g.tree.Rewind(m.Mark)
	g.adjacent = m.adjacent
	g.marks = g.marks[:to]
}

// flush writes what changed in the tree since the mark.
func (g *ghostTree) flush(u *stack.Unit, m freetree.Mark) error {
	for _, image := range g.tree.Changes(m) {
		if err := g.writeNode(u, image); err != nil {
			return err
		}
	}
	if !g.tree.RootChanged(m) {
		return nil
	}
	return g.writeRoot(u, g.tree.Root())
}

func (g *ghostTree) writeNode(u *stack.Unit, image freetree.Image) error {
	image.Encode(&g.node)
	_, err := u.WriteAt(g.node[:], image.Off)
	return err
}

func (g *ghostTree) writeRoot(u *stack.Unit, root int64) error {
	le.PutUint64(g.node[:8], uint64(root))
	_, err := u.WriteAt(g.node[:8], ghostRootAt)
	return err
}

// bounds implements policy.
func (g *ghostTree) bounds() (Region, int64) { return Region{Len: ghostMagicAt}, ghostArena }

// live implements policy.
func (g *ghostTree) live(r Region) error {
	if r.IsEmpty() {
		return nil
	}
	if b, ok := g.tree.Overlap(freetree.Block{Off: r.Off, Size: r.Len}); ok {
		return fmt.Errorf("%w: %v overlaps free bytes at %d", ErrNotAllocated, r, b.Off)
	}
	return nil
}

// ghostSize is the size of the block of a region. Lengths are below maxLen.
func ghostSize(n int64) int64 { return max(ghostUnit, (n+ghostUnit-1)&^(ghostUnit-1)) }

// block is the block of a region that may be live.
func (g *ghostTree) block(u *stack.Unit, r Region) (freetree.Block, error) {
	b := freetree.Block{Off: r.Off, Size: ghostSize(r.Len)}
	switch {
	case (b.Off-ghostArena)%ghostUnit != 0:
		return b, fmt.Errorf("%w: no block begins at %d", ErrNotAllocated, b.Off)
	case b.End() > u.Len():
		return b, fmt.Errorf("%w: the block of %v ends at %d, the payload at %d", ErrNotAllocated, r, b.End(), u.Len())
	}
	return b, g.live(Region{Off: b.Off, Len: b.Size})
}

// Trim cuts off free space at the end of the file, however much has to be written for that, and returns how many bytes
// that was. Freeing does so only when little has to be written, and a batch never, so that the last bytes of a file may
// stay free for long.
func (a *GhostTree) Trim() (n int64, err error) {
	q := a.request(opCall)
	q.call = a.ghost.trim
	r, err := q.do()
	return r.Len, err
}
