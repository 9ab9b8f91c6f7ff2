// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// What the tests know of the format, beside what the package knows of it.
const (
	ghostMagicAt = 32
	ghostRootAt  = 40
	ghostArena   = 48
	ghostUnit    = 32
)

// units is the block of n units that is k units behind the beginning of the arena.
func units(k, n int) freetree.Block {
	return freetree.Block{Off: ghostArena + int64(k)*ghostUnit, Size: int64(n) * ghostUnit}
}

// regionOf is the region that has all of a block.
func regionOf(b freetree.Block) alloc.Region { return alloc.Region{Off: b.Off, Len: b.Size} }

// ghostImage is the payload of a GhostTree, to be made and damaged byte by byte.
type ghostImage []byte

// newGhostImage has an arena of so many units, and these free blocks in a balanced tree. All other bytes of the arena
// belong to live regions, and are text.
func newGhostImage(t rapid.TB, arena int, free ...freetree.Block) ghostImage {
	t.Helper()
	p := ghostImage(text(int(units(arena, 0).Off), 1))
	copy(p[ghostMagicAt:], "ALGT\x00\x01\x04\x00")
	for _, b := range free {
		clear(p[b.Off:b.End()])
	}
	tree, err := freetree.Build(free)
	check(t, err)
	for m := range tree.Images() {
		p.setNode(m)
	}
	p.setRoot(tree.Root())
	return p
}

func (p ghostImage) clone() ghostImage { return slices.Clone(p) }

func (p ghostImage) root() int64 { return int64(binary.LittleEndian.Uint64(p[ghostRootAt:])) }

func (p ghostImage) setRoot(off int64) { binary.LittleEndian.PutUint64(p[ghostRootAt:], uint64(off)) }

func (p ghostImage) node(off int64) freetree.Image {
	return freetree.Decode((*[freetree.NodeSize]byte)(p[off:]), off)
}

func (p ghostImage) setNode(m freetree.Image) { m.Encode((*[freetree.NodeSize]byte)(p[m.Off:])) }

// edit changes a node.
func (p ghostImage) edit(off int64, change func(m *freetree.Image)) {
	m := p.node(off)
	change(&m)
	p.setNode(m)
}

// disk is one with a stack at rest that has the payload.
func (p ghostImage) disk(t rapid.TB) *file.Crash {
	t.Helper()
	disk := newDisk()
	f, err := disk.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	check(t, err)
	head := binary.LittleEndian.AppendUint64([]byte("BSTK\x00\x04\x04\x00"), uint64(len(p)))
	_, err = f.WriteVecAt([][]byte{head, make([]byte, headerSize-len(head)), p}, 0)
	check(t, errors.Join(err, f.Sync(), f.Close(), disk.SyncDir(".")))
	return disk
}

// openGhost opens stack and allocator, and closes the stack again if that fails.
func openGhost(fs file.FS) (*alloc.GhostTree, error) {
	s, err := openStack(fs)
	if err != nil {
		return nil, err
	}
	a, err := alloc.OpenGhostTree(s)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return a, nil
}

func mustOpenGhost(t rapid.TB, fs file.FS) *alloc.GhostTree {
	t.Helper()
	a, err := openGhost(fs)
	check(t, err)
	return a
}

func closeGhost(t rapid.TB, a *alloc.GhostTree) {
	t.Helper()
	check(t, a.Stack().Close())
}

// ghostWorld is a world of the suite with a GhostTree.
func ghostWorld(fs file.FS) *world {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == "ghosttree" })
	return newWorld(&kinds[i], fs)
}

func sound(t rapid.TB, a alloc.Allocator) {
	t.Helper()
	for err := range a.Check() {
		t.Fatalf("Check: %v", err)
	}
}

// freeOf are the free blocks by offset.
func freeOf(t rapid.TB, a alloc.Allocator) (blocks []freetree.Block) {
	t.Helper()
	spans, err := a.Layout()
	check(t, err)
	for _, sp := range spans {
		if sp.Kind == alloc.Free {
			blocks = append(blocks, freetree.Block{Off: sp.Off, Size: sp.Len})
		}
	}
	return blocks
}

// accounted makes sure that everything in the arena that is not free belongs to the live regions: nothing has been
// lost.
func accounted(t rapid.TB, a alloc.Allocator, live ...alloc.Region) {
	t.Helper()
	want := int64(0)
	for _, r := range live {
		want += sizeOf(r.Len)
	}
	stats, err := a.Stats()
	check(t, err)
	if stats.Used != want || stats.Used+stats.Free+ghostArena != stats.Length {
		t.Fatalf("%d regions take %d bytes, but %+v", len(live), want, stats)
	}
}

// sizeOf is the size of the block of a region.
func sizeOf(n int64) int64 {
	if n == 0 {
		return 0
	}
	return (n + ghostUnit - 1) / ghostUnit * ghostUnit
}

func holds(t rapid.TB, s *stack.Stack, want []byte) {
	t.Helper()
	same(t, "payload", mustPeek(t, s), want)
}

// untouched makes sure that the bytes of p that are in none of the free blocks, which are sorted, are the same now.
func untouched(t rapid.TB, what string, a alloc.Allocator, p ghostImage, free []freetree.Block) {
	t.Helper()
	after := mustPeek(t, a.Stack())
	at := int64(ghostArena)
	for _, b := range append(slices.Clone(free), freetree.Block{Off: int64(len(p))}) {
		if at < b.Off {
			same(t, what, after[at:b.Off], p[at:b.Off])
		}
		at = b.End()
	}
}

// damagedAt makes sure that an error names a place in the payload.
func damagedAt(t *testing.T, err error, off int64) {
	t.Helper()
	if e, ok := errors.AsType[*stack.CorruptError](
		err,
	); !ok || e.Off != headerSize+off || e.Path != name ||
		e.Reason == "" {
		t.Fatalf("got %v, want damage at %d of the payload", err, off)
	}
}
