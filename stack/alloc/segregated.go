// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/holtdb/holt/stack"
)

// Positions in the payload of a Segregated file, and sizes.
const (
	segMagicAt  = 24 // behind what is reserved for the program
	segHeadsAt  = 40
	segArena    = segHeadsAt + 8*segLists
	segUnit     = 16 // blocks start and end at multiples of it
	segMark     = 8  // the word that a block begins with
	segLists    = 33
	segLarge    = segLists - 1 // the list of blocks that are longer than all classes
	segMinSplit = 256          // a smaller surplus stays with its block
	segInUse    = 1 << 63      // of a mark
)

var segMagic = [8]byte{'A', 'L', 'S', 'G', 0, 2, 1, 0} // 6 bytes have to agree

// segClasses are the sizes of blocks up to the largest that have a list of their own.
var segClasses = func() (sizes [segLarge]int64) {
	size, step := int64(0), int64(segUnit)
	for i := range sizes {
		if i >= 16 && i%4 == 0 {
			step = size / 4
		}
		size += step
		sizes[i] = size
	}
	return sizes
}()

const segMaxClass = 4096

// segSize is the size of a new block for a region of n bytes, and its list.
func segSize(n int64) (size int64, list int) {
	size = (n + segMark + segUnit - 1) &^ (segUnit - 1)
	if size > segMaxClass {
		return size, segLarge
	}
	list, _ = slices.BinarySearch(segClasses[:], size)
	return segClasses[list], list
}

// segList is the list of a free block: that of the longest class that is not longer. fits says whether it is as long.
func segList(size int64) (list int, fits bool) {
	if size > segMaxClass {
		return segLarge, true
	}
	list, fits = slices.BinarySearch(segClasses[:], size)
	if !fits {
		list--
	}
	return list, fits
}

// Segregated is an allocator with a list of free blocks for each of 32 sizes up to 4096 bytes, and one for all longer
// blocks. Lengths are rounded up to the next of these sizes, or to 16 bytes. A block is taken from the list of its
// size only, a long one from the first that is long enough; what is left over becomes blocks of the sizes it can be
// divided into. Free neighbours are not merged, except by Reclaim.
//
// Each block begins with a mark of 8 bytes: its size, and whether it is in use. So freeing what is not allocated is
// refused, unless it lies inside of a region whose bytes look like a mark. Nothing is kept in memory.
type Segregated struct{ core }

// OpenSegregated opens the allocator of a stack, or creates one in an empty stack. [ErrFormat] if the payload is not
// that of a Segregated.
//
// All marks are read, and the lists. A sound file is not written to. Zeros at the end that are no block are cut off,
// and if free blocks are on no list, or a list is damaged, then all are made anew from the marks, see Repaired. If
// some marks make no sense nothing of that is done, as what looks like a free block may be a region's data: then the
// lists count, Check says where the marks are, and Reclaim sets right what can be. *stack.CorruptError if a list is
// damaged as well.
func OpenSegregated(s *stack.Stack) (*Segregated, error) {
	p := &segregated{marks: marks{path: s.Path(), arena: segArena, unit: segUnit, parse: parseSegMark}}
	a := &Segregated{newCore(s, p)}
	if s.IsEmpty() {
		return a, s.Do(segCreation{})
	}
	if err := p.checkHeader(s); err != nil {
		return nil, err
	}
	return a, p.recover(s, &a.core)
}

func parseSegMark(mark uint64) (units int64, kind use) {
	switch n := mark &^ segInUse; {
	case n == 0 || n > uint64(maxLen/segUnit):
		return 0, unknown
	case mark&segInUse != 0:
		return int64(n), inUse
	default:
		return int64(n), unused
	}
}

// segCreation writes the header.
type segCreation struct{}

func (segCreation) Apply(u *stack.Unit) error {
	if _, err := u.Extend(segArena); err != nil {
		return err
	}
	_, err := u.WriteAt(segMagic[:], segMagicAt)
	return err
}

func (segCreation) Undo() {}

// segregated is the policy.
type segregated struct {
	marks
	keep   bool               // do not cut the end off: see mark
	heads  [8 * segLists]byte // of the lists, of the operation under way
	word   [16]byte
	copied []byte
}

func (p *segregated) checkHeader(s *stack.Stack) error {
	var h [segHeadsAt]byte
	if n := s.Len(); n < segArena {
		return fmt.Errorf("%w: %s has a payload of %d bytes, too short for a Segregated", ErrFormat, p.path, n)
	}
	if err := s.GetInto(0, h[:]); err != nil {
		return err
	}
	if !bytes.Equal(h[segMagicAt:segMagicAt+6], segMagic[:6]) {
		found := h[segMagicAt : segMagicAt+8]
		return fmt.Errorf("%w: %s has %x in place of a Segregated's magic", ErrFormat, p.path, found)
	}
	if odd := (s.Len() - segArena) % segUnit; odd != 0 {
		return corruptAt(p.path, s.Len()-odd, "the payload ends inside a block")
	}
	return nil
}

// mark implements policy.
func (p *segregated) mark(_ *stack.Unit, batch bool) int {
	p.keep = batch
	return 0
}

// rewind implements policy.
func (p *segregated) rewind(int) {}

// bounds implements policy.
func (p *segregated) bounds() (Region, int64) { return Region{Len: segMagicAt}, segArena + segMark }

// live implements policy: only the marks would tell.
func (p *segregated) live(Region) error { return nil }

// segBlock is a block, with its mark.
type segBlock struct{ off, size int64 }

func (b segBlock) end() int64 { return b.off + b.size }

func (b segBlock) run() run { return run{(b.off - segArena) / segUnit, b.size / segUnit} }

func segOf(r run) segBlock { return segBlock{segArena + r.first*segUnit, r.n * segUnit} }

// region is the block of a region that may be live.
func (p *segregated) region(u *stack.Unit, r Region) (segBlock, error) {
	b := segBlock{off: r.Off - segMark}
	if (b.off-segArena)%segUnit != 0 {
		return b, fmt.Errorf("%w: no block begins at %d", ErrNotAllocated, b.off)
	}
	if _, err := u.ReadAt(p.word[:8], b.off); err != nil {
		return b, err
	}
	mark := le.Uint64(p.word[:])
	units, kind := parseSegMark(mark)
	b.size = units * segUnit
	if kind != inUse || b.size > u.Len()-b.off || b.size < r.Len+segMark {
		return b, fmt.Errorf("%w: the mark at %d is %#x, which is none of %v", ErrNotAllocated, b.off, mark, r)
	}
	return b, nil
}

// claim marks a block as in use.
func (p *segregated) claim(u *stack.Unit, b segBlock) error {
	le.PutUint64(p.word[:8], segInUse|uint64(b.size/segUnit))
	_, err := u.WriteAt(p.word[:8], b.off)
	return err
}
