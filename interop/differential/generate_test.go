// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// names is the alphabet of buckets and, in part, of keys: that they meet makes
// calls fail for want of the right kind of element.
var names = []string{"a", "b", "c", "k"}

// weighted picks among generators in proportion to their weights.
func weighted[T any](choices ...choice[T]) *rapid.Generator[T] {
	var pool []*rapid.Generator[T]
	for _, c := range choices {
		for range c.weight {
			pool = append(pool, c.gen)
		}
	}
	return rapid.OneOf(pool...)
}

type choice[T any] struct {
	weight int
	gen    *rapid.Generator[T]
}

// pathOf draws a bucket at most maxLen deep. It favours few of them, which so
// grow several levels deep and meet in moves and deletions.
func pathOf(minLen, maxLen int) *rapid.Generator[path] {
	anywhere := rapid.Custom(func(t *rapid.T) path {
		return rapid.SliceOfN(rapid.SampledFrom(names[:3]), minLen, maxLen).Draw(t, "path")
	})
	return weighted(
		choice[path]{5, rapid.Just(path{"a"})},
		choice[path]{2, rapid.Just(path{"b"})},
		choice[path]{2, rapid.Just(path{"a", "b"})},
		choice[path]{3, anywhere},
	)
}

// anyBucket is rarely the root.
var anyBucket = weighted(
	choice[path]{20, pathOf(1, 3)},
	choice[path]{1, rapid.Just(path{})},
)

// sliceOf draws slices of about twenty elements that may shrink to none:
// rapid's own are about six long.
func sliceOf[T any](elem *rapid.Generator[T], average int) *rapid.Generator[[]T] {
	return rapid.Custom(func(t *rapid.T) []T {
		parts := rapid.SliceOfN(rapid.SliceOf(elem), 0, average/3).Draw(t, "parts")
		return slices.Concat(parts...)
	})
}

// keyBytes are the single keys: mostly short, now and then at a limit.
var keyBytes = weighted(
	choice[string]{40, rapid.StringOfN(rapid.RuneFrom([]rune("abk0")), 1, 3, -1)},
	choice[string]{6, rapid.StringOfN(rapid.RuneFrom([]rune("\x00z0")), 1, 2, -1)},
	choice[string]{2, rapid.Map(rapid.IntRange(100, 3000), longKey)},
	choice[string]{1, rapid.Map(rapid.SampledFrom([]int{32767, 32768, 32769}), longKey)},
	choice[string]{1, rapid.Just("")},
)

func longKey(n int) string { return strings.Repeat("k", n) }

// keyRuns draws the keys of one op.
var keyRuns = func() *rapid.Generator[keyRun] {
	one := rapid.Map(keyBytes, func(k string) keyRun { return keyRun{prefix: k, n: 1} })
	many := rapid.Custom(func(t *rapid.T) keyRun {
		return keyRun{
			prefix: rapid.SampledFrom([]string{"", "a", "k"}).Draw(t, "prefix"),
			n:      rapid.SampledFrom([]int{2, 5, 20, 60, 150, 400}).Draw(t, "keys"),
			from:   rapid.IntRange(0, 300).Draw(t, "from"),
			stride: rapid.SampledFrom([]int{1, 1, 2, 7, 7919, 10006}).Draw(t, "stride"),
		}
	})
	return weighted(choice[keyRun]{2, one}, choice[keyRun]{1, many})
}()

// valueUpTo draws a value of at most limit bytes.
func valueUpTo(limit int) *rapid.Generator[value] {
	sized := func(lo, hi int) *rapid.Generator[value] {
		return rapid.Custom(func(t *rapid.T) value {
			return value{size: rapid.IntRange(min(lo, limit), min(hi, limit)).Draw(t, "size"), tag: rapid.Byte().Draw(t, "tag")}
		})
	}
	return weighted(
		choice[value]{1, rapid.Just(value{isNil: true})},
		choice[value]{1, rapid.Just(value{})},
		choice[value]{12, sized(1, 40)},
		choice[value]{4, sized(40, 1000)},
		choice[value]{1, sized(1000, limit)},
	)
}

