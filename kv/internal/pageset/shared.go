// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package pageset

import (
	"math/bits"
	"sync/atomic"
)

// Shared is a set of page ids that several goroutines may add to at once. It takes a bit for each id.
type Shared struct {
	words []atomic.Uint64
}

// NewShared makes an empty set of ids below limit, which has to be compared with the size of the file first if it was
// read from there.
func NewShared(limit uint64) *Shared {
	return &Shared{make([]atomic.Uint64, (limit+wordBits-1)/wordBits)}
}

// Has reports whether id is a member.
func (s *Shared) Has(id uint64) bool {
	w := id / wordBits
	return w < uint64(len(s.words)) && s.words[w].Load()>>(id%wordBits)&1 != 0
}

// Add makes id a member and reports whether it was none before. Of several that add it at once, one is told so. It panics
// if id is not below the limit.
func (s *Shared) Add(id uint64) bool {
	bit := uint64(1) << (id % wordBits)
	return s.words[id/wordBits].Or(bit)&bit == 0
}

// AddComplement adds to s every id from first up to limit, which are below its own limit, that is not in o.
func (s *Set) AddComplement(o *Shared, first, limit uint64) {
	if first >= limit {
		return
	}
	for w := first / wordBits; w <= (limit-1)/wordBits; w++ {
		mask := span(w, first, limit-1)
		if w < uint64(len(o.words)) {
			mask &^= o.words[w].Load()
		}
		if mask != 0 {
			s.ruled.added(w*wordBits + uint64(bits.TrailingZeros64(mask)))
			s.set(w, mask)
		}
	}
}
