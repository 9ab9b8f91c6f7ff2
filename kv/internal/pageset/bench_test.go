// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package pageset_test

import (
	"math/rand/v2"
	"testing"

	"github.com/holtdb/holt/kv/internal/pageset"
)

// fragmented returns a set of about half the ids in [1000, pages), in runs of 1 to 7 ids.
func fragmented(tb testing.TB, pages uint64) *pageset.Set {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	set := new(pageset.Set)
	set.Grow(pages)
	for id := uint64(1000); id < pages; {
		n := min(random.Uint64N(7)+1, pages-id)
		set.AddRun(id, int(n))
		id += n + random.Uint64N(7) + 1
	}
	return set
}

// sparse returns a set of n of the ids in [2, pages), chosen at random.
func sparse(tb testing.TB, n, pages int) *pageset.Set {
	tb.Helper()
	set := new(pageset.Set)
	set.Grow(uint64(pages))
	for _, id := range rand.New(rand.NewPCG(3, 4)).Perm(pages - 2)[:n] {
		set.Add(uint64(id) + 2)
	}
	return set
}

func BenchmarkPutUnion(b *testing.B) {
	free, pending := sparse(b, 200_000, 270_000), sparse(b, 2_000, 270_000)
	dst := make([]byte, (free.Len()+pending.Len())*pageset.IDSize)
	b.SetBytes(int64(len(dst)))
	for b.Loop() {
		pageset.PutUnion(dst, free, pending)
	}
}

// BenchmarkFirstRun takes runs until there are none, which searches the whole set once, and is reported per run taken.
func BenchmarkFirstRun(b *testing.B) {
	for _, bench := range []struct {
		name string
		n    int
	}{{"n=1", 1}, {"n=3", 3}, {"n=8", 8}, {"n=500", 500}} {
		b.Run(bench.name, func(b *testing.B) {
			whole := fragmented(b, 270_000)
			for id := uint64(2000); id < 270_000-10_000; id += 10_000 {
				whole.AddRun(id, bench.n+2)
			}
			set := whole.Clone()
			for b.Loop() {
				id, ok := set.FirstRun(0, bench.n)
				if ok {
					set.RemoveRun(id, bench.n)
				} else {
					set.CopyFrom(whole)
					set.Add(1)
				}
			}
		})
	}
}

// BenchmarkFirstRunFails searches for what is not there after an addition has made the search necessary.
func BenchmarkFirstRunFails(b *testing.B) {
	for _, bench := range []struct {
		name string
		n    int
	}{{"n=8", 8}, {"n=100", 100}, {"n=500", 500}} {
		b.Run(bench.name, func(b *testing.B) {
			set := fragmented(b, 270_000)
			for b.Loop() {
				set.Add(100)
				if id, ok := set.FirstRun(0, bench.n); ok {
					b.Fatalf("found %d", id)
				}
				set.Remove(100)
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	from := sparse(b, 214_000, 270_000)
	list := make([]byte, from.Len()*pageset.IDSize)
	pageset.PutUnion(list, from, from)
	b.SetBytes(int64(len(list)))
	set := new(pageset.Set)
	for b.Loop() {
		set.Clear()
		if err := set.Load(list, 270_000); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddRemove(b *testing.B) {
	set := fragmented(b, 270_000)
	for b.Loop() {
		set.Add(501)
		set.Remove(501)
	}
}
