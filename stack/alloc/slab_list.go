// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import "github.com/holtdb/holt/stack"

// load reads the free list, if that has not been done. Nothing has changed it since the file was opened: each change
// needs it.
func (p *slab) load(u *stack.Unit) error {
	if p.loaded {
		return nil
	}
	head, free, err := p.walk(u)
	if err == nil {
		p.adopt(head, free)
	}
	return err
}

func (p *slab) adopt(head int64, free blockSet) { p.head, p.unused, p.loaded = head, free, true }

func (p *slab) unload() { p.head, p.unused, p.loaded = 0, blockSet{}, false }

// walk reads the free list. It visits no block twice.
func (p *slab) walk(u *stack.Unit) (head int64, free blockSet, err error) {
	var word [16]byte
	if _, err := u.ReadAt(word[:8], slabHeadAt); err != nil {
		return 0, free, err
	}
	head = int64(le.Uint64(word[:]))
	for at, next := int64(slabHeadAt), head; next != 0; {
		i, ok := p.index(next, u.Len())
		switch {
		case !ok:
			return 0, blockSet{}, corruptAt(p.path, at, "the free list leads to %d, where no block is", uint64(next))
		case free.has(i):
			return 0, blockSet{}, corruptAt(p.path, at, "the free list leads to %d for the second time", next)
		}
		free.add(run{i, 1})
		if at, next, err = p.readLink(u, next, word[:]); err != nil {
			return 0, blockSet{}, err
		}
	}
	return head, free, nil
}

// readLink reads the mark and the link of a free block: where the link is, and where it leads.
func (p *slab) readLink(u *stack.Unit, off int64, word []byte) (at, next int64, err error) {
	clear(word)
	if _, err := u.ReadAt(word[8-p.kind.mark:16], off); err != nil {
		return 0, 0, err
	}
	if mark := le.Uint64(word); mark != 0 {
		return 0, 0, corruptAt(p.path, off, "the block is on the free list, and its mark is %#x", mark)
	}
	return off + p.kind.mark, int64(le.Uint64(word[8:])), nil
}

// pop takes the first block off the free list.
func (p *slab) pop(u *stack.Unit) (int64, error) {
	off := p.head
	at, next, err := p.readLink(u, off, p.word[:])
	if err != nil {
		return 0, err
	}
	if i, ok := p.index(next, u.Len()); next != 0 && (!ok || next == off || !p.unused.has(i)) {
		return 0, corruptAt(p.path, at, "the free list leads to %d, where no free block is", uint64(next))
	}
	b := run{(off - slabArena) / p.size, 1}
	p.log = append(p.log, slabChange{head: p.head, run: b})
	p.unused.remove(b)
	return off, p.setHead(u, next)
}

// push puts blocks, which are sorted, at the front of the free list, the first of them first.
func (p *slab) push(u *stack.Unit, runs []run) error {
	for k, b := range runs {
		last := p.head
		if k+1 < len(runs) {
			last = p.offset(runs[k+1].first)
		}
		for i := b.first; i < b.end(); i++ {
			next := p.offset(i + 1)
			if i+1 == b.end() {
				next = last
			}
			le.PutUint64(p.word[:8], 0)
			le.PutUint64(p.word[8:], uint64(next))
			if _, err := u.WriteAt(p.word[8-p.kind.mark:], p.offset(i)); err != nil {
				return err
			}
		}
	}
	for _, b := range runs {
		p.log = append(p.log, slabChange{head: p.head, run: b, added: true})
		p.unused.add(b)
	}
	return p.setHead(u, p.offset(runs[0].first))
}

// push1 is push of one run.
func (p *slab) push1(u *stack.Unit, b run) error {
	p.one[0] = b
	return p.push(u, p.one[:])
}

func (p *slab) setHead(u *stack.Unit, head int64) error {
	p.head = head
	le.PutUint64(p.word[:8], uint64(head))
	_, err := u.WriteAt(p.word[:8], slabHeadAt)
	return err
}

// dropList makes a damaged free list, which could not be loaded, an empty one.
func (p *slab) dropList(u *stack.Unit) error {
	p.unload()
	p.log = append(p.log, slabChange{unload: true})
	p.loaded = true
	return p.setHead(u, 0)
}

// claim marks blocks as those of one region.
func (p *slab) claim(u *stack.Unit, b run) error {
	if p.kind.mark == 0 {
		return nil
	}
	le.PutUint64(p.word[:8], slabInUse|uint64(b.n))
	_, err := u.WriteAt(p.word[:8], p.offset(b.first))
	return err
}
