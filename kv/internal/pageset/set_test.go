// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package pageset_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/kv/internal/pageset"
)

// model is the simple definition of a set.
type model map[uint64]bool

func (m model) sorted() []uint64 { return slices.Sorted(maps.Keys(m)) }

// firstRun scans the sorted list from its low end.
func (m model) firstRun(from uint64, n int) (uint64, bool) {
	length := 0
	for _, id := range m.sorted() {
		switch {
		case id < from:
			continue
		case length > 0 && m[id-1]:
			length++
		default:
			length = 1
		}
		if length == n {
			return id - uint64(n) + 1, true
		}
	}
	return 0, false
}

// next scans the sorted list for the first id not below from.
func (m model) next(from uint64) (uint64, bool) {
	for _, id := range m.sorted() {
		if id >= from {
			return id, true
		}
	}
	return 0, false
}

// limit is low enough for runs to meet and high enough for a second word in the summaries.
const limit = 70 * 64

// drawID favours ids around the ends of words.
func drawID(t *rapid.T, name string) uint64 {
	if rapid.Bool().Draw(t, name+" near the end of a word") {
		near := rapid.Uint64Range(1, limit/64-1).Draw(t, name+"/64")*64 + rapid.Uint64Range(0, 4).Draw(t, name+"%64")
		return near - 2
	}
	return rapid.Uint64Range(0, limit-1).Draw(t, name)
}

// drawLength favours the lengths allocated most, and covers those that need whole words.
func drawLength(t *rapid.T) int {
	return rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(10, 66), rapid.IntRange(120, 400)).Draw(t, "n")
}

func TestSetMatchesModel(t *testing.T) {
	rapid.Check(t, testSetMatchesModel)
}

func FuzzSetMatchesModel(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(testSetMatchesModel))
}

func testSetMatchesModel(t *rapid.T) {
	set, ids := new(pageset.Set), model{}
	set.Grow(limit)
	t.Repeat(map[string]func(*rapid.T){
		"": func(t *rapid.T) {
			if err := set.Check(); err != nil {
				t.Fatal(err)
			}
			if set.Len() != len(ids) {
				t.Fatalf("Len() = %d, want %d", set.Len(), len(ids))
			}
		},
		"add": func(t *rapid.T) {
			id := drawID(t, "id")
			if got := set.Add(id); got == ids[id] {
				t.Fatalf("Add(%d) = %t, but membership was %t", id, got, ids[id])
			}
			ids[id] = true
		},
		"remove": func(t *rapid.T) {
			id := drawID(t, "id")
			if got := set.Remove(id); got != ids[id] {
				t.Fatalf("Remove(%d) = %t, but membership was %t", id, got, ids[id])
			}
			delete(ids, id)
		},
		"add a run": func(t *rapid.T) {
			id, n := drawID(t, "id"), drawLength(t)
			n = min(n, limit-int(id))
			before := len(ids)
			for i := range n {
				ids[id+uint64(i)] = true
			}
			if got, want := set.AddRun(id, n), len(ids)-before; got != want {
				t.Fatalf("AddRun(%d, %d) = %d, want %d", id, n, got, want)
			}
		},
		"remove a run": func(t *rapid.T) {
			id, n := drawID(t, "id"), drawLength(t)
			before := len(ids)
			for i := range n {
				delete(ids, id+uint64(i))
			}
			if got, want := set.RemoveRun(id, n), before-len(ids); got != want {
				t.Fatalf("RemoveRun(%d, %d) = %d, want %d", id, n, got, want)
			}
		},
		"take the first run": func(t *rapid.T) {
			n := drawLength(t)
			id, ok := set.FirstRun(0, n)
			wantID, wantOK := ids.firstRun(0, n)
			if id != wantID || ok != wantOK {
				t.Fatalf("FirstRun(0, %d) = %d, %t, want %d, %t", n, id, ok, wantID, wantOK)
			}
			if !ok {
				return
			}
			if got := set.RemoveRun(id, n); got != n {
				t.Fatalf("the run of %d at %d had %d members", n, id, got)
			}
			for i := range n {
				delete(ids, id+uint64(i))
			}
		},
		"find a run": func(t *rapid.T) {
			from, n := drawID(t, "from"), drawLength(t)
			id, ok := set.FirstRun(from, n)
			wantID, wantOK := ids.firstRun(from, n)
			if id != wantID || ok != wantOK {
				t.Fatalf("FirstRun(%d, %d) = %d, %t, want %d, %t", from, n, id, ok, wantID, wantOK)
			}
		},
		"look up": func(t *rapid.T) {
			id := drawID(t, "id")
			if got := set.Has(id); got != ids[id] {
				t.Fatalf("Has(%d) = %t, want %t", id, got, ids[id])
			}
			next, ok := set.Next(id)
			if want, wantOK := ids.next(id); next != want || ok != wantOK {
				t.Fatalf("Next(%d) = %d, %t, want %d, %t", id, next, ok, want, wantOK)
			}
		},
		"list": func(t *rapid.T) {
			if got, want := slices.Collect(set.All()), ids.sorted(); !slices.Equal(got, want) {
				t.Fatalf("All() yields %d, want %d", got, want)
			}
		},
		"go on with a copy": func(t *rapid.T) {
			var left *pageset.Set
			if rapid.Bool().Draw(t, "clone") {
				set, left = set.Clone(), set
			} else {
				other := new(pageset.Set)
				other.Grow(2 * limit)
				other.AddRun(drawID(t, "other"), 300)
				other.FirstRun(0, 20)
				other.CopyFrom(set)
				set, left = other, set
			}
			left.Clear()
			if err := left.Check(); err != nil || left.Len() != 0 {
				t.Fatalf("after Clear: Len() = %d, %v", left.Len(), err)
			}
		},
	})
}

