// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"encoding/binary"
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

// SearchLeaf finds the first element whose key is not below key, and whether it is equal. An index of -1 means that an
// element leads out of the run.
func (p Page) SearchLeaf(key []byte) (index int, exact bool) {
	prefix := Prefix(key)
	lo, hi := 0, p.Count()
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		at := HeaderSize + ElemSize*mid
		e := p[at : at+ElemSize : at+ElemSize]
		start := uint64(at) + uint64(ne.Uint32(e[4:8]))
		end := start + uint64(ne.Uint32(e[8:12]))
		if end > uint64(len(p)) {
			return -1, false
		}
		k := p[start:end]
		if len(k) >= 8 {
			if q := binary.BigEndian.Uint64(k); q < prefix {
				lo = mid + 1
				continue
			} else if q > prefix {
				hi = mid
				continue
			} else if len(k) == 8 && len(key) == 8 {
				return mid, true
			}
		}
		switch c := bytes.Compare(k, key); {
		case c < 0:
			lo = mid + 1
		case c > 0:
			hi = mid
		default:
			return mid, true
		}
	}
	return lo, false
}

// SearchBranch finds the element whose subtree key belongs to: the last whose key is not above it, or the first. An
// index of -1 means that the page is empty or that an element leads out of the run.
func (p Page) SearchBranch(key []byte) (index int) {
	prefix := Prefix(key)
	lo, hi := 0, p.Count() // the wanted index is in [lo-1, hi)
	if hi == 0 {
		return -1
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		at := HeaderSize + ElemSize*mid
		e := p[at : at+ElemSize : at+ElemSize]
		start := uint64(at) + uint64(ne.Uint32(e[0:4]))
		end := start + uint64(ne.Uint32(e[4:8]))
		if end > uint64(len(p)) {
			return -1
		}
		k := p[start:end]
		if len(k) >= 8 {
			if q := binary.BigEndian.Uint64(k); q < prefix {
				lo = mid + 1
				continue
			} else if q > prefix {
				hi = mid
				continue
			} else if len(k) == 8 && len(key) == 8 {
				return mid
			}
		}
		switch c := bytes.Compare(k, key); {
		case c < 0:
			lo = mid + 1
		case c > 0:
			hi = mid
		default:
			return mid
		}
	}
	return max(lo-1, 0)
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
