// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// Prefix is the first eight bytes of key as a number that orders as they do; a shorter key is filled up with zeros.
// Where the prefixes of two keys differ they decide; where they are equal they may not.
func Prefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var p uint64
	for i, b := range key {
		p |= uint64(b) << (56 - 8*i)
	}
	return p
}

// Search is the way of a key from the root of a tree down to its leaf. It keeps the prefixes of the keys on either side
// of the way, and supposes that those between them lie as evenly as numbers do that count up, or as random ones: then a
// guess is off by little, and a page is read in few places, which counts where it is not in a CPU's cache. Where guesses
// do not help, the range is halved.
type Search struct {
	key    []byte
	prefix uint64
	lo, hi uint64 // prefixes of keys below and above the wanted one; 0 and the greatest number if none is known
}

// unbounded is hi when no key above the wanted one is known.
const unbounded = math.MaxUint64

const (
	maxGuesses = 3 // in one page; with evenly distributed keys two suffice
	worthGuess = 4 // elements that are halved more quickly
)

// SearchFor begins a search at the root.
func SearchFor(key []byte) Search {
	return Search{key: key, prefix: Prefix(key), hi: unbounded}
}

// SearchBetween begins a search below the root, where all keys are in [lo, hi); nil is no bound.
func SearchBetween(key, lo, hi []byte) Search {
	s := SearchFor(key)
	s.lo = Prefix(lo)
	if hi != nil {
		s.hi = Prefix(hi)
	}
	return s
}

// Branch finds the element of a branch page whose subtree the key belongs to: the last whose key is not above it, or
// the first. An index of -1 means that the page is empty or that an element leads out of the run.
func (s *Search) Branch(p Page) (index int) {
	if p.Count() == 0 {
		return -1
	}
	i, exact := s.within(p, 0)
	if exact || i < 0 {
		s.hi = unbounded // the key that follows has not been looked at
		return i
	}
	return max(i-1, 0)
}

// Leaf finds the first element of a leaf page whose key is not below the wanted one, and whether it is equal. An index
// of -1 means that an element leads out of the run.
func (s *Search) Leaf(p Page) (index int, exact bool) { return s.within(p, 4) }

// guess is the element, of those from first on, whose key probably has the prefix, if key first has the prefix below and
// key first+n has above. n is less than 2^16.
func guess(prefix, below, above uint64, first, n int) int {
	shift := 16 - min(bits.LeadingZeros64(above-below), 16) // so that the product fits
	return first + int((prefix-below)>>shift*uint64(n)/((above-below)>>shift))
}

// within finds the first element whose key is not below the wanted one. The position and the length of a key are found
// so many bytes into the record of its element. Without an exact match s is left with the prefixes on either side.
func (s *Search) within(p Page, bounds int) (index int, exact bool) {
	key, prefix, below, above := s.key, s.prefix, s.lo, s.hi
	first, lo, hi := 0, 0, p.Count() // first is the element that below belongs to, hi the one of above
	for guesses := maxGuesses; lo < hi; {
		mid := int(uint(lo+hi) >> 1)
		if hi-lo > worthGuess && guesses > 0 {
			switch {
			case above == unbounded && lo > 0: // nothing above is known, and there may be nothing
				guesses--
				mid = hi - 1
			case above != unbounded && below <= prefix && prefix < above:
				guesses--
				mid = min(max(guess(prefix, below, above, first, hi-first), lo), hi-1)
			}
		}
		at := HeaderSize + ElemSize*mid
		e := p[at+bounds : at+bounds+8 : at+bounds+8]
		start := uint64(at) + uint64(ne.Uint32(e[0:4]))
		end := start + uint64(ne.Uint32(e[4:8]))
		if end > uint64(len(p)) {
			return -1, false
		}
		k := p[start:end]
		q := uint64(0)
		if start+8 <= uint64(len(p)) { // what follows a shorter key is shifted out
			q = binary.BigEndian.Uint64(p[start:]) &^ (math.MaxUint64 >> (8 * min(uint(len(k)), 8)))
		} else {
			q = Prefix(k)
		}
		c := 0
		switch {
		case q < prefix:
			c = -1
		case q > prefix:
			c = 1
		case len(k) != 8 || len(key) != 8:
			c = bytes.Compare(k, key)
		}
		switch {
		case c < 0:
			first, lo, below = mid, mid+1, q
		case c > 0:
			hi, above = mid, q
		default:
			s.lo = q
			return mid, true
		}
	}
	s.lo, s.hi = below, above
	return lo, false
}

// SearchLeaf is [Search.Leaf] in a page of which no more is known.
func (p Page) SearchLeaf(key []byte) (index int, exact bool) {
	s := SearchFor(key)
	return s.Leaf(p)
}

// SearchBranch is [Search.Branch] in a page of which no more is known.
func (p Page) SearchBranch(key []byte) (index int) {
	s := SearchFor(key)
	return s.Branch(p)
}

// Within says whether the keys of a branch or leaf page, which ascend, are in [lo, hi); nil is no bound. It looks at
// the first and the last, and is false too where one that it needs leads out of the run.
func (p Page) Within(lo, hi []byte) bool {
	n := p.Count()
	if n == 0 {
		return true
	}
	if lo != nil {
		if first, ok := p.Key(0); !ok || bytes.Compare(first, lo) < 0 {
			return false
		}
	}
	if hi != nil {
		if last, ok := p.Key(n - 1); !ok || bytes.Compare(last, hi) >= 0 {
			return false
		}
	}
	return true
}
