// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package pageset keeps sets of page ids: those free to be reused, those waiting for a reader to leave.
//
// A [Set] is a bitmap, one bit per page of the file, so it costs an eighth of a byte per page whatever the state of the
// file, and adding, removing and testing touch one word. Two summaries, a bit per word, let searches skip what is empty
// and what is full. [Set.FirstRun] answers as a sorted list scanned from its low end would; [PutUnion] and [Set.Load]
// move ids to and from the form in which a file stores them.
//
// A Set is not safe for concurrent use; FirstRun, which remembers what it has ruled out, counts as a change.
package pageset

import (
	"iter"
	"math/bits"
	"slices"
)

const (
	wordBits = 64
	fullWord = ^uint64(0)
)

// Set is a set of page ids below a limit set by [Set.Grow]. The zero value is empty with limit 0.
//
// Invariants:
//
//	(1) bit w of some is set exactly when words[w] != 0;
//	(2) bit w of full is set exactly when words[w] has all bits set;
//	(3) count is the number of bits set in words;
//	(4) no run rules out by ruled starts where ruled says that none does.
type Set struct {
	words []uint64 // bit id%64 of words[id/64] tells whether id is a member
	some  []uint64
	full  []uint64
	count int
	ruled memo
}

// Grow makes room for ids below limit; it never takes room away. It allocates limit/8 bytes, so a limit read from a
// file has to be compared with the size of that file first.
func (s *Set) Grow(limit uint64) {
	if limit <= s.Limit() {
		return
	}
	words := (limit-1)/wordBits + 1
	s.words = extend(s.words, words)
	s.some = extend(s.some, (words-1)/wordBits+1)
	s.full = extend(s.full, (words-1)/wordBits+1)
}

// extend lengthens b to n words, the new ones zero, with the spare capacity append would leave.
func extend(b []uint64, n uint64) []uint64 {
	if n <= uint64(len(b)) {
		return b
	}
	if n > uint64(cap(b)) {
		return append(b, make([]uint64, n-uint64(len(b)))...)
	}
	old := len(b)
	b = b[:n]
	clear(b[old:])
	return b
}

// Limit returns the bound below which ids can be added: the one given to Grow, rounded up to a whole word.
func (s *Set) Limit() uint64 { return uint64(len(s.words)) * wordBits }

// Len returns the number of members.
func (s *Set) Len() int { return s.count }

// Has reports whether id is a member.
func (s *Set) Has(id uint64) bool {
	return id < s.Limit() && s.words[id/wordBits]>>(id%wordBits)&1 != 0
}

// Add makes id a member and reports whether it was none before. It panics if id is not below the limit.
func (s *Set) Add(id uint64) bool {
	s.ruled.added(id)
	return s.set(id/wordBits, 1<<(id%wordBits)) != 0
}

// Remove ends the membership of id and reports whether it was a member.
func (s *Set) Remove(id uint64) bool {
	return id < s.Limit() && s.unset(id/wordBits, 1<<(id%wordBits)) != 0
}

// AddRun makes id, id+1, … id+n-1 members and returns how many of them were none before. It panics if one of them is
// not below the limit, which leaves the set as it was.
func (s *Set) AddRun(id uint64, n int) (added int) {
	if n <= 0 {
		return 0
	}
	last := id + uint64(n) - 1
	if last < id || last >= s.Limit() {
		panic("pageset: run beyond the limit")
	}
	s.ruled.added(id)
	for w := id / wordBits; w <= last/wordBits; w++ {
		added += s.set(w, span(w, id, last))
	}
	return added
}

// RemoveRun ends the membership of id, id+1, … id+n-1 and returns how many of them were members.
func (s *Set) RemoveRun(id uint64, n int) (removed int) {
	if n <= 0 || id >= s.Limit() {
		return 0
	}
	last := s.Limit() - 1
	if uint64(n) <= last-id {
		last = id + uint64(n) - 1
	}
	for w := id / wordBits; w <= last/wordBits; w++ {
		removed += s.unset(w, span(w, id, last))
	}
	return removed
}

// span returns the bits of word w that stand for ids from first to last; w holds at least one of them.
func span(w, first, last uint64) uint64 {
	mask := fullWord
	if w == first/wordBits {
		mask <<= first % wordBits
	}
	if w == last/wordBits {
		mask &= fullWord >> (wordBits - 1 - last%wordBits)
	}
	return mask
}

// set adds the members mask stands for in word w and returns how many are new.
func (s *Set) set(w, mask uint64) int {
	old := s.words[w]
	now := old | mask
	s.words[w] = now
	s.some[w/wordBits] |= 1 << (w % wordBits)
	if now == fullWord {
		s.full[w/wordBits] |= 1 << (w % wordBits)
	}
	added := bits.OnesCount64(now &^ old)
	s.count += added
	return added
}

// unset removes the members mask, which is not 0, stands for in word w and returns how many there were.
func (s *Set) unset(w, mask uint64) int {
	old := s.words[w]
	now := old &^ mask
	s.words[w] = now
	s.full[w/wordBits] &^= 1 << (w % wordBits)
	if now == 0 {
		s.some[w/wordBits] &^= 1 << (w % wordBits)
	}
	removed := bits.OnesCount64(old &^ now)
	s.count -= removed
	return removed
}

// Clear removes all members and keeps the limit.
func (s *Set) Clear() {
	clear(s.words)
	clear(s.some)
	clear(s.full)
	s.count = 0
}

// CopyFrom makes s equal to o, growing it where o has the higher limit.
func (s *Set) CopyFrom(o *Set) {
	s.Grow(o.Limit())
	clear(s.words[copy(s.words, o.words):])
	clear(s.some[copy(s.some, o.some):])
	clear(s.full[copy(s.full, o.full):])
	s.count, s.ruled = o.count, o.ruled
}

// Clone returns a copy that shares nothing with s.
func (s *Set) Clone() *Set {
	return &Set{
		words: slices.Clone(s.words),
		some:  slices.Clone(s.some),
		full:  slices.Clone(s.full),
		count: s.count,
		ruled: s.ruled,
	}
}

// Next returns the lowest member that is not below id.
func (s *Set) Next(id uint64) (uint64, bool) {
	if id >= s.Limit() {
		return 0, false
	}
	w := id / wordBits
	word := s.words[w] &^ (1<<(id%wordBits) - 1)
	if word == 0 {
		var ok bool
		if w, ok = nextBit(s.some, w+1); !ok {
			return 0, false
		}
		word = s.words[w]
	}
	return w*wordBits + uint64(bits.TrailingZeros64(word)), true
}

// All yields the members in ascending order. The set may change meanwhile: members above the one last yielded are seen
// as they are when their turn comes.
func (s *Set) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for id, ok := s.Next(0); ok && yield(id); id, ok = s.Next(id + 1) {
		}
	}
}

// nextBit returns the position of the first bit set in summary at or after i.
func nextBit(summary []uint64, i uint64) (uint64, bool) {
	w := i / wordBits
	if w >= uint64(len(summary)) {
		return 0, false
	}
	word := summary[w] &^ (1<<(i%wordBits) - 1)
	for word == 0 {
		if w++; w == uint64(len(summary)) {
			return 0, false
		}
		word = summary[w]
	}
	return w*wordBits + uint64(bits.TrailingZeros64(word)), true
}
