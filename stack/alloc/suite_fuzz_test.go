// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack/alloc"
)

// The workloads with which bstack tests its allocators, as large in the long form.

// random is a world that makes random operations, one after the other.
type random struct {
	*world
	t           rapid.TB
	d           dice
	adversarial int // percent
}

func newRandom(t rapid.TB, k *kind, fs file.FS, seed uint64) *random {
	t.Helper()
	t.Logf("seed %d", seed)
	w := newWorld(k, fs)
	w.opts.NoSync = true
	check(t, w.open())
	return &random{w, t, newDice(seed), 0}
}

// pick is the index of a live region, of the last one in the file more often than of others.
func (r *random) pick() int {
	return r.choose(op{pick: r.d.draw("pick", 1<<20), last: r.d.draw("last", 16) == 0})
}

// store fills a region as a program would, or with bytes of the arena.
func (r *random) store(i int) error {
	return r.do(r.t, op{
		verb: doWrite, pick: i, n: r.live[i].r.Len, seed: byte(r.d.draw("seed", 256)),
		copied: r.d.draw("adversarial", 100) < r.adversarial, from: r.d.draw("from", 1<<20),
	})
}

// alloc allocates up to most bytes and fills them.
func (r *random) allocate(v verb, most int) error {
	n := len(r.live)
	if err := r.do(r.t, op{verb: v, n: int64(r.d.draw("length", most+1))}); err != nil || len(r.live) == n {
		return err
	}
	return r.store(n)
}

// realloc resizes a region, which must keep its bytes, and fills it.
func (r *random) reallocate(v verb, most int) error {
	if len(r.live) == 0 {
		return nil
	}
	i, n := r.pick(), len(r.live)
	if err := r.do(r.t, op{verb: v, pick: i, n: int64(r.d.draw("length", most+1))}); err != nil || len(r.live) < n {
		return err
	}
	return r.store(i)
}

// free looks whether a region holds what it has to, and frees it.
func (r *random) free() error {
	if len(r.live) == 0 {
		return nil
	}
	i := r.pick()
	r.holds(i)
	return r.do(r.t, op{verb: doFree, pick: i})
}

func (r *random) holds(i int) {
	r.t.Helper()
	got, err := read(r.a, r.live[i].r)
	check(r.t, err)
	same(r.t, "region "+r.live[i].r.String(), got, r.live[i].data)
}

// empty frees everything.
func (r *random) empty() {
	r.t.Helper()
	for len(r.live) > 0 {
		check(r.t, r.free())
	}
	r.verify(r.t)
	check(r.t, r.close())
}

// seedOf tells the seeds of the runs of a test from each other.
func seedOf(run int) uint64 { return 48 + uint64(run) }

func TestFuzzAllocFree(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		r := newRandom(t, k, file.NewMemory(), seedOf(1))
		for step := range times(500, 10_000) {
			if r.d.draw("what", 10) < 7 {
				check(t, r.allocate(doAlloc, 1024))
			} else {
				check(t, r.free())
			}
			r.verifyNow(step)
		}
		r.empty()
	})
}

// verifyNow verifies everything now and then.
func (r *random) verifyNow(step int) {
	if step%100 == 99 {
		r.verify(r.t)
	}
}

func TestFuzzRealloc(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		r := newRandom(t, k, file.NewMemory(), seedOf(2))
		for step := range times(500, 10_000) {
			switch n := r.d.draw("what", 100); {
			case n < 60:
				check(t, r.allocate(doAlloc, 1024))
			case n < 92:
				check(t, r.reallocate(doRealloc, 1024))
			default:
				check(t, r.free())
			}
			r.verifyNow(step)
		}
		r.empty()
	})
}

func TestFuzzReopen(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		r := newRandom(t, k, file.NewMemory(), seedOf(3))
		for range times(5, 20) {
			check(t, r.do(t, op{verb: doReopen}))
			r.verify(t)
			for range 100 {
				switch r.d.draw("what", 4) {
				case 0:
					check(t, r.allocate(doAlloc, 512))
				case 1:
					check(t, r.reallocate(doRealloc, 512))
				case 2:
					check(t, r.free())
				case 3:
					if len(r.live) > 0 {
						r.holds(r.pick())
					}
				}
			}
		}
		r.empty()
	})
}

// suites are the weighted workloads: how regions are allocated and resized in them.
var suites = []struct {
	name           string
	alloc, realloc verb
}{
	{"init", doAlloc, doRealloc},
	{"uninit", doAllocUninit, doReallocUninit},
	{"inplace", doAlloc, doResize},
}

// weighted makes one operation: alloc 45, realloc 20, free 15, check 15, reopen 5.
func (r *random) weighted(alloc, realloc verb) error {
	switch n := r.d.draw("what", 100); {
	case n < 45:
		return r.allocate(alloc, 1024)
	case n < 65 && realloc == doResize:
		return r.move()
	case n < 65:
		return r.reallocate(realloc, 1024)
	case n < 80:
		return r.free()
	case n < 95:
		if len(r.live) > 0 {
			r.holds(r.pick())
		}
		return nil
	}
	return r.do(r.t, op{verb: doReopen})
}

