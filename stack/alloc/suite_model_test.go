// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/internal/fixture"
)

// drawn is the chance of rapid.
type drawn struct{ t *rapid.T }

func (d drawn) draw(what string, n int) int { return rapid.IntRange(0, n-1).Draw(d.t, what) }

// Whatever is done, in whatever order: regions hold what was written to them, do not overlap, and nothing is lost.
func TestModel(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		rapid.Check(t, func(t *rapid.T) { model(t, k) })
	})
}

func FuzzModel(f *testing.F) {
	fixture.Draws(f)
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		model(t, rapid.SampledFrom(pointers(kinds)).Draw(t, "kind"))
	}))
}

func pointers[T any](all []T) (list []*T) {
	for i := range all {
		list = append(list, &all[i])
	}
	return list
}

func model(t *rapid.T, k *kind) {
	w := newWorld(k, file.NewMemory())
	check(t, w.open())
	actions := map[string]func(*rapid.T){"": func(t *rapid.T) { w.verify(t) }}
	for v := range verbs {
		if everything.weights[v] > 0 {
			actions[v.String()] = func(t *rapid.T) {
				check(t, w.do(t, everything.opOf(drawn{t}, v)))
			}
		}
	}
	t.Repeat(actions)
	for len(w.live) > 0 { // to the last
		check(t, w.do(t, op{verb: doFree, pick: rapid.IntRange(0, len(w.live)-1).Draw(t, "free")}))
		w.verify(t)
	}
	check(t, w.close())
}
