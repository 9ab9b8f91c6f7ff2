// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"fmt"

	"github.com/holtdb/holt/stack"
)

// reclaim implements policy. It also sets right what recovery does, and merges free neighbours.
func (p *firstFit) reclaim(u *stack.Unit, live []Region) (int64, error) {
	left := census{live}
	v, err := p.examine(u, left.dead)
	if err == nil {
		err = left.missing()
	}
	if err != nil {
		return 0, err
	}
	sound := true
	p.check(u, func(error) { sound = false })
	if sound && v.freed == 0 {
		return 0, nil
	}
	if k := len(v.free) - 1; v.end < u.Len() || k >= 0 && worthCutting(ffHeadAt, v.free[k].start(), v.end) {
		v.cutTail()
	}
	if err := p.mend(u, v); err != nil {
		return 0, err
	}
	return v.freed, u.Truncate(v.end)
}

// census is the live regions that have not been found yet, sorted.
type census struct{ rest []Region }

// dead says whether a block has none of the regions.
func (c *census) dead(b ffBlock) (bool, error) {
	if len(c.rest) == 0 || c.rest[0].Off >= b.end() {
		return true, nil
	}
	if r := c.rest[0]; r.Off != b.data || r.Len > b.size {
		return false, fmt.Errorf("%w: %v is not in a live block alone", ErrNotAllocated, r)
	}
	c.rest = c.rest[1:]
	return false, nil
}

// missing is the refusal of regions that are in no block.
func (c *census) missing() error {
	if len(c.rest) == 0 {
		return nil
	}
	return fmt.Errorf("%w: there is no live block at %d", ErrNotAllocated, c.rest[0].Off)
}
