// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import "github.com/holtdb/holt/stack"

// readHeads reads where the lists begin.
func (p *segregated) readHeads(u *stack.Unit) error {
	_, err := u.ReadAt(p.heads[:], segHeadsAt)
	return err
}

func (p *segregated) head(list int) int64 { return int64(le.Uint64(p.heads[8*list:])) }

func (p *segregated) setHead(u *stack.Unit, list int, off int64) error {
	h := p.heads[8*list : 8*list+8]
	le.PutUint64(h, uint64(off))
	_, err := u.WriteAt(h, segHeadsAt+int64(8*list))
	return err
}

// listed reads a block of a list. from is where the link to it lies.
func (p *segregated) listed(u *stack.Unit, list int, off, from int64) (b segBlock, next int64, err error) {
	if off < segArena || off > u.Len()-segUnit || (off-segArena)%segUnit != 0 {
		return b, 0, corruptAt(p.path, from, "a free list leads to %d, where no block is", uint64(off))
	}
	if _, err := u.ReadAt(p.word[:], off); err != nil {
		return b, 0, err
	}
	mark := le.Uint64(p.word[:])
	units, kind := parseSegMark(mark)
	b = segBlock{off, units * segUnit}
	if kind != unused || b.size > u.Len()-off {
		return b, 0, corruptAt(p.path, off, "the block is on a free list, and its mark is %#x", mark)
	}
	if own, fits := segList(b.size); own != list || !fits {
		return b, 0, corruptAt(p.path, off, "a free block of %d bytes on list %d", b.size, list)
	}
	return b, int64(le.Uint64(p.word[8:])), nil
}

// take takes a block of at least size bytes off a list. It returns one of no bytes if there is none.
func (p *segregated) take(u *stack.Unit, list int, size int64) (segBlock, error) {
	from := segHeadsAt + int64(8*list)
	next := p.head(list)
	for steps := u.Len() / segUnit; next != 0; steps-- {
		b, after, err := p.listed(u, list, next, from)
		if err != nil {
			return segBlock{}, err
		}
		if b.size >= size {
			return b, p.unlink(u, list, from, after)
		}
		if steps == 0 {
			return segBlock{}, corruptAt(p.path, from, "a free list that has no end")
		}
		from, next = b.off+segMark, after
	}
	return segBlock{}, nil
}

// unlink makes the link at from lead to off.
func (p *segregated) unlink(u *stack.Unit, list int, from, off int64) error {
	if from < segArena {
		return p.setHead(u, list, off)
	}
	le.PutUint64(p.word[:8], uint64(off))
	_, err := u.WriteAt(p.word[:8], from)
	return err
}

// carve makes free blocks of some bytes: one if they are many, or as long ones as there are lists for.
func (p *segregated) carve(u *stack.Unit, b segBlock) error {
	for b.size > 0 {
		piece := b.size
		list, fits := segList(piece)
		if !fits {
			piece = segClasses[list]
		}
		le.PutUint64(p.word[:8], uint64(piece/segUnit))
		le.PutUint64(p.word[8:], uint64(p.head(list)))
		if _, err := u.WriteAt(p.word[:], b.off); err != nil {
			return err
		}
		if err := p.setHead(u, list, b.off); err != nil {
			return err
		}
		b = segBlock{b.off + piece, b.size - piece}
	}
	return nil
}
