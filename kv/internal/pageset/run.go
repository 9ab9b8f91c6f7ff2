// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package pageset

import (
	"math"
	"math/bits"
)

// FirstRun returns the lowest id, not below from, such that id, id+1, … id+n-1 are all members. It panics if n < 1.
func (s *Set) FirstRun(from uint64, n int) (id uint64, ok bool) {
	if n < 1 {
		panic("pageset: run of no ids")
	}
	bound := s.ruled.bound(n)
	id, ok = s.scan(max(from, bound), n)
	if from <= bound { // nothing was skipped on the caller's word, so the answer holds for the whole set
		if ok {
			s.ruled.found(n, id)
		} else {
			s.ruled.found(n, math.MaxUint64)
		}
	}
	return id, ok
}

// certainFull is the length from which a run covers at least one whole word, wherever it starts.
const certainFull = 2*wordBits - 1

// scan finds what FirstRun returns without relying on what earlier searches ruled out.
func (s *Set) scan(from uint64, n int) (uint64, bool) {
	if n == 1 {
		return s.Next(from)
	}
	if from >= s.Limit() {
		return 0, false
	}
	w := from / wordBits
	word := s.words[w] &^ (1<<(from%wordBits) - 1)
	carry := 0 // length of the run that ends with the last bit before word
	for {
		if carry+bits.TrailingZeros64(^word) >= n {
			return w*wordBits - uint64(carry), true
		}
		if word == fullWord {
			carry += wordBits
		} else {
			if n < wordBits {
				if starts := runStarts(word, n); starts != 0 {
					return w*wordBits + uint64(bits.TrailingZeros64(starts)), true
				}
			}
			carry = bits.LeadingZeros64(^word)
		}
		var ok bool
		if w, carry, ok = s.candidate(w+1, carry, n); !ok {
			return 0, false
		}
		word = s.words[w]
	}
}

// candidate returns the first word at or after w that a run of n may touch, given that a run of length carry ends just
// before w, and the length of the run that ends just before the word returned.
func (s *Set) candidate(w uint64, carry, n int) (uint64, int, bool) {
	if n >= certainFull && carry < wordBits {
		// The run sought has a first full word, and begins there or in the word before it.
		next, ok := nextBit(s.full, w)
		if ok && next > w {
			carry = bits.LeadingZeros64(^s.words[next-1])
		}
		return next, carry, ok
	}
	if w < uint64(len(s.words)) && s.words[w] != 0 {
		return w, carry, true
	}
	next, ok := nextBit(s.some, w)
	return next, 0, ok
}

// runStarts returns the bits of word at which n < 64 bits set in a row begin.
func runStarts(word uint64, n int) uint64 {
	// Invariant: bit i of word is set exactly when the have bits from i on were set at first.
	for have := 1; have < n; {
		step := min(have, n-have)
		word &= word >> step
		have += step
	}
	return word
}

// maxShort is the longest length of run for which a memo remembers a bound of its own. Nodes and values take few pages;
// the list of free pages itself takes many, but about as many every time.
const maxShort = 32

// memo remembers where runs cannot start, so that a search repeated after a failure, or after a success whose ids were
// taken, goes on where the last one stopped. Removing members leaves its bounds true; adding one lowers them.
type memo struct {
	short  [maxShort + 1]uint64 // no run of n ids starts below short[n]
	long   uint64               // no run of longN ids starts below long
	longN  int
	lowest uint64 // lowest id added since the bounds were last lowered
}

// added notes that id, and maybe ids above it, became members.
func (m *memo) added(id uint64) { m.lowest = min(m.lowest, id) }

// found notes that the lowest run of n ids starts at id; MaxUint64 stands for there being none.
func (m *memo) found(n int, id uint64) {
	if n <= maxShort {
		m.short[n] = id
	} else {
		m.long, m.longN = id, n
	}
}

// bound returns an id below which no run of n ids starts.
func (m *memo) bound(n int) uint64 {
	if m.lowest != math.MaxUint64 {
		m.lower()
	}
	// Where no run of k ids starts, none of more than k does.
	var bound uint64
	for _, b := range m.short[1 : min(n, maxShort)+1] {
		bound = max(bound, b)
	}
	if m.longN > 0 && n >= m.longN {
		bound = max(bound, m.long)
	}
	return bound
}

// lower takes into account the ids added: a run of n ids that is new contains one of them.
func (m *memo) lower() {
	for n := range m.short {
		m.short[n] = min(m.short[n], runBefore(m.lowest, n))
	}
	m.long = min(m.long, runBefore(m.lowest, m.longN))
	m.lowest = math.MaxUint64
}

// runBefore returns the lowest id at which a run of n ids that contains id can start.
func runBefore(id uint64, n int) uint64 {
	return id - min(id, uint64(max(n-1, 0)))
}
