// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Unit collects changes that become durable together or not at all. Its methods see what it has collected. It is valid
// during the call of the function that it was given to, in that goroutine.
type Unit struct {
	s       *Stack
	serial  uint64
	base    int64   // committed length
	length  int64   // length with the changes
	floor   int64   // shortest length in between: what lies above it is from blocks, or zero
	blocks  []block // sorted, disjoint, below length; their bytes are never changed
	saved   []block // of the last mark
	arena   []byte  // what was copied, until the unit ends
	inPlace bool    // refuses to change the length
	fixed   bool    // refuses every change
}

const (
	arenaSize = 64 << 10 // bytes
	keepArena = 1 << 20  // bytes of memory that a unit may hold for the next one
)

// begin makes it a unit without changes. The memory of the last one is used again.
func (u *Unit) begin(s *Stack) {
	clear(u.blocks)
	clear(u.saved)
	*u = Unit{
		s: s, serial: u.serial + 1, base: s.length, length: s.length, floor: s.length,
		blocks: u.blocks[:0], saved: u.saved[:0], arena: u.arena[:0],
	}
	if cap(u.arena) > keepArena {
		u.arena = nil
	}
}

// clone copies p. What the arena held before it became too small is kept by the blocks that refer to it.
func (u *Unit) clone(p []byte) []byte {
	if len(p) > cap(u.arena)-len(u.arena) {
		u.arena = make([]byte, 0, max(arenaSize, min(2*cap(u.arena), keepArena), len(p)))
	}
	at := len(u.arena)
	u.arena = append(u.arena, p...)
	return u.arena[at:len(u.arena):len(u.arena)]
}

// zeroPiece is what blocks of zeros share.
var zeroPiece [64 << 10]byte

// mark is a state of a unit to go back to; its blocks are in saved.
type mark struct{ length, floor int64 }

func (u *Unit) mark() mark {
	u.saved = append(u.saved[:0], u.blocks...)
	return mark{u.length, u.floor}
}

// rewind goes back to the last mark.
func (u *Unit) rewind(m mark) {
	u.length, u.floor = m.length, m.floor
	u.blocks = append(u.blocks[:0], u.saved...)
}

// dirty says whether there is anything to commit. A floor below the length has blocks above it.
func (u *Unit) dirty() bool { return len(u.blocks) > 0 || u.length != u.base }

// Serial tells the unit from every other of the stack. A [Change] that finds itself in a new one knows that those in
// earlier ones have been made durable or undone.
func (u *Unit) Serial() uint64 { return u.serial }

// Len is the length of the payload.
func (u *Unit) Len() int64 { return u.length }

