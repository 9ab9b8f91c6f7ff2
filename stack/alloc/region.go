// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync/atomic"
)

// RegionSize is the size of a serialised region in bytes.
const RegionSize = 16

var le = binary.LittleEndian

// Region is where some bytes lie in the payload. The zero Region is the null region, which has none. A region knows
// which open allocator gave it out, if any: compare Bytes, or Off and Len, not regions.
type Region struct {
	Off, Len int64
	owner    owner
}

// owner tells open allocators apart; 0 is nobody.
type owner uint64

var owners atomic.Uint64

func newOwner() owner { return owner(owners.Add(1)) }

// End is the offset behind the last byte.
func (r Region) End() int64 { return r.Off + r.Len }

// IsEmpty says whether the region has no bytes.
func (r Region) IsEmpty() bool { return r.Len == 0 }

// Bytes is the serialised form: offset and length, little endian.
func (r Region) Bytes() (b [RegionSize]byte) {
	le.PutUint64(b[0:8], uint64(r.Off))
	le.PutUint64(b[8:16], uint64(r.Len))
	return b
}

// RegionFrom is the region that Bytes serialised. Any allocator takes it for its own. Numbers that no region can have
// give one that every allocator refuses.
func RegionFrom(b [RegionSize]byte) Region {
	off, n := le.Uint64(b[0:8]), le.Uint64(b[8:16])
	if off > math.MaxInt64 || n > math.MaxInt64-off {
		return Region{Off: -1, Len: 1}
	}
	return Region{Off: int64(off), Len: int64(n)}
}

func (r Region) String() string { return fmt.Sprintf("[%d, %d)", r.Off, r.End()) }

// sane says whether the numbers can be those of a region.
func (r Region) sane() bool { return r.Off >= 0 && r.Len >= 0 && r.Off <= math.MaxInt64-r.Len }

// part is the region of n bytes from off on in it.
func (r Region) part(off, n int64) (Region, error) {
	if off < 0 || n < 0 || off > r.Len || n > r.Len-off {
		return Region{}, fmt.Errorf("%w: %d bytes at %d of a region of %d", ErrRange, n, off, r.Len)
	}
	return Region{r.Off + off, n, r.owner}, nil
}
