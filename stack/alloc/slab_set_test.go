// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A set and a map of the same blocks.
func TestBlockSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s blockSet
		want := map[int64]bool{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			first := rapid.Int64Range(0, 400).Draw(t, "first")
			r := run{first, rapid.SampledFrom([]int64{0, 1, 2, 63, 64, 65, 200}).Draw(t, "n")}
			add := rapid.Bool().Draw(t, "add")
			if add {
				s.add(r)
			} else {
				s.remove(r)
			}
			for i := r.first; i < r.end(); i++ {
				want[i] = add
			}
			first = rapid.Int64Range(0, 700).Draw(t, "probe")
			probe := run{first, rapid.SampledFrom([]int64{0, 1, 5, 64, 1000, 1 << 40}).Draw(t, "length")}
			hit := false
			var all []int64
			for i := range int64(800) {
				if want[i] {
					all = append(all, i)
					hit = hit || probe.first <= i && i < probe.end()
				}
				if s.has(i) != want[i] {
					t.Fatalf("has(%d) = %v", i, s.has(i))
				}
			}
			if got := s.sorted(); !slices.Equal(got, all) || s.n != int64(len(all)) {
				t.Fatalf("the set is %v (%d), want %v", got, s.n, all)
			}
			if s.overlaps(probe) != hit {
				t.Fatalf("overlaps(%v) = %v", probe, !hit)
			}
		}
	})
}
