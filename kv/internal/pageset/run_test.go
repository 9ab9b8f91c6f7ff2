// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package pageset_test

import (
	"testing"

	"github.com/holtdb/holt/kv/internal/pageset"
)

// TestFirstRunAtWordEdges holds the cases a random model reaches too seldom.
func TestFirstRunAtWordEdges(t *testing.T) {
	for _, test := range []struct {
		name string
		from uint64
		n    int
		runs [][2]uint64 // first id and length
		want uint64
	}{
		{"longest without a full word", 0, 126, [][2]uint64{{65, 126}}, 65},
		{"shortest with a full word", 0, 127, [][2]uint64{{1, 126}, {257, 127}}, 257},
		{"full word first", 0, 127, [][2]uint64{{128, 127}}, 128},
		{"full word last", 0, 128, [][2]uint64{{64, 128}}, 64},
		{"long run, search begins inside a full word", 10, 127, [][2]uint64{{0, 192}}, 10},
		{"long run, search begins after it could fit", 66, 127, [][2]uint64{{0, 192}, {300, 200}}, 300},
		{"short run, search begins inside it", 5, 3, [][2]uint64{{0, 7}, {62, 4}}, 62},
		{"across one boundary", 0, 4, [][2]uint64{{61, 2}, {126, 4}}, 126},
		{"an empty word between", 0, 40, [][2]uint64{{40, 24}, {128, 24}, {300, 40}}, 300},
		{"one word exactly", 0, 64, [][2]uint64{{0, 63}, {64, 64}}, 64},
		{"all of a word but its first id", 0, 63, [][2]uint64{{65, 63}}, 65},
		{"last ids there are", 0, 3, [][2]uint64{{509, 3}}, 509},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := new(pageset.Set)
			set.Grow(512)
			for _, run := range test.runs {
				set.AddRun(run[0], int(run[1]))
			}
			if id, ok := set.FirstRun(test.from, test.n); !ok || id != test.want {
				t.Errorf("FirstRun(%d, %d) = %d, %t, want %d", test.from, test.n, id, ok, test.want)
			}
		})
	}
}

// TestFirstRunAfterAdd makes a run out of nothing but the last id missing, after a search has ruled everything out.
func TestFirstRunAfterAdd(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8, 32, 33, 64, 127, 500} {
		for missing := range n {
			set := new(pageset.Set)
			set.Grow(1000)
			const first = 301
			set.AddRun(first, n)
			set.Remove(first + uint64(missing))
			if id, ok := set.FirstRun(0, n); ok {
				t.Fatalf("FirstRun(0, %d) = %d without %d of it", n, id, missing)
			}
			set.Add(first + uint64(missing))
			if id, ok := set.FirstRun(0, n); !ok || id != first {
				t.Fatalf("FirstRun(0, %d) = %d, %t after %d of it came back", n, id, ok, missing)
			}
		}
	}
}
