// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package pageset

import (
	"fmt"
	"math/bits"
)

// Check reports the first of invariants 1 to 3 that does not hold; the fourth shows in what FirstRun returns.
func (s *Set) Check() error {
	count := 0
	for w, word := range s.words {
		count += bits.OnesCount64(word)
		if bit := s.some[w/wordBits]>>(w%wordBits)&1 != 0; bit != (word != 0) {
			return fmt.Errorf("word %d is %#x, its bit in some is %t", w, word, bit)
		}
		if bit := s.full[w/wordBits]>>(w%wordBits)&1 != 0; bit != (word == fullWord) {
			return fmt.Errorf("word %d is %#x, its bit in full is %t", w, word, bit)
		}
	}
	for _, summary := range [][]uint64{s.some, s.full} {
		if w, ok := nextBit(summary, uint64(len(s.words))); ok {
			return fmt.Errorf("a summary of %d words has bit %d", len(s.words), w)
		}
	}
	if count != s.count {
		return fmt.Errorf("%d bits set, count is %d", count, s.count)
	}
	return nil
}
