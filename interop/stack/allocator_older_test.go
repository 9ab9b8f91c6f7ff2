// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"testing"

	"github.com/holtdb/holt/stack"
)

// TestOlderAllocators goes on with files in which bstack 0.2 has allocated, once they have been migrated.
func TestOlderAllocators(t *testing.T) {
	eachFormat(t, func(t *testing.T, f *format) {
		if !f.older {
			t.Skip("not in bstack 0.2")
		}
		eachSeed(t, *histories, func(t *testing.T, seed uint64) {
			s := newSteps(t, f, seed)
			before := old.start(t)
			for range 3 {
				s.open(t, before)
				s.h.verify(t, before)
				s.work(t, before, 25)
				before.do(t, "close")
			}
			if err := stack.Migrate(t.Context(), s.path, nil); err != nil {
				t.Fatal(err)
			}
			s.verifyAtRest(t, true)
			for turn := range 4 {
				s.turn(t, s.sides[(turn+int(seed%2))%2])
			}
		})
	})
}
