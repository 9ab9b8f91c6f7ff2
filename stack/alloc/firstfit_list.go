// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"cmp"

	"github.com/holtdb/holt/stack"
)

// find looks through the list for the first free block that has room for need bytes. There may be none.
func (p *firstFit) find(u *stack.Unit, need int64) (b ffBlock, err error) {
	if need > p.largest {
		return ffBlock{}, nil
	}
	var largest, prev int64
	from := int64(ffHeadAt)
	data, err := p.word(u, from)
	for err == nil && data != 0 { // not in circles, as each block knows the one before it
		if b, err = p.listed(u, from, data, prev); err != nil {
			break
		}
		if b.size >= need {
			return b, p.checkFooter(u, b)
		}
		largest = max(largest, b.size)
		from, prev, data = b.data, b.data, b.next
	}
	if err != nil {
		return ffBlock{}, err
	}
	p.largest = largest
	return ffBlock{}, nil
}

// listed reads a free block that the word at from refers to, and makes sure that it is one, and knows prev before it.
func (p *firstFit) listed(u *stack.Unit, from, data, prev int64) (ffBlock, error) {
	b, err := p.linked(u, from, data)
	if err == nil && b.prev != prev {
		err = p.corrupt(data+8, "list of free blocks: the one before is at %d, not at %d", prev, b.prev)
	}
	return b, err
}

// linked is listed whatever is before it.
func (p *firstFit) linked(u *stack.Unit, from, data int64) (ffBlock, error) {
	if !ffPlace(data, u.Len()) {
		return ffBlock{}, p.corrupt(from, "list of free blocks: no block is at %d", data)
	}
	b, err := p.header(u, data)
	if err == nil && (!b.free || !b.sane(u.Len())) {
		err = p.corrupt(from, "list of free blocks: what is at %d is no free block", data)
	}
	return b, err
}

func (p *firstFit) checkFooter(u *stack.Unit, b ffBlock) error {
	size, err := p.word(u, b.footer())
	if err == nil && size != b.size {
		err = p.corrupt(b.footer(), "the footer says %d bytes, the header at %d says %d", size, b.start(), b.size)
	}
	return err
}

// insert puts a block at the head of the list, and writes its marks.
func (p *firstFit) insert(u *stack.Unit, start, end int64) error {
	b := ffBlock{data: start + ffHeader, size: end - start - ffOverhead, free: true}
	next, err := p.word(u, ffHeadAt)
	if err != nil {
		return err
	}
	if next != 0 {
		if _, err := p.listed(u, ffHeadAt, next, 0); err != nil {
			return err
		}
		if err := p.putWord(u, next+8, b.data); err != nil {
			return err
		}
	}
	if b.next = next; p.largest != noLimit {
		p.largest = max(p.largest, b.size)
	}
	if err := p.put(u, b); err != nil {
		return err
	}
	return p.putWord(u, ffHeadAt, b.data)
}

// unlink takes a block out of the list. Its marks stay.
func (p *firstFit) unlink(u *stack.Unit, data int64) error {
	b, err := p.header(u, data) // again: its links may have changed in this unit
	if err != nil {
		return err
	}
	from := int64(ffHeadAt)
	if b.prev != 0 {
		before, err := p.linked(u, b.data+8, b.prev)
		if err != nil {
			return err
		}
		if before.next != b.data {
			return p.corrupt(b.prev, "list of free blocks: the one behind is at %d, not at %d", b.data, before.next)
		}
		from = b.prev
	} else if head, err := p.word(u, ffHeadAt); err != nil || head != b.data {
		return cmp.Or(err, p.corrupt(b.data+8, "list of free blocks: it begins at %d", head))
	}
	if b.next != 0 {
		if _, err := p.listed(u, b.data, b.next, b.data); err != nil {
			return err
		}
		if err := p.putWord(u, b.next+8, b.prev); err != nil {
			return err
		}
	}
	return p.putWord(u, from, b.next)
}

// lowestLink is the lowest offset that is written to when a block is taken out of the list.
func lowestLink(b ffBlock) int64 {
	low := int64(ffHeadAt)
	if b.prev != 0 {
		low = b.prev
	}
	if b.next != 0 {
		low = min(low, b.next+8)
	}
	return low
}
