// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

const (
	arenaChunk = 64 << 10 // bytes of the first chunk
	arenaKeep  = 4 << 20  // bytes kept for the next transaction
	arenaGrow  = 1 << 20  // chunks double up to this size
)

// arena hands out bytes that stay where they are until reset. A place is a chunk's number and an offset in it.
type arena struct {
	chunks [][]byte // each as long as it is in use
	cur    int      // the chunk in use
	size   int      // bytes handed out
}

// alloc returns n bytes and their place. They are not zeroed.
func (a *arena) alloc(n int) (loc uint64, buf []byte) {
	a.size += n
	for ; a.cur < len(a.chunks); a.cur++ {
		c := a.chunks[a.cur]
		if cap(c)-len(c) >= n {
			at := len(c)
			a.chunks[a.cur] = c[:at+n]
			return uint64(a.cur)<<32 | uint64(at), c[at : at+n : at+n]
		}
	}
	size := arenaChunk
	if len(a.chunks) > 0 {
		size = min(2*cap(a.chunks[len(a.chunks)-1]), arenaGrow)
	}
	c := make([]byte, n, max(n, size))
	a.chunks = append(a.chunks, c)
	return uint64(a.cur) << 32, c[:n:n]
}

// at returns the n bytes at loc.
func (a *arena) at(loc uint64, n uint32) []byte {
	off, c := uint64(uint32(loc)), a.chunks[loc>>32]
	return c[off : off+uint64(n) : off+uint64(n)]
}

// reset forgets everything and keeps some memory for next time.
func (a *arena) reset() {
	kept := 0
	for i, c := range a.chunks {
		if kept += cap(c); kept > arenaKeep {
			clear(a.chunks[i:])
			a.chunks = a.chunks[:i]
			break
		}
		a.chunks[i] = c[:0]
	}
	a.cur, a.size = 0, 0
}
