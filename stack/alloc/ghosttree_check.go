// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// layout implements policy.
func (g *ghostTree) layout(u *stack.Unit) ([]Span, error) {
	spans := []Span{{0, ghostMagicAt, Reserved}, {ghostMagicAt, ghostArena - ghostMagicAt, Header}}
	at := int64(ghostArena)
	used := func(end int64) {
		if end > at {
			spans = append(spans, Span{at, end - at, Used})
		}
	}
	for b := range g.tree.ByAddress() {
		used(b.Off)
		spans = append(spans, Span{b.Off, b.Size, Free})
		at = b.End()
	}
	used(u.Len())
	return spans, nil
}

// check implements policy: it reads the tree again, and all free bytes.
func (g *ghostTree) check(u *stack.Unit, report func(error)) {
	var h [ghostArena - ghostMagicAt]byte
	if _, err := u.ReadAt(h[:], ghostMagicAt); err != nil {
		report(err)
		return
	}
	root := int64(le.Uint64(h[ghostRootAt-ghostMagicAt:]))
	tree, stale, err := freetree.Load(root, u.Len(), nodesOf(u))
	if err != nil {
		report(g.located(err))
		return
	}
	if stale > 0 && h[ghostVersionAt-ghostMagicAt] >= ghostHeights {
		report(g.located(staleHeights(stale)))
	}
	if odd := (u.Len() - ghostArena) % ghostUnit; odd != 0 {
		report(g.corrupt(u.Len()-odd, "the arena ends inside a block"))
	}
	if err := errors.Join(g.tree.Check(), g.compare(tree)); err != nil {
		report(err)
	}
	w := newWindow(u, make([]byte, wideWindow))
	for b := range tree.ByAddress() {
		if err := g.checkZeros(&w, b); err != nil {
			report(err)
		}
	}
}

// compare says whether a tree read from the file is that in memory.
func (g *ghostTree) compare(stored *freetree.Tree) error {
	if g.tree.Root() != stored.Root() || g.tree.Len() != stored.Len() {
		return fmt.Errorf("%s: free tree: %d blocks with root %d in memory, %d with root %d in the file",
			g.path, g.tree.Len(), g.tree.Root(), stored.Len(), stored.Root())
	}
	twins := slices.Collect(stored.Images())
	i := 0
	for image := range g.tree.Images() {
		if twins[i] != image {
			return g.corrupt(image.Off, "free tree: the node is %+v in memory, %+v in the file", image, twins[i])
		}
		i++
	}
	return nil
}

// checkZeros says whether all bytes of a free block behind its node are zero.
func (g *ghostTree) checkZeros(w *window, b freetree.Block) error {
	at, err := w.nonZero(b.Off+freetree.NodeSize, b.End())
	if err == nil && at < b.End() {
		err = g.corrupt(at, "the free block at %d has bytes that are not zero", b.Off)
	}
	return err
}

// reclaim implements policy.
func (g *ghostTree) reclaim(u *stack.Unit, live []Region) (n int64, err error) {
	end := int64(ghostArena)
	gaps := make([]freetree.Block, 0, len(live)+1)
	for _, r := range append(live, Region{Off: u.Len()}) {
		if r.Off > end {
			gaps = append(gaps, freetree.Block{Off: end, Size: r.Off - end})
		}
		if r.IsEmpty() {
			continue
		}
		b, err := g.block(u, r)
		if err != nil {
			return 0, err
		}
		end = b.End() // at or before the next region: that begins where a block can
	}
	m := g.tree.Mark()
	for _, gap := range gaps {
		freed, err := g.reclaimGap(u, gap)
		if err != nil {
			return 0, err
		}
		n += freed
	}
	return n, g.flush(u, m)
}

// reclaimGap frees those parts of a stretch without live blocks that are not free.
func (g *ghostTree) reclaimGap(u *stack.Unit, gap freetree.Block) (n int64, err error) {
	for end := gap.End(); end > gap.Off; {
		start, next := gap.Off, gap.Off
		if b, ok := g.tree.Overlap(freetree.Block{Off: gap.Off, Size: end - gap.Off}); ok {
			start, next = b.End(), b.Off
		}
		if start < end {
			if err := g.release(u, freetree.Block{Off: start, Size: end - start}); err != nil {
				return 0, err
			}
			n += end - start
		}
		end = next
	}
	return n, nil
}

// RebuildGhostTree opens a file whose tree is not to be trusted, and makes all of it free that is not in live,
// whatever the tree says. [ErrNotAllocated] if regions overlap or cannot be live.
func RebuildGhostTree(s *stack.Stack, live []Region) (*GhostTree, error) {
	g := &ghostTree{path: s.Path(), tree: freetree.New()}
	a := &GhostTree{newCore(s, g), g}
	_, root, err := g.readHeader(s)
	if err != nil {
		return nil, err
	}
	q := a.request(opCall)
	q.call = func(u *stack.Unit) (n int64, err error) {
		sorted, err := a.checkRegions(live, u.Len())
		if err == nil {
			_, err = u.Extend(missingBytes(u.Len()))
		}
		if err == nil {
			n, err = g.reclaim(u, sorted)
		}
		if err == nil && root != 0 && g.tree.Root() == 0 {
			err = g.writeRoot(u, 0) // any other was written with the nodes
		}
		return n, err
	}
	if _, err := q.do(); err != nil {
		return nil, err
	}
	return a, nil
}
