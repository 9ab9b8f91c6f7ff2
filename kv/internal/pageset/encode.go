// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package pageset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// IDSize is the number of bytes an encoded id takes.
const IDSize = 8

// FirstID is the lowest id [Set.Load] accepts: pages 0 and 1 are never free.
const FirstID = 2

// What a [LoadError] wraps.
var (
	ErrRange     = errors.New("out of range")
	ErrDuplicate = errors.New("listed twice")
)

// LoadError reports an id that has no place in a list of page ids.
type LoadError struct {
	Index int    // position in the list, counted in ids
	ID    uint64 // what is there
	Err   error  // ErrRange or ErrDuplicate
}

func (e *LoadError) Error() string {
	return fmt.Sprintf("page id %d at index %d of the list: %v", e.ID, e.Index, e.Err)
}

func (e *LoadError) Unwrap() error { return e.Err }

// Load adds the ids encoded in src, in any order. The first that is not in [FirstID, limit), or that is a member
// already, is reported by a [*LoadError]; those before it have been added by then. Bytes after the last whole id are
// ignored. Like [Set.Grow], Load allocates limit/8 bytes.
func (s *Set) Load(src []byte, limit uint64) error {
	s.Grow(limit)
	defer s.summarize()
	for at := 0; len(src)-at >= IDSize; {
		w, mask, n := oneWord(src[at:])
		if !s.fits(w, mask, n, limit) {
			return s.loadEach(src, at, limit)
		}
		s.words[w] |= mask
		at += n * IDSize
	}
	return nil
}

// oneWord decodes the ids at the start of src that have their bits in one word, as all those of a stretch of a list in
// ascending order have: which word, the bits, and how many ids there are.
func oneWord(src []byte) (w, mask uint64, n int) {
	length := len(src)
	first := binary.NativeEndian.Uint64(src)
	for len(src) >= 4*IDSize {
		a, b := binary.NativeEndian.Uint64(src), binary.NativeEndian.Uint64(src[IDSize:])
		c, d := binary.NativeEndian.Uint64(src[2*IDSize:]), binary.NativeEndian.Uint64(src[3*IDSize:])
		if ((a^first)|(b^first)|(c^first)|(d^first))/wordBits != 0 {
			break
		}
		mask |= 1<<(a%wordBits) | 1<<(b%wordBits) | 1<<(c%wordBits) | 1<<(d%wordBits)
		src = src[4*IDSize:]
	}
	for len(src) >= IDSize {
		id := binary.NativeEndian.Uint64(src)
		if (id^first)/wordBits != 0 {
			break
		}
		mask |= 1 << (id % wordBits)
		src = src[IDSize:]
	}
	return first / wordBits, mask, (length - len(src)) / IDSize
}

// fits says whether the bits of word w that n ids have made are those of n ids in [FirstID, limit) that are no members.
func (s *Set) fits(w, mask uint64, n int, limit uint64) bool {
	return limit > FirstID && w <= (limit-1)/wordBits && mask&^span(w, FirstID, limit-1) == 0 &&
		bits.OnesCount64(mask) == n && s.words[w]&mask == 0
}

// loadEach is Load of the ids from an offset on, one after the other.
func (s *Set) loadEach(src []byte, at int, limit uint64) error {
	for ; len(src)-at >= IDSize; at += IDSize {
		id := binary.NativeEndian.Uint64(src[at:])
		if id < FirstID || id >= limit {
			return &LoadError{Index: at / IDSize, ID: id, Err: ErrRange}
		}
		bit := uint64(1) << (id % wordBits)
		word := &s.words[id/wordBits]
		if *word&bit != 0 {
			return &LoadError{Index: at / IDSize, ID: id, Err: ErrDuplicate}
		}
		*word |= bit
	}
	return nil
}

// summarize makes the invariants hold after words has been changed alone.
func (s *Set) summarize() {
	clear(s.some)
	clear(s.full)
	s.count = 0
	s.ruled = memo{}
	for w, word := range s.words {
		s.count += bits.OnesCount64(word)
		if word != 0 {
			s.some[w/wordBits] |= 1 << (w % wordBits)
		}
		if word == fullWord {
			s.full[w/wordBits] |= 1 << (w % wordBits)
		}
	}
}

// PutUnion encodes the ids that are in a, in b or in both, in ascending order, into dst and returns how many there are.
// It panics if dst has no room for them.
func PutUnion(dst []byte, a, b *Set) int {
	if len(a.words) > len(b.words) {
		a, b = b, a
	}
	n := 0
	for i, some := range b.some {
		if i < len(a.some) {
			some |= a.some[i]
		}
		for ; some != 0; some &= some - 1 {
			w := i*wordBits + bits.TrailingZeros64(some)
			word := b.words[w]
			if w < len(a.words) {
				word |= a.words[w]
			}
			n += putWord(dst[n*IDSize:], uint64(w)*wordBits, word)
		}
	}
	return n
}

// putWord encodes base + i for every bit i set in word, ascending, and returns how many there are.
func putWord(dst []byte, base, word uint64) (n int) {
	for ; word != 0; word &= word - 1 {
		binary.NativeEndian.PutUint64(dst[n*IDSize:], base+uint64(bits.TrailingZeros64(word)))
		n++
	}
	return n
}
