// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stackbench

import (
	"math"
	"math/rand/v2"
)

// Seed is that of all draws.
const Seed = 48

// sizes are the distributions of sizes.
var sizes = map[string]func(r *rand.Rand, most int64) int64{
	"uniform": func(r *rand.Rand, most int64) int64 { return r.Int64N(most + 1) },
	"fixed":   func(_ *rand.Rand, most int64) int64 { return most },
	"gamma":   gamma,
	"bimodal": func(r *rand.Rand, most int64) int64 {
		if r.Float64() < 0.1 {
			return most
		}
		return 16
	},
}

// gamma has shape 2, so that it is the sum of two exponential distributions, and scale most/4.
func gamma(r *rand.Rand, most int64) int64 {
	return int64(math.Round(float64(most) / 4 * (r.ExpFloat64() + r.ExpFloat64())))
}

// kind is what an operation is.
type kind uint8

const (
	opAlloc kind = iota
	opRealloc
	opFree
)

// op is an operation on regions that are numbered from 0 on. The last one takes the place of one that is freed.
type op struct {
	kind   kind
	region int   // for opRealloc and opFree
	size   int64 // for opAlloc and opRealloc
}

// Plan is what one goroutine does.
type Plan struct {
	live []int64 // sizes of the regions that there are at first
	ops  []op
}

// Plans draws the decisions of all goroutines.
func (w Workload) Plans() []Plan {
	plans := make([]Plan, w.Threads)
	for i := range plans {
		plans[i] = w.plan(rand.New(rand.NewPCG(Seed, uint64(i))), w.share(w.Live, i), w.share(w.Ops, i))
	}
	return plans
}

func (w Workload) plan(r *rand.Rand, live, ops int) Plan {
	size, m := sizes[w.Sizes], mixes[w.Mix]
	p := Plan{live: make([]int64, live), ops: make([]op, ops)}
	for i := range p.live {
		p.live[i] = size(r, w.Max)
	}
	for i := range p.ops {
		o := op{kind: m.draw(r)}
		if live == 0 {
			o.kind = opAlloc // there is nothing else to be done
		}
		if o.kind != opAlloc {
			o.region = r.IntN(live)
		}
		if o.kind != opFree {
			o.size = size(r, w.Max)
		}
		switch o.kind {
		case opAlloc:
			live++
		case opFree:
			live--
		}
		p.ops[i] = o
	}
	return p
}

func (m mix) draw(r *rand.Rand) kind {
	switch n := r.IntN(m.alloc + m.realloc + m.free); {
	case n < m.alloc:
		return opAlloc
	case n < m.alloc+m.realloc:
		return opRealloc
	}
	return opFree
}