// move moves the ends of a region, and fills it.
func (r *random) move() error {
	if len(r.live) == 0 {
		return nil
	}
	i := r.pick()
	h := habit{most: 512}
	o := op{verb: doResize, pick: i}
	o.a, o.b = h.ends(r.d)
	if err := r.do(r.t, o); err != nil {
		return err
	}
	return r.store(i)
}

func TestFuzzWeighted(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		for i, c := range suites {
			t.Run(c.name, func(t *testing.T) {
				r := newRandom(t, k, file.NewMemory(), seedOf(10+i))
				r.adversarial = 25
				for step := range times(500, 10_000) {
					check(t, r.weighted(c.alloc, c.realloc))
					r.verifyNow(step)
				}
				r.empty()
			})
		}
	})
}

// The same with calls that fail: nothing is lost but what was under way when the handle failed, and that is got back
// from those that are known to live.
func TestFuzzWeightedWithFaults(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		for i, c := range suites {
			t.Run(c.name, func(t *testing.T) {
				fault := file.NewFault(file.NewMemory())
				r := newRandom(t, k, fault, seedOf(20+i))
				r.adversarial = 25
				failed := 0
				for range times(500, 10_000) {
					fault.FailIf(r.failing())
					live := r.live
					err := r.faulty(fault, c.alloc, c.realloc)
					fault.FailIf(nil)
					if err == nil {
						live = r.live
					} else {
						refused(t, "an operation", err, file.ErrInjected)
						failed++
					}
					if r.failed() {
						r.recover(live)
					}
					if err != nil && failed%times(1, 20) == 0 {
						r.verify(t)
					}
				}
				if failed == 0 {
					t.Error("nothing failed")
				}
				r.empty()
			})
		}
	})
}

// failing is a rule by which calls fail at random, except reads, which the test itself makes.
func (r *random) failing() func(file.Op) error {
	luck := newDice(uint64(r.d.draw("luck", 1<<20)))
	return func(op file.Op) error {
		if op.Kind != file.OpRead && op.Kind != file.OpReadVec && luck.draw("fails", 50) == 0 {
			return file.ErrInjected
		}
		return nil
	}
}

// faulty is weighted in single operations. Closing and opening do not fail.
func (r *random) faulty(fault *file.Fault, alloc, realloc verb) error {
	n := r.d.draw("what", 100)
	i := 0
	if len(r.live) > 0 {
		i = r.pick()
	}
	length := int64(1 + r.d.draw("length", 1024))
	o := op{verb: alloc, n: length}
	switch {
	case n < 40:
	case n < 55:
		h := habit{most: 512}
		o = op{verb: realloc, pick: i, n: length}
		o.a, o.b = h.ends(r.d)
	case n < 75:
		o = op{verb: doFree, pick: i}
	case n < 95:
		o = op{verb: doWrite, pick: i, n: length, seed: byte(n)}
	default:
		fault.FailIf(nil)
		o = op{verb: doReopen}
	}
	return r.do(r.t, o)
}

// recover opens a stack that has failed, and makes everything free that was not live for sure, or not any more.
func (r *random) recover(live []piece) {
	r.t.Helper()
	check(r.t, r.close())
	r.live = live
	check(r.t, r.open())
	payload := mustPeek(r.t, r.a.Stack())
	wrong := 0
	r.live = slices.DeleteFunc(r.live, func(p piece) bool {
		ok := p.r.End() <= int64(len(payload)) && string(payload[p.r.Off:p.r.End()]) == string(p.data)
		if !ok {
			wrong++
		}
		return !ok
	})
	if wrong > 1 {
		r.t.Fatalf("%d regions were lost", wrong)
	}
	_, err := r.a.Reclaim(r.regions())
	check(r.t, err)
}

func (w *world) regions() (rs []alloc.Region) {
	for _, p := range w.live {
		rs = append(rs, p.r)
	}
	return rs
}

// What is not named as live is free afterwards, and what is holds what it did.
func TestReclaim(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		for seed := range uint64(times(10, 100)) {
			disk, live := prepared(t, k, seed)
			w := newWorld(k, disk)
			w.live = live
			check(t, w.open())
			d := newDice(seed)
			before, err := w.a.Stats()
			check(t, err)
			w.live = slices.DeleteFunc(w.live, func(piece) bool { return d.draw("forget", 2) == 0 })
			n, err := w.a.Reclaim(w.regions())
			check(t, err)
			w.verify(t)
			after, err := w.a.Stats()
			check(t, err)
			if n != before.Used-after.Used {
				t.Errorf("seed %d: reclaimed %d bytes; %d were used before, and %d are now", seed, n, before.Used, after.Used)
			}
			if n, err = w.a.Reclaim(w.regions()); n != 0 || err != nil {
				t.Errorf("seed %d: reclaimed %d bytes more, %v", seed, n, err)
			}
			for range 20 {
				check(t, w.do(t, everything.op(d)))
				w.verify(t)
			}
			check(t, w.close())
		}
	})
}
