// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"slices"

	"github.com/holtdb/holt/stack"
)

// check implements policy. The invariants:
//
//  1. Blocks lie side by side from the beginning of the arena to the end of the payload.
//  2. The footer of each says the same size as its header.
//  3. The list has all free blocks, and no others. Each knows the one before it.
//  4. No two neighbours are free.
func (p *firstFit) check(u *stack.Unit, report func(error)) {
	var free []int64
	var last ffBlock
	err := p.walk(u, func(b ffBlock, footer int64) error {
		if footer != b.size {
			report(p.corrupt(b.footer(), "the footer says %d bytes, the header at %d says %d",
				uint64(footer), b.start(), b.size))
		}
		if b.free && last.free {
			report(p.corrupt(b.start(), "free block behind another, at %d", last.start()))
		}
		if last = b; b.free {
			free = append(free, b.data)
		}
		return nil
	})
	if err != nil {
		report(err) // blocks behind it are not known
		return
	}
	if err := p.checkList(u, free); err != nil {
		report(err)
	}
}

// checkList compares the list with the free blocks, which are sorted.
func (p *firstFit) checkList(u *stack.Unit, free []int64) error {
	seen := make([]bool, len(free))
	from, prev := int64(ffHeadAt), int64(0)
	data, err := p.word(u, from)
	for err == nil && data != 0 { // not in circles, as each block knows the one before it
		i, ok := slices.BinarySearch(free, data)
		if !ok {
			return p.corrupt(from, "list of free blocks: what is at %d is no free block", data)
		}
		seen[i] = true
		var b ffBlock
		b, err = p.listed(u, from, data, prev)
		from, prev, data = data, data, b.next
	}
	if err != nil {
		return err
	}
	if i := slices.Index(seen, false); i >= 0 {
		return p.corrupt(free[i]-ffHeader, "free block that is not in the list")
	}
	return nil
}
