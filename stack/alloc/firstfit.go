// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"bytes"
	"fmt"
	"math"

	"github.com/holtdb/holt/stack"
)

// FirstFit is a general allocator: a list of the free blocks, newest first, from which the first that is large enough
// is taken. Every block, live or free, has marks in front of and behind it, 24 bytes together; sizes are multiples of
// 8.
//
// What is freed or resized has to be a live block, as its marks tell, and those of both neighbours. If they do not
// agree, which takes a damaged file or a region that never was one, all blocks before it are walked through to find out
// which. What remains undetected are only bytes of a region that copy the marks of three blocks in a row, at the right
// distances.
//
// Free neighbours are merged when they are freed, and free space at the end of the file is cut off when that is cheap,
// see [FirstFit.Trim].
type FirstFit struct {
	core
	list *firstFit
}

// firstFit is the policy. It keeps next to nothing in memory: one number, which only spares work.
type firstFit struct {
	bulk
	path    string
	largest int64    // no free block is larger; noLimit if that is not known
	keep    bool     // do not cut the end off: see mark and freeBulk
	in      [64]byte // what is read: a local would escape
	window  []byte   // of walks
	copied  []byte   // for moving regions
}

const noLimit = math.MaxInt64

// OpenFirstFit opens the allocator of a stack, or creates one in an empty stack. A sound file is not written to. One
// that an older program has left half done is recovered, see Repaired: if its flag says so, or the list begins nowhere.
// [ErrFormat] if the payload is not that of a FirstFit, *stack.CorruptError if it cannot be recovered.
func OpenFirstFit(s *stack.Stack) (*FirstFit, error) {
	p := &firstFit{path: s.Path(), largest: noLimit}
	p.bulk = bulk{p}
	a := &FirstFit{newCore(s, p), p}
	var h [ffArena]byte
	if n := min(s.Len(), ffArena); n > 0 {
		if err := s.GetInto(0, h[:n]); err != nil {
			return nil, err
		}
	}
	switch {
	case s.Len() == 0 || s.Len() == ffArena && bytes.Equal(h[ffMagicAt:], make([]byte, ffArena-ffMagicAt)):
		return a, s.Do(ffCreation{})
	case s.Len() < ffArena:
		return nil, fmt.Errorf("%w: %s has a payload of %d bytes, too short for a FirstFit", ErrFormat, p.path, s.Len())
	case !bytes.Equal(h[ffMagicAt:ffMagicAt+6], ffMagic[:6]):
		return nil, fmt.Errorf("%w: %s has %x in place of a FirstFit's magic", ErrFormat, p.path, h[ffMagicAt:ffFlagsAt])
	}
	flagged := le.Uint32(h[ffFlagsAt:])&ffRecover != 0
	head := le.Uint64(h[ffHeadAt:])
	if lost := head != 0 && (head < ffFirst || head >= uint64(s.Len())); flagged || lost {
		return a, p.recover(s, &a.core)
	}
	return a, nil
}

// ffCreation writes the header. A crash of an older program may have left the room for it.
type ffCreation struct{}

func (ffCreation) Apply(u *stack.Unit) error {
	if _, err := u.Extend(ffArena - u.Len()); err != nil {
		return err
	}
	_, err := u.WriteAt(ffMagic[:], ffMagicAt)
	return err
}

func (ffCreation) Undo() {}

// mark implements policy.
func (p *firstFit) mark(_ *stack.Unit, batch bool) int {
	p.keep = batch
	return 0
}

// rewind implements policy: what became smaller may be larger again.
func (p *firstFit) rewind(int) { p.largest = noLimit }

// bounds implements policy.
func (p *firstFit) bounds() (Region, int64) { return Region{Len: ffMagicAt}, ffArena }

// live implements policy.
func (p *firstFit) live(r Region) error {
	if r.Off < ffFirst {
		return fmt.Errorf("%w: no region begins at %d", ErrNotAllocated, r.Off)
	}
	return nil
}

// Trim cuts off free blocks at the end of the file, however much has to be written for that, and returns how many bytes
// that was. Freeing does so only when little has to be written, and a batch never, so that the last bytes of a file may
// stay free for long.
func (a *FirstFit) Trim() (n int64, err error) {
	q := a.request(opCall)
	q.call = a.list.trim
	r, err := q.do()
	return r.Len, err
}

// corrupt is damage at an offset in the payload.
func (p *firstFit) corrupt(off int64, format string, args ...any) error {
	return corruptAt(p.path, off, format, args...)
}
