// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"slices"

	"github.com/holtdb/holt/stack"
)

// bulk does operations in bulk one by one, for policies that have no better way. A unit is all or nothing anyway.
type bulk struct{ policy }

func (b bulk) allocBulk(u *stack.Unit, lens, offs []int64) (err error) {
	for i, n := range lens {
		if n == 0 {
			continue
		}
		if offs[i], err = b.alloc(u, n, true); err != nil {
			return err
		}
	}
	return nil
}

func (b bulk) freeBulk(u *stack.Unit, rs []Region) error {
	for _, r := range slices.Backward(rs) { // what is at the end can be cut off
		if err := b.free(u, r); err != nil {
			return err
		}
	}
	return nil
}