// ReadAt reads len(p) bytes at off. [ErrRange] if they are not all there.
func (u *Unit) ReadAt(p []byte, off int64) (int, error) {
	if err := u.s.checkRange(off, int64(len(p)), u.length); err != nil {
		return 0, err
	}
	if err := u.read(p, off); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (u *Unit) read(p []byte, off int64) error {
	stored := min(max(u.floor-off, 0), int64(len(p))) // what lies below floor comes from the file
	if err := u.s.readFile(p[:stored], off); err != nil {
		return err
	}
	clear(p[stored:])
	end := off + int64(len(p))
	for _, b := range u.blocks[u.firstAfter(off):] {
		if b.off >= end {
			break
		}
		b.overlay(p, off)
	}
	return nil
}

// firstAfter is the index of the first block that ends behind off.
func (u *Unit) firstAfter(off int64) int {
	i, _ := slices.BinarySearchFunc(u.blocks, off, func(b block, off int64) int {
		if b.end() <= off {
			return -1
		}
		return 1
	})
	return i
}

// WriteAt replaces len(p) bytes at off, all of which must exist. p is copied.
func (u *Unit) WriteAt(p []byte, off int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := u.checkChange(off, int64(len(p))); err != nil {
		return 0, err
	}
	u.write(off, u.clone(p))
	return len(p), nil
}

// write takes data over as it is.
func (u *Unit) write(off int64, data []byte) {
	if len(data) == 0 {
		return
	}
	end := off + int64(len(data))
	i := u.firstAfter(off)
	j := i
	for j < len(u.blocks) && u.blocks[j].off < end {
		j++
	}
	var put [3]block
	n := 0
	if i < j && u.blocks[i].off < off { // what is left of the first block that is overwritten
		b := u.blocks[i]
		put[n] = block{b.off, b.data[: off-b.off : off-b.off]}
		n++
	}
	put[n] = block{off, data}
	n++
	if i < j && u.blocks[j-1].end() > end { // and of the last
		b := u.blocks[j-1]
		put[n] = block{end, b.data[end-b.off:]}
		n++
	}
	u.blocks = slices.Replace(u.blocks, i, j, put[:n]...)
}

// Push appends p and returns where. p is copied.
func (u *Unit) Push(p []byte) (off int64, err error) {
	off, err = u.Extend(int64(len(p)))
	if err == nil {
		u.write(off, u.clone(p))
	}
	return off, err
}

// push is Push without a copy.
func (u *Unit) push(p []byte) (off int64, err error) {
	off, err = u.Extend(int64(len(p)))
	if err == nil {
		u.write(off, p)
	}
	return off, err
}

// Extend appends n zero bytes and returns where.
func (u *Unit) Extend(n int64) (off int64, err error) {
	switch {
	case n < 0 || u.length > maxLength-n:
		return 0, fmt.Errorf("%w: %d more bytes behind %d", ErrRange, n, u.length)
	case n > 0 && u.fixed:
		return 0, ErrReadOnly
	case n > 0 && u.inPlace:
		return 0, ErrNotSized
	}
	off = u.length
	u.length += n
	if dead := min(u.length, u.base); off < dead { // bytes that are still in the file
		u.zero(off, dead-off)
	}
	return off, nil
}

// Truncate cuts the payload to n bytes.
func (u *Unit) Truncate(n int64) error {
	switch {
	case n < 0 || n > u.length:
		return fmt.Errorf("%w: cutting %d bytes to %d", ErrRange, u.length, n)
	case n == u.length:
		return nil
	case n < u.s.locked.Load():
		return fmt.Errorf("%w: cutting to %d", ErrPrefix, n)
	case u.fixed:
		return ErrReadOnly
	case u.inPlace:
		return ErrNotSized
	}
	i := u.firstAfter(n)
	if i < len(u.blocks) && u.blocks[i].off < n {
		b := &u.blocks[i]
		b.data = b.data[: n-b.off : n-b.off]
		i++
	}
	u.blocks = u.blocks[:i]
	u.length = n
	u.floor = min(u.floor, n)
	return nil
}

// Pop cuts len(p) bytes from the end and puts them into p.
func (u *Unit) Pop(p []byte) error {
	at := u.length - int64(len(p))
	if at < 0 {
		return fmt.Errorf("%w: taking %d of %d bytes", ErrRange, len(p), u.length)
	}
	if err := u.read(p, at); err != nil {
		return err
	}
	return u.Truncate(at)
}

// Zero sets n bytes at off, all of which must exist, to zero.
func (u *Unit) Zero(off, n int64) error {
	if n == 0 {
		return nil
	}
	if err := u.checkChange(off, n); err != nil {
		return err
	}
	u.zero(off, n)
	return nil
}

// checkChange says whether n bytes at off can be changed in place.
func (u *Unit) checkChange(off, n int64) error {
	if u.fixed {
		return ErrReadOnly
	}
	return u.s.checkChange(off, n, u.length)
}

// zero is Zero of bytes that can be changed. However many they are, they take no memory.
func (u *Unit) zero(off, n int64) {
	for n > 0 {
		p := zeroPiece[:min(n, int64(len(zeroPiece)))]
		u.write(off, p)
		off, n = off+int64(len(p)), n-int64(len(p))
	}
}

// tailCost is how many bytes have to be journaled because the payload becomes shorter while bytes below its new end are
// changed: the format can do that only for one stretch up to the new end.
func (u *Unit) tailCost() int64 {
	if u.length >= u.base || len(u.blocks) == 0 {
		return 0
	}
	return u.length - u.blocks[0].off
}

// split divides the blocks at the committed length: those that change bytes in place, and those that are new.
func (u *Unit) split() (inPlace, grown []block) {
	i := u.firstAfter(u.base)
	inPlace, grown = u.blocks[:i], u.blocks[i:]
	if len(grown) > 0 && grown[0].off < u.base {
		b, cut := grown[0], u.base-grown[0].off
		inPlace = append(slices.Clone(inPlace), block{b.off, b.data[:cut]})
		grown = slices.Concat([]block{{u.base, b.data[cut:]}}, grown[1:])
	}
	return inPlace, grown
}

// readFile reads committed bytes.
func (s *Stack) readFile(p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	n, err := s.file.ReadAt(p, s.head+off)
	if n == len(p) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return &CorruptError{s.path, s.head + off + int64(n), "the file ends inside the payload"}
	}
	return err
}