// putOf bounds the bytes of one op: long runs get short values.
func putOf(at *rapid.Generator[path], pageSize int) *rapid.Generator[op] {
	return rapid.Custom(func(t *rapid.T) op {
		keys := keyRuns.Draw(t, "keys")
		limit := 5*pageSize + 100
		if keys.n > 1 {
			limit = 4 * pageSize / keys.n
		}
		return put{at.Draw(t, "at"), keys, valueUpTo(max(limit, 60)).Draw(t, "value")}
	})
}

func dels(at *rapid.Generator[path]) *rapid.Generator[op] {
	return rapid.Custom(func(t *rapid.T) op { return del{at.Draw(t, "at"), keyRuns.Draw(t, "keys")} })
}

func gets(at *rapid.Generator[path]) *rapid.Generator[op] {
	return rapid.Custom(func(t *rapid.T) op { return get{at.Draw(t, "at"), keyRuns.Draw(t, "keys")} })
}

func sequences(at *rapid.Generator[path]) *rapid.Generator[op] {
	return rapid.Custom(func(t *rapid.T) op {
		o := sequence{at: at.Draw(t, "at"), next: rapid.Bool().Draw(t, "next")}
		if !o.next {
			o.to = rapid.Uint64().Draw(t, "to")
		}
		return o
	})
}

func fills(at *rapid.Generator[path]) *rapid.Generator[op] {
	return rapid.Custom(func(t *rapid.T) op {
		percents := []float64{0.5, 0.9, 1, 0.1, 0.3, 0, 2, -1}
		return fill{at.Draw(t, "at"), rapid.SampledFrom(percents).Draw(t, "percent")}
	})
}

func lists(at *rapid.Generator[path]) *rapid.Generator[op] {
	return rapid.Custom(func(t *rapid.T) op {
		return list{at.Draw(t, "at"), rapid.Bool().Draw(t, "buckets"), rapid.SampledFrom([]int{0, 0, 1, 5}).Draw(t, "limit")}
	})
}

func measures(at *rapid.Generator[path]) *rapid.Generator[op] {
	return rapid.Custom(func(t *rapid.T) op { return measure{at.Draw(t, "at")} })
}

func scans(at *rapid.Generator[path]) *rapid.Generator[op] {
	return rapid.Custom(func(t *rapid.T) op { return scan{at.Draw(t, "at")} })
}

// bucketNames rarely are empty or longer than any key may be.
var bucketNames = weighted(
	choice[string]{30, rapid.SampledFrom(names)},
	choice[string]{1, rapid.Just("")},
	choice[string]{1, rapid.Map(rapid.SampledFrom([]int{2000, 40000}), longKey)},
)

func creates(parent *rapid.Generator[path]) *rapid.Generator[op] {
	return rapid.Custom(func(t *rapid.T) op {
		return create{at: parent.Draw(t, "at"), name: bucketNames.Draw(t, "name"), mayExist: rapid.Bool().Draw(t, "may exist")}
	})
}

// childOf draws a bucket by its parent and its name: often one that exists.
func childOf(parent *rapid.Generator[path]) *rapid.Generator[path] {
	return weighted(
		choice[path]{3, pathOf(1, 3)},
		choice[path]{1, rapid.Custom(func(t *rapid.T) path {
			return parent.Draw(t, "parent").child(bucketNames.Draw(t, "name"))
		})},
	)
}

func drops(parent *rapid.Generator[path]) *rapid.Generator[op] {
	return rapid.Map(childOf(parent), func(p path) op { return drop{p[:len(p)-1], p[len(p)-1]} })
}

func moves(parent *rapid.Generator[path]) *rapid.Generator[op] {
	return rapid.Custom(func(t *rapid.T) op {
		p := childOf(parent).Draw(t, "bucket")
		return move{p[:len(p)-1], p[len(p)-1], parent.Draw(t, "to")}
	})
}