func TestZeroSet(t *testing.T) {
	var set pageset.Set
	if set.Has(0) || set.Remove(5) || set.RemoveRun(5, 5) != 0 || set.Len() != 0 || set.Limit() != 0 {
		t.Error("the zero set has members")
	}
	if id, ok := set.Next(0); ok {
		t.Errorf("Next(0) = %d", id)
	}
	for _, n := range []int{1, 2, 64, 1000} {
		if id, ok := set.FirstRun(0, n); ok {
			t.Errorf("FirstRun(0, %d) = %d", n, id)
		}
	}
	if set.AddRun(9, 0) != 0 || set.AddRun(9, -1) != 0 || set.RemoveRun(0, -1) != 0 {
		t.Error("a run of no ids changed the set")
	}
}

func TestGrowKeepsMembers(t *testing.T) {
	var set pageset.Set
	for end := uint64(1); end < 100_000; end += end/3 + 1 {
		set.Grow(end)
		if set.Limit() < end || set.Limit() >= end+64 {
			t.Fatalf("Limit() = %d after Grow(%d)", set.Limit(), end)
		}
		if id, ok := set.Next(end - 1); ok {
			t.Fatalf("Grow(%d) brought %d", end, id)
		}
		set.Add(end - 1)
		if err := set.Check(); err != nil {
			t.Fatal(err)
		}
	}
	before := set.Limit()
	set.Grow(10)
	if set.Limit() != before {
		t.Errorf("Grow took room away: limit %d, then %d", before, set.Limit())
	}
}

func TestBeyondTheLimit(t *testing.T) {
	set := new(pageset.Set)
	set.Grow(128)
	const huge = ^uint64(0)
	for name, add := range map[string]func(){
		"Add at the limit":       func() { set.Add(128) },
		"Add far beyond":         func() { set.Add(huge) },
		"AddRun across":          func() { set.AddRun(120, 9) },
		"AddRun that overflows":  func() { set.AddRun(huge, 2) },
		"FirstRun of no ids":     func() { set.FirstRun(0, 0) },
		"FirstRun of a negative": func() { set.FirstRun(0, -1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
				if err := set.Check(); err != nil || set.Len() != 0 {
					t.Errorf("the set changed: %d members, %v", set.Len(), err)
				}
			}()
			add()
		})
	}
	set.AddRun(100, 28)
	if set.Has(huge) || set.Remove(huge) || set.RemoveRun(huge, 3) != 0 {
		t.Error("an id beyond the limit is a member")
	}
	if removed := set.RemoveRun(126, 1000); removed != 2 {
		t.Errorf("RemoveRun across the limit removed %d, want 2", removed)
	}
	if id, ok := set.FirstRun(huge, 2); ok {
		t.Errorf("FirstRun beyond the limit = %d", id)
	}
}

func TestAllStopsEarly(t *testing.T) {
	set := new(pageset.Set)
	set.Grow(1000)
	set.AddRun(10, 500)
	var seen []uint64
	for id := range set.All() {
		seen = append(seen, id)
		set.Remove(id)
		if len(seen) == 3 {
			break
		}
	}
	if want := []uint64{10, 11, 12}; !slices.Equal(seen, want) || set.Len() != 497 {
		t.Errorf("saw %d, %d left", seen, set.Len())
	}
}

// TestHotPathsDoNotAllocate covers what a commit does per page.
func TestHotPathsDoNotAllocate(t *testing.T) {
	set, other := fragmented(t, 100_000), fragmented(t, 90_000)
	dst := make([]byte, 100_000*pageset.IDSize)
	n := pageset.PutUnion(dst, set, set)
	encoded := slices.Clone(dst[:n*pageset.IDSize])
	for name, f := range map[string]func(){
		"Add and Remove":       func() { set.Add(501); set.Remove(501) },
		"AddRun and RemoveRun": func() { set.AddRun(500, 300); set.RemoveRun(500, 300) },
		"FirstRun":             func() { set.Add(501); set.FirstRun(0, 1); set.FirstRun(0, 8); set.FirstRun(0, 500) },
		"Next":                 func() { set.Next(77_777) },
		"Grow":                 func() { set.Grow(100_000) },
		"CopyFrom and Clear":   func() { other.CopyFrom(set); other.Clear() },
		"PutUnion":             func() { pageset.PutUnion(dst, set, other) },
		"Load":                 func() { other.Clear(); _ = other.Load(encoded, 100_000) },
		"All": func() {
			for range set.All() {
				continue
			}
		},
	} {
		if got := testing.AllocsPerRun(10, f); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}
