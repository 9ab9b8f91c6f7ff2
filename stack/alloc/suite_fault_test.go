// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// failures are ways in which calls fail, from the k-th on. What the stack takes for atomic, the record and writes
// inside one block, is not written in part.
var failures = []struct {
	name  string
	err   error
	short int // bytes of a failing write that are written
	fails func(op file.Op, k int) bool
}{
	{"one call", errors.New("it failed"), 0, func(op file.Op, k int) bool { return op.N == k }},
	{"all calls", errors.New("they failed"), 0, func(op file.Op, k int) bool { return op.N >= k }},
	{"a full disk", syscall.ENOSPC, blockSize, func(op file.Op, k int) bool { return op.N >= k && takesSpace(op) }},
}

// takesSpace says whether a call may need space on the disk.
func takesSpace(op file.Op) bool {
	return op.Kind == file.OpWriteVec && op.Len > blockSize || op.Kind == file.OpTruncate
}

// Each call of a history fails, and the handle is used on. An operation that failed has done nothing, or all further
// ones are refused until the file is reopened.
func TestFaults(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		for _, h := range histories(t, k) {
			for i := range failures {
				for call, failed := 1, true; failed; call++ {
					failed = h.fails(t, i, call)
				}
			}
		}
	})
}

// fails plays a history in which a call fails, and the ones after it if the failure is such, until the operation that
// met it has returned. It says whether there was such a call.
func (h *history) fails(t *testing.T, i, call int) bool {
	t.Helper()
	f := failures[i]
	disk := h.base.Clone()
	fault := file.NewFault(disk)
	w := h.world(fault, h.states[0].live)
	w.blind = true
	check(t, w.open())
	fault.ShortWrites(f.short)
	fault.FailIf(func(op file.Op) error {
		if f.fails(op, call) {
			return f.err
		}
		return nil
	})
	what := func(done int) string {
		return fmt.Sprintf("%s, call %d: %v; %d operations done", f.name, call, fault.Injected(), done)
	}
	for done, o := range h.ops {
		err := w.do(t, o)
		if err != nil && o.verb == doReopen {
			refused(t, what(done), err, file.ErrInjected)
			fault.FailIf(nil)
			h.survives(t, what(done), disk, done)
			return true
		}
		if len(fault.Injected()) > 0 && err == nil {
			continue // it was in the background, or too late to matter; the next one will tell
		}
		if err != nil {
			if !errors.Is(err, file.ErrInjected) || !errors.Is(err, f.err) {
				t.Fatalf("%s, %s: not the cause: %v", h.name, what(done), err)
			}
			h.goesOn(t, what(done), w, fault, disk, done, err)
			return true
		}
	}
	injected := len(fault.Injected()) > 0
	fault.FailIf(nil)
	check(t, w.close())
	h.survives(t, what(len(h.ops)), disk, len(h.ops))
	return injected
}

// goesOn uses a handle after a failure.
func (h *history) goesOn(
	t *testing.T,
	what string,
	w *world,
	fault *file.Fault,
	disk *file.Crash,
	done int,
	err error,
) {
	t.Helper()
	fault.FailIf(nil)
	// It may have been broken in the background, by a call before the one that failed the operation.
	broken := w.failed()
	if errors.Is(err, stack.ErrFailed) && !broken {
		t.Fatalf("%s, %s: it goes on after %v", h.name, what, err)
	}
	fates(disk, 1, func(fate string, left *file.Crash) {
		if payload := payloadOf(t, left); broken || !bytes.Equal(payload, h.states[done].payload) {
			if !broken {
				t.Errorf("the operation has done something that a power cut shows")
			}
			h.find(t, what+", "+fate, payload, done)
		}
	})
	if broken {
		h.refusesAll(t, what, w, done)
	} else {
		h.completes(t, what, w, done)
		done = len(h.ops)
	}
	check(t, w.close())
	h.survives(t, what, disk, done)
}

// refusesAll makes sure that a handle that failed changes nothing any more, and reads what is true or nothing.
func (h *history) refusesAll(t rapid.TB, what string, w *world, done int) {
	t.Helper()
	_, err := w.a.Alloc(1)
	refused(t, what, err, stack.ErrFailed)
	refused(t, what, w.a.Update(func(*alloc.Batch) error { return nil }), stack.ErrFailed)
	for _, p := range w.live {
		refused(t, what, w.a.Free(p.r), stack.ErrFailed)
	}
	payload, err := w.a.Stack().Peek(0)
	if err == nil {
		h.find(t, what+", reading on", payload, done)
	} else {
		refused(t, what, err, stack.ErrFailed)
	}
}