func walks(at *rapid.Generator[path]) *rapid.Generator[op] {
	moveOf := rapid.Custom(func(t *rapid.T) cursorMove {
		calls := []string{"First", "Last", "Seek", "Seek", "Next", "Next", "Next", "Prev", "Prev", "Delete", "Delete"}
		m := cursorMove{call: rapid.SampledFrom(calls).Draw(t, "call"), times: 1}
		switch m.call {
		case "Seek":
			m.key = weighted(
				choice[string]{2, keyBytes},
				choice[string]{1, rapid.StringMatching(`[ak]?0[0-3][0-9][0-9]`)},
			).Draw(t, "key")
		case "Next", "Prev":
			m.times = rapid.SampledFrom([]int{1, 1, 1, 2, 3, 30}).Draw(t, "times")
		}
		return m
	})
	return rapid.Custom(func(t *rapid.T) op {
		return walk{at.Draw(t, "at"), rapid.SliceOfN(moveOf, 1, 15).Draw(t, "moves")}
	})
}

// anyOp draws the ops of histories that may touch any bucket.
func anyOp(pageSize int) *rapid.Generator[op] {
	parent := pathOf(0, 2)
	return weighted(
		choice[op]{12, putOf(anyBucket, pageSize)},
		choice[op]{7, dels(anyBucket)},
		choice[op]{3, gets(anyBucket)},
		choice[op]{2, sequences(pathOf(1, 3))},
		choice[op]{1, fills(anyBucket)},
		choice[op]{2, lists(anyBucket)},
		choice[op]{2, measures(anyBucket)},
		choice[op]{2, scans(anyBucket)},
		choice[op]{3, creates(parent)},
		choice[op]{3, drops(parent)},
		choice[op]{3, moves(parent)},
		choice[op]{6, walks(anyBucket)},
	)
}

var pageSizes = []int{1024, 1024, 1024, 2048, 4096, 4096, 8192, 16384, 32768, 65536, 1536}

func anyOptions() *rapid.Generator[options] {
	return rapid.Custom(func(t *rapid.T) options {
		return options{
			mmapSize:       rapid.SampledFrom([]int{0, 0, 1 << 20}).Draw(t, "mmap size"),
			noFreelistSync: rapid.Bool().Draw(t, "no freelist sync"),
			hashmap:        rapid.Bool().Draw(t, "hashmap"),
			noGrowSync:     rapid.Bool().Draw(t, "no grow sync"),
			noStatistics:   rapid.Bool().Draw(t, "no statistics"),
		}
	})
}

// anyHistory draws a history of all kinds of steps.
var anyHistory = rapid.Custom(func(t *rapid.T) history {
	h := history{opts: anyOptions().Draw(t, "options")}
	h.opts.pageSize = rapid.SampledFrom(pageSizes).Draw(t, "page size")
	h.opts.boltPlacement = rapid.Bool().Draw(t, "bolt placement")
	h.steps = sliceOf(anyStep(h.opts.pageSize), 15).Draw(t, "steps")
	return h
})

func anyStep(pageSize int) *rapid.Generator[step] {
	ops := sliceOf(anyOp(pageSize), 12)
	return weighted(
		choice[step]{24, rapid.Custom(func(t *rapid.T) step {
			return write{rapid.SampledFrom(endings).Draw(t, "ending"), ops.Draw(t, "ops")}
		})},
		choice[step]{3, rapid.Custom(func(t *rapid.T) step { return view{ops.Draw(t, "ops")} })},
		choice[step]{3, rapid.Just[step](hold{})},
		choice[step]{4, rapid.Custom(func(t *rapid.T) step {
			return revisit{rapid.IntRange(0, maxReaders-1).Draw(t, "reader"), rapid.Bool().Draw(t, "end"), ops.Draw(t, "ops")}
		})},
		choice[step]{2, rapid.Custom(func(t *rapid.T) step { return reopen{anyOptions().Draw(t, "options")} })},
		choice[step]{1, rapid.Custom(func(t *rapid.T) step {
			return inspect{rapid.Bool().Draw(t, "preload"), ops.Draw(t, "ops")}
		})},
		choice[step]{2, rapid.Custom(func(t *rapid.T) step { return checkpoint{rapid.Bool().Draw(t, "via writer")} })},
		choice[step]{1, rapid.Custom(func(t *rapid.T) step {
			return compact{rapid.SampledFrom([]int64{0, 1, 1000, 65536}).Draw(t, "limit")}
		})},
	)
}
