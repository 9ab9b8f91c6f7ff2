// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/holtdb/holt/stack"
)

// Positions in the payload of Slab and CheckedSlab files, and sizes.
const (
	slabMagicAt  = 24 // behind what is reserved for the program
	slabSizeAt   = 32
	slabHeadAt   = 40
	slabArena    = 48
	slabLinkSize = 8
	slabMaxBlock = 1 << 39 // so that no length overflows when it is rounded
	slabInUse    = 1 << 63 // of a mark
)

// cheapCut is how many bytes may be written anew so that others behind them can be cut off: the journal can change
// bytes and shorten the payload at once only by writing everything from the first changed byte on. If they are more,
// what is to be cut off becomes free blocks.
const cheapCut = 64 << 10

// slabKind is what Slab and CheckedSlab differ in.
type slabKind struct {
	name  string
	magic [8]byte // 6 bytes have to agree
	mark  int64   // size of the mark that a block begins with
}

var (
	plainSlab   = slabKind{"Slab", [8]byte{'A', 'L', 'S', 'L', 0, 1, 2, 0}, 0}
	checkedSlab = slabKind{"CheckedSlab", [8]byte{'A', 'L', 'C', 'K', 0, 1, 3, 0}, 8}
)

// Slab is an allocator of equal blocks: a region has one, or several side by side. Live blocks have no marks at all;
// a free one begins with the offset of the next. Single blocks are taken from the list of the free ones, several
// always from the end of the file.
//
// Which blocks are free is kept in memory too, a bit for each, from the first change on: freeing a region again, or
// writing to it, is refused. What is no region but overlaps no free block is not known.
type Slab struct {
	core
	slab *slab
}

// OpenSlab opens the allocator of a stack, or creates one in an empty stack, with blocks of that many bytes, at least
// 8. Of a file that exists the size counts that it has, and blockSize must be that or 0. [ErrFormat] if the payload
// is not that of a Slab. Nothing is written, and only the header is read: a damaged free list is found by the first
// change, and by Check; Reclaim repairs it.
func OpenSlab(s *stack.Stack, blockSize int64) (*Slab, error) {
	p := &slab{kind: plainSlab, path: s.Path(), size: blockSize}
	if err := p.open(s); err != nil {
		return nil, err
	}
	return &Slab{newCore(s, p), p}, nil
}

// BlockSize is the size of a block in bytes.
func (a *Slab) BlockSize() int64 { return a.slab.size }

// slab is the policy of Slab and CheckedSlab.
type slab struct {
	kind slabKind
	path string
	size int64 // of a block, with its mark
	keep bool  // do not cut the end off: see mark

	// What follows is known once loaded is set.
	loaded bool
	head   int64 // offset of the first free block, 0 if there is none
	unused blockSet
	serial uint64 // of the unit
	log    []slabChange

	word   [16]byte
	one    [1]run
	copied []byte
}

// slabChange is something to take back in memory.
type slabChange struct {
	head   int64 // before
	run    run
	added  bool
	unload bool // there was nothing in memory
}

// open reads the header, or writes it.
func (p *slab) open(s *stack.Stack) error {
	if s.IsEmpty() {
		if err := p.checkSize(); err != nil {
			return err
		}
		return s.Do(slabCreation{p})
	}
	var h [slabArena]byte
	if s.Len() < slabArena {
		return fmt.Errorf("%w: %s: %d bytes are too short for a %s", ErrFormat, p.path, s.Len(), p.kind.name)
	}
	if err := s.GetInto(0, h[:]); err != nil {
		return err
	}
	if !bytes.Equal(h[slabMagicAt:slabMagicAt+6], p.kind.magic[:6]) {
		found := h[slabMagicAt:slabSizeAt]
		return fmt.Errorf("%w: %s has %x in place of a %s's magic", ErrFormat, p.path, found, p.kind.name)
	}
	given := p.size
	p.size = int64(le.Uint64(h[slabSizeAt:]))
	if p.checkSize() != nil {
		return corruptAt(p.path, slabSizeAt, "blocks of %d bytes", uint64(p.size))
	}
	if given != p.kind.mark && given != p.size {
		has, want := p.size-p.kind.mark, given-p.kind.mark
		return fmt.Errorf("%w: %s has blocks of %d bytes, not %d", ErrFormat, p.path, has, want)
	}
	if odd := (s.Len() - slabArena) % p.size; odd != 0 {
		return corruptAt(p.path, s.Len()-odd, "the payload ends after %d of the %d bytes of a block", odd, p.size)
	}
	return nil
}

