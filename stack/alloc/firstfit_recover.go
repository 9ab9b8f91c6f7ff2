// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"fmt"

	"github.com/holtdb/holt/stack"
)

// mend writes the marks of all free blocks and a list of them, by address, and what else is not as it should be.
func (p *firstFit) mend(u *stack.Unit, v *survey) error {
	p.largest = noLimit
	for _, marks := range [...][]ffMark{v.size, v.footer} {
		for _, m := range marks {
			if m.off < v.end {
				if err := p.mendWord(u, m.off, m.size); err != nil {
					return err
				}
			}
		}
	}
	head := int64(0)
	for i, b := range v.free {
		if i == 0 {
			head = b.data
		} else {
			b.prev = v.free[i-1].data
		}
		if i+1 < len(v.free) {
			b.next = v.free[i+1].data
		}
		if err := p.mendFree(u, b); err != nil {
			return err
		}
	}
	if err := p.mendWord(u, ffHeadAt, head); err != nil {
		return err
	}
	flags, err := p.word(u, ffFlagsAt)
	if err != nil {
		return err
	}
	return p.mendWord(u, ffFlagsAt, flags&^ffRecover)
}

// mendWord writes a number if it is not there.
func (p *firstFit) mendWord(u *stack.Unit, off, word int64) error {
	found, err := p.word(u, off)
	if err != nil || found == word {
		return err
	}
	return p.putWord(u, off, word)
}

// mendFree writes the marks of a free block if they are not there.
func (p *firstFit) mendFree(u *stack.Unit, b ffBlock) error {
	found, err := p.header(u, b.data)
	if err != nil {
		return err
	}
	if found != b {
		return p.put(u, b)
	}
	return p.mendWord(u, b.footer(), b.size)
}

// recover completes or takes back what an older program left half done. What is to be cut off goes first: the rest can
// be found out again afterwards, as long as flag and list are as they were.
func (p *firstFit) recover(s *stack.Stack, c *core) error {
	var v *survey
	err := s.Update(func(u *stack.Unit) (err error) {
		v, err = p.examine(u, func(ffBlock) (bool, error) { return false, nil })
		if err != nil {
			return err
		}
		v.cutTail()
		if v.end < u.Len() {
			c.repaired = append(c.repaired, fmt.Sprintf("cut off %d bytes behind the last block in use", u.Len()-v.end))
		}
		return u.Truncate(v.end)
	})
	if err != nil {
		return err
	}
	c.repaired = append(c.repaired, fmt.Sprintf("made a new list of %d free blocks, corrected %d headers and %d footers",
		len(v.free), len(v.size), len(v.footer)))
	return s.Update(func(u *stack.Unit) error { return p.mend(u, v) })
}
