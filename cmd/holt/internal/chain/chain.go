// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package chain keeps a list of links in an allocator's file, each in a region of its own, for showing that nothing is
// lost when the program that writes it is killed.
//
// A link is the region of the one before it, its number and bytes that follow from the number. The allocator's reserved
// region has the region of the last link. Links are numbered from 1 on. With every third link, the one before it is
// unlinked and freed: so its region is allocated, filled, linked, and another one freed, in one operation.
package chain

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/holtdb/holt/stack/alloc"
)

var le = binary.LittleEndian

const head = alloc.RegionSize + 8 // of a link: the region of the one before, and the number

// Chain is the list in a file. One goroutine may use it.
type Chain struct {
	a     alloc.Allocator
	links []link // from the first to the last
}

type link struct {
	n uint64
	r alloc.Region
}

// Open reads the chain of an allocator's file and checks every byte of it.
func Open(a alloc.Allocator) (*Chain, error) {
	c := &Chain{a: a}
	if r := a.Reserved(); r.Len < alloc.RegionSize {
		return nil, fmt.Errorf("only %d bytes are reserved for programs", r.Len)
	}
	var root [alloc.RegionSize]byte
	if _, err := a.View(a.Reserved()).ReadAt(root[:], 0); err != nil {
		return nil, err
	}
	last := ^uint64(0)
	for r := alloc.RegionFrom(root); !r.IsEmpty(); {
		l, before, err := c.read(r)
		if err != nil {
			return nil, err
		}
		if l.n >= last {
			return nil, fmt.Errorf("link %d leads to link %d", last, l.n)
		}
		last = l.n
		c.links = append(c.links, l)
		r = before
	}
	slices.Reverse(c.links)
	return c, c.check()
}

// read reads a link and the region of the one before it.
func (c *Chain) read(r alloc.Region) (l link, before alloc.Region, err error) {
	b, err := c.a.View(r).Bytes()
	if err != nil {
		return l, before, err
	}
	if len(b) < head {
		return l, before, fmt.Errorf("%v is too short for a link", r)
	}
	l = link{le.Uint64(b[alloc.RegionSize:head]), r}
	if !bytes.Equal(b[head:], content(l.n)) {
		return l, before, fmt.Errorf("link %d at %v has other bytes than were written", l.n, r)
	}
	return l, alloc.RegionFrom([alloc.RegionSize]byte(b)), nil
}

// check demands that those links are there that must be when the last one is.
func (c *Chain) check() error {
	i := 0
	for n := uint64(1); n <= c.Last(); n++ {
		if dropped(n) && n < c.Last() {
			continue
		}
		if i == len(c.links) || c.links[i].n != n {
			return fmt.Errorf("link %d is missing", n)
		}
		i++
	}
	if i != len(c.links) {
		return fmt.Errorf("link %d should be gone", c.links[i].n)
	}
	return nil
}

// dropped says whether the next link takes this one away.
func dropped(n uint64) bool { return n%3 == 2 }

// Last is the number of the last link; 0 if there is none.
func (c *Chain) Last() uint64 {
	if len(c.links) == 0 {
		return 0
	}
	return c.links[len(c.links)-1].n
}

// Len is the number of links.
func (c *Chain) Len() int { return len(c.links) }

// Regions are those of all links.
func (c *Chain) Regions() []alloc.Region {
	rs := make([]alloc.Region, len(c.links))
	for i, l := range c.links {
		rs[i] = l.r
	}
	return rs
}

// Add adds a link, durably.
func (c *Chain) Add() error {
	n := c.Last() + 1
	links := c.links
	data := content(n)
	var r alloc.Region
	err := c.a.Update(func(b *alloc.Batch) (err error) {
		if k := len(links) - 1; k >= 0 && dropped(links[k].n) {
			if err := b.Free(links[k].r); err != nil {
				return err
			}
			links = links[:k]
		}
		var before alloc.Region
		if k := len(links) - 1; k >= 0 {
			before = links[k].r
		}
		if r, err = b.Alloc(int64(head + len(data))); err != nil {
			return err
		}
		link := append(le.AppendUint64(bytesOf(before), n), data...)
		if err := b.WriteAt(r, link, 0); err != nil {
			return err
		}
		return b.WriteAt(c.a.Reserved(), bytesOf(r), 0)
	})
	if err != nil {
		return err
	}
	c.links = append(links, link{n, r})
	return nil
}

func bytesOf(r alloc.Region) []byte {
	b := r.Bytes()
	return b[:]
}

// content is what link n has: up to 4 KiB, and now and then 64 KiB.
func content(n uint64) []byte {
	r := rand.New(rand.NewPCG(n, 0))
	size := r.IntN(4 << 10)
	if n%50 == 0 {
		size = 64 << 10
	}
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}