// completes makes sure that an operation that failed has done nothing to the file nor in memory: done again, and
// followed by the rest of the history, it leads where it would have led at once.
func (h *history) completes(t rapid.TB, what string, w *world, done int) {
	t.Helper()
	same(t, what+": payload", mustPeek(t, w.a.Stack()), h.states[done].payload)
	again := *w
	again.live = h.states[done].live
	again.blind = false
	again.verify(t)
	for i, o := range h.ops[done:] {
		check(t, again.do(t, o))
		same(t, what+": payload after doing it again", mustPeek(t, again.a.Stack()), h.states[done+i+1].payload)
		again.verify(t)
	}
	w.a = again.a // which may have been reopened
}

// Calls fail at random while several goroutines use an allocator. Each finds what it was told it has.
func TestFaultsOfGroups(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		for seed := range uint64(times(30, 300)) {
			disk := newDisk()
			fault := file.NewFault(disk)
			first := newWorld(k, fault)
			check(t, first.open())
			fault.FailRandomly(0.004, seed)
			worlds := make([]*world, 4)
			maybe := make([][]piece, len(worlds))
			goroutines(len(worlds), func(i int) {
				w := &world{kind: k, fs: fault, a: first.a, blind: true}
				worlds[i], maybe[i] = w, w.until(t, newDice(seed<<8|uint64(i)))
			})
			fault.FailIf(nil)
			_ = first.close()
			first.fs, first.opts.FS = disk, disk
			check(t, first.open())
			for err := range first.a.Check() {
				t.Fatalf("seed %d: Check: %v", seed, err)
			}
			for i, w := range worlds {
				agrees(t, fmt.Sprintf("seed %d, goroutine %d", seed, i), first.a.Stack(), w.live, maybe[i])
			}
			check(t, first.close())
		}
	})
}

// until makes operations that leave nothing to read, until one fails. It returns what is live if that was done all the
// same.
func (w *world) until(t rapid.TB, d dice) []piece {
	for range 60 {
		was := w.live
		fill := byte(1 + d.draw("fill", 255))
		err := w.fill(t, d, fill)
		if err == nil {
			continue
		}
		now := w.live
		w.live = was
		if errors.Is(err, stack.ErrFailed) {
			return now
		}
		if !errors.Is(err, file.ErrInjected) {
			t.Errorf("not the cause: %v", err)
		}
	}
	return w.live
}

// fill frees a region, or allocates one and fills it, at once. If that fails live is what it would have become.
func (w *world) fill(t rapid.TB, d dice, with byte) error {
	if len(w.live) > 3 && d.draw("free", 2) == 0 {
		i := d.draw("which", len(w.live))
		r := w.live[i].r
		w.set(i, piece{})
		return w.a.Free(r)
	}
	n := 1 + d.draw("length", 300)
	data := bytes.Repeat([]byte{with}, n)
	return w.a.Update(func(b *alloc.Batch) error {
		r, err := b.AllocUninit(int64(n))
		if err != nil {
			return err
		}
		if err := b.WriteAt(r, data, 0); err != nil {
			return err
		}
		w.add(piece{r, data})
		return nil
	})
}

// agrees makes sure that a stack holds all of some regions, or else all of some others.
func agrees(t rapid.TB, what string, s *stack.Stack, sure, maybe []piece) {
	t.Helper()
	payload := mustPeek(t, s)
	wrong := func(ps []piece) (n int) {
		for _, p := range ps {
			if p.r.End() > int64(len(payload)) || !bytes.Equal(payload[p.r.Off:p.r.End()], p.data) {
				n++
			}
		}
		return n
	}
	if wrong(sure) > 0 && wrong(maybe) > 0 {
		t.Fatalf("%s: %d of %d regions are wrong", what, wrong(sure), len(sure))
	}
}

// A read that fails says so, and nothing else comes of it.
func TestFaultOfReads(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		base, live := prepared(t, k, 1)
		fault := file.NewFault(base)
		w := newWorld(k, fault)
		w.live = live
		check(t, w.open())
		fault.FailFrom(1)
		p := make([]byte, 1)
		_, err := w.a.View(w.live[0].r).ReadAt(p, 0)
		refused(t, "ReadAt", err, file.ErrInjected)
		_, err = w.a.View(w.live[0].r).Bytes()
		refused(t, "Bytes", err, file.ErrInjected)
		fault.FailIf(nil)
		w.verify(t)
		check(t, w.do(t, op{verb: doAlloc, n: 10}))
		check(t, w.close())
	})
}
