// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"maps"
	"math/bits"
	"slices"
)

// run is some blocks of an arena of equal blocks, or of units, by number.
type run struct{ first, n int64 }

func (r run) end() int64 { return r.first + r.n }

// blockSet is a set of blocks by number. It takes memory for those that are in it, however far apart they are.
type blockSet struct {
	words map[int64]uint64 // 64 blocks each; none is zero
	n     int64
}

// each calls fn with the words that a run touches, and which of their bits it has.
func (r run) each(fn func(word int64, mask uint64)) {
	for i := r.first; i < r.end(); {
		n := min(64-i%64, r.end()-i)
		fn(i/64, (^uint64(0)>>(64-n))<<(i%64))
		i += n
	}
}

func (s *blockSet) add(r run) {
	if s.words == nil {
		s.words = make(map[int64]uint64)
	}
	r.each(func(word int64, mask uint64) {
		old := s.words[word]
		s.words[word] = old | mask
		s.n += int64(bits.OnesCount64(mask &^ old))
	})
}

func (s *blockSet) remove(r run) {
	r.each(func(word int64, mask uint64) {
		old := s.words[word]
		s.n -= int64(bits.OnesCount64(old & mask))
		if old&^mask == 0 {
			delete(s.words, word)
		} else {
			s.words[word] = old &^ mask
		}
	})
}

func (s *blockSet) has(i int64) bool { return s.words[i/64]>>(i%64)&1 != 0 }

// overlaps says whether any block of the run is in the set.
func (s *blockSet) overlaps(r run) bool {
	if r.n == 1 {
		return s.has(r.first)
	}
	if s.n == 0 || r.n <= 0 {
		return false
	}
	if int64(len(s.words)) > r.n/64 {
		found := false
		r.each(func(word int64, mask uint64) { found = found || s.words[word]&mask != 0 })
		return found
	}
	for word, b := range s.words { // a long run, and not many blocks
		first := word*64 + int64(bits.TrailingZeros64(b))
		last := word*64 + int64(bits.Len64(b)) - 1
		if last < r.first || first >= r.end() {
			continue
		}
		inside := run{max(first, r.first), min(last+1, r.end()) - max(first, r.first)}
		hit := false
		inside.each(func(_ int64, mask uint64) { hit = b&mask != 0 })
		if hit {
			return true
		}
	}
	return false
}

// sorted returns all blocks.
func (s *blockSet) sorted() []int64 {
	all := make([]int64, 0, s.n)
	for _, word := range slices.Sorted(maps.Keys(s.words)) {
		for b := s.words[word]; b != 0; b &= b - 1 {
			all = append(all, word*64+int64(bits.TrailingZeros64(b)))
		}
	}
	return all
}

// join appends a run to sorted ones, or to the last of them if it begins where that ends.
func join(runs []run, r run) []run {
	if k := len(runs) - 1; k >= 0 && runs[k].end() == r.first {
		runs[k].n += r.n
		return runs
	}
	return append(runs, r)
}