func (p *slab) checkSize() error {
	if p.size < slabLinkSize+p.kind.mark || p.size > slabMaxBlock {
		return fmt.Errorf("%w: blocks of %d bytes", ErrRange, p.size-p.kind.mark)
	}
	return nil
}

// slabCreation writes the header.
type slabCreation struct{ p *slab }

func (c slabCreation) Apply(u *stack.Unit) error {
	var h [slabArena]byte
	copy(h[slabMagicAt:], c.p.kind.magic[:])
	le.PutUint64(h[slabSizeAt:], uint64(c.p.size))
	_, err := u.Push(h[:])
	return err
}

func (slabCreation) Undo() {}

// mark implements policy.
func (p *slab) mark(u *stack.Unit, batch bool) int {
	p.keep = batch
	if u.Serial() != p.serial {
		p.serial = u.Serial()
		clear(p.log)
		p.log = p.log[:0]
	}
	return len(p.log)
}

// rewind implements policy.
func (p *slab) rewind(to int) {
	for len(p.log) > to {
		c := p.log[len(p.log)-1]
		p.log = p.log[:len(p.log)-1]
		p.head = c.head
		switch {
		case c.unload:
			p.unload()
		case c.added:
			p.unused.remove(c.run)
		default:
			p.unused.add(c.run)
		}
	}
}

// bounds implements policy.
func (p *slab) bounds() (Region, int64) { return Region{Len: slabMagicAt}, slabArena + p.kind.mark }

// live implements policy.
func (p *slab) live(r Region) error {
	first := (r.Off - slabArena) / p.size
	covered := run{first, (r.End()-slabArena-1)/p.size - first + 1}
	if !r.IsEmpty() && p.unused.overlaps(covered) {
		return fmt.Errorf("%w: %v overlaps a free block", ErrNotAllocated, r)
	}
	return nil
}

// blocks is how many blocks a region of n bytes has.
func (p *slab) blocks(n int64) int64 { return (n + p.kind.mark + p.size - 1) / p.size }

func (p *slab) offset(block int64) int64 { return slabArena + block*p.size }

// index is the number of the block that begins at off.
func (p *slab) index(off, length int64) (i int64, ok bool) {
	if off < slabArena || off > length-p.size || (off-slabArena)%p.size != 0 {
		return 0, false
	}
	return (off - slabArena) / p.size, true
}

// region is the blocks of a region that may be live.
func (p *slab) region(u *stack.Unit, r Region) (run, error) {
	if err := p.load(u); err != nil {
		return run{}, err
	}
	i, ok := p.index(r.Off-p.kind.mark, u.Len())
	b := run{i, p.blocks(r.Len)}
	switch {
	case !ok:
		return b, fmt.Errorf("%w: no block begins at %d", ErrNotAllocated, r.Off-p.kind.mark)
	case p.offset(b.end()) > u.Len():
		return b, fmt.Errorf("%w: the payload ends inside the %d blocks of %v", ErrNotAllocated, b.n, r)
	case p.unused.overlaps(b):
		return b, fmt.Errorf("%w: %v has free blocks", ErrNotAllocated, r)
	case p.kind.mark == 0:
		return b, nil
	}
	if _, err := u.ReadAt(p.word[:8], p.offset(i)); err != nil {
		return b, err
	}
	if mark := le.Uint64(p.word[:]); mark != slabInUse|uint64(b.n) {
		return b, fmt.Errorf("%w: %v would have %d blocks, its mark is %#x", ErrNotAllocated, r, b.n, mark)
	}
	return b, nil
}

// isDamage says whether an error is about the file, not about the request.
func isDamage(err error) bool { _, ok := errors.AsType[*stack.CorruptError](err); return ok }
