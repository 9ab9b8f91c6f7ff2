// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// dice are the chance of a seed.
type dice struct{ r *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 0))} }

func (d dice) draw(_ string, n int) int { return d.r.IntN(n) }

// state is what a file holds at rest.
type state struct {
	payload []byte
	live    []piece
}

// history is what is done to a file, and what it holds after each operation if nothing goes wrong. States follow from
// the operations, so that any run that makes them all has to pass through the same.
type history struct {
	name   string
	kind   *kind
	base   *file.Crash // before the first
	ops    []op
	states []state // one more than operations
}

// scattered is the habit that leaves small free blocks between live ones.
var scattered = habit{weights: [verbs]int{doAlloc: 50, doFree: 30, doWrite: 30}, most: 300, adversarial: 25}

// prepared makes a disk with a file to begin with.
func prepared(t rapid.TB, k *kind, seed uint64) (*file.Crash, []piece) {
	t.Helper()
	disk := newDisk()
	w := newWorld(k, disk)
	check(t, w.open())
	d := newDice(seed)
	for range 40 {
		check(t, w.do(t, scattered.op(d)))
	}
	for len(w.live) < 6 { // something for every operation to work on
		check(t, w.do(t, op{verb: doAlloc, n: 40}))
	}
	w.verify(t)
	check(t, w.close())
	return disk, w.live
}

// record makes a history of operations on a prepared file.
func record(t rapid.TB, k *kind, name string, seed uint64, draw func(d dice) []op) *history {
	t.Helper()
	base, live := prepared(t, k, seed)
	h := &history{name: name, kind: k, base: base, ops: draw(newDice(^seed))}
	w := h.world(base.Clone(), live)
	check(t, w.open())
	h.note(t, w)
	for _, o := range h.ops {
		check(t, w.do(t, o))
		w.verify(t)
		h.note(t, w)
	}
	check(t, w.close())
	return h
}

func (h *history) world(fs file.FS, live []piece) *world {
	w := newWorld(h.kind, fs)
	w.live = live
	return w
}

func (h *history) note(t rapid.TB, w *world) {
	t.Helper()
	p, err := w.a.Stack().Peek(0)
	check(t, err)
	h.states = append(h.states, state{p, anybodys(w.live)})
}

// histories are those that the tests of crashes and faults take: each operation by itself, and some of several.
func histories(t *testing.T, k *kind) (all []*history) {
	t.Helper()
	for v := range verbs {
		for seed := range uint64(times(2, 8)) {
			all = append(
				all,
				record(t, k, fmt.Sprint(v, ", seed ", seed), seed, func(d dice) []op { return []op{everything.opOf(d, v)} }),
			)
		}
	}
	for seed := range uint64(times(3, 10)) {
		all = append(all, record(t, k, fmt.Sprint("seed ", seed), seed, func(d dice) (ops []op) {
			for range times(6, 10) {
				ops = append(ops, everything.op(d))
			}
			return ops
		}))
	}
	return all
}

// play makes the operations of a history on a disk that holds its base until one fails, and says how many did not.
func (h *history) play(t rapid.TB, fs file.FS) (done int, err error) {
	t.Helper()
	w := h.world(fs, h.states[0].live)
	w.blind = true
	if err := w.open(); err != nil {
		return 0, err
	}
	defer func() { _ = w.close() }() // waits for what is under way
	for i, o := range h.ops {
		if err := w.do(t, o); err != nil {
			return i, err
		}
	}
	return len(h.ops), nil
}

// find says which of the states a payload is: that after done operations, or the next one.
func (h *history) find(t rapid.TB, what string, payload []byte, done int) *state {
	t.Helper()
	for i := done; i < min(done+2, len(h.states)); i++ {
		if bytes.Equal(payload, h.states[i].payload) {
			return &h.states[i]
		}
	}
	next := "nothing is left to do"
	if done < len(h.ops) {
		next = h.ops[done].String()
	}
	t.Errorf("%s, %s: after %d operations, before %s", h.name, what, done, next)
	same(t, "payload", payload, h.states[done].payload)
	return nil
}

// survives makes sure that a disk after a crash, or a failure, has what it has to, and can be used.
func (h *history) survives(t rapid.TB, what string, left *file.Crash, done int) {
	t.Helper()
	found := h.find(t, what, payloadOf(t, left), done)
	w := h.world(left, found.live)
	if err := w.open(); err != nil {
		t.Fatalf("%s, %s: %v", h.name, what, err)
	}
	w.verify(t)
	same(t, "payload after opening the allocator", mustPeek(t, w.a.Stack()), found.payload)
	d := newDice(uint64(len(found.payload)))
	for range 3 {
		check(t, w.do(t, everything.op(d)))
		w.verify(t)
	}
	check(t, w.close())
}

func mustPeek(t rapid.TB, s *stack.Stack) []byte {
	t.Helper()
	p, err := s.Peek(0)
	check(t, err)
	return p
}
