// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"math/rand/v2"

	"github.com/holtdb/holt/kv/internal/page"
)

const (
	// sampledPages is the number of pages that an estimate looks at.
	sampledPages = 256

	// sparseBelow is the part of their pages that leaves fill on average if they are sparse, in hundredths. Splits leave
	// half, so that any tree may come close to that.
	sparseBelow = 45
)

// sparse estimates how many pages would become free if the leaves were put together: 0 as long as they are not sparse. It
// looks at a few pages wherever they lie, so that its cost does not grow with the file.
func (tx *Tx) sparse() (pages uint64) {
	leaves, used := 0, uint64(0)
	stride := max(tx.limit/sampledPages, 1)
	looked := uint64(0)
	buf := make(page.Page, tx.pageSize)
	for id := uint64(2); id+stride <= tx.limit; id += stride {
		looked++
		if n, ok := tx.leafUse(id+rand.Uint64N(stride), buf); ok {
			leaves++
			used += n
		}
	}
	room := uint64(leaves) * uint64(tx.pageSize)
	if used*100 >= room*sparseBelow {
		return 0
	}
	return (room - used) / uint64(tx.pageSize) * tx.limit / looked
}

// leafUse is the number of bytes that are used in page id, if it is a leaf without overflow pages. It is read into p, not
// from the mapping, as it may be free: written to meanwhile, or a hole for which there is no room.
func (tx *Tx) leafUse(id uint64, p page.Page) (n uint64, ok bool) {
	if _, err := tx.db.file.ReadAt(p, int64(id)*int64(tx.pageSize)); err != nil {
		return 0, false // an estimate does without it
	}
	if p.ID() != id || p.Flags() != page.Leaf || p.Overflow() != 0 || !p.TableFits() || tx.db.freelist.listed(id) {
		return 0, false
	}
	n = p.Used()
	return n, n <= uint64(tx.pageSize)
}
