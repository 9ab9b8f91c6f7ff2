// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// failures are ways in which calls can fail, from the k-th on. What the format takes for atomic, the record and writes
// in one block, is not written in part without a chance to take it back.
var failures = []struct {
	name  string
	short int // how much of a failing write is done
	rule  func(k int) func(file.Op) bool
}{
	{"one call", 0, func(k int) func(file.Op) bool {
		return func(op file.Op) bool { return op.N == k }
	}},
	{"all calls", 0, func(k int) func(file.Op) bool {
		return func(op file.Op) bool { return op.N >= k }
	}},
	{"one write, in part", 1 << 30, func(k int) func(file.Op) bool {
		return func(op file.Op) bool {
			if isWrite(op) {
				k--
			}
			return isWrite(op) && k == 0
		}
	}},
	{allInPart, 20, func(k int) func(file.Op) bool {
		return func(op file.Op) bool {
			if isWrite(op) {
				k--
			}
			return k <= 0 && !isRecord(op)
		}
	}},
}

const allInPart = "all from a write on, in part"

func isRecord(op file.Op) bool { return op.Kind == file.OpWrite && op.Off == 8 && op.Len == 24 }

func isWrite(op file.Op) bool {
	return (op.Kind == file.OpWrite || op.Kind == file.OpWriteVec) && !isRecord(op)
}

// inject makes the calls fail that match.
func inject(fault *file.Fault, short int, match func(file.Op) bool) {
	fault.ShortWrites(short)
	fault.FailIf(func(op file.Op) error {
		if match(op) {
			return file.ErrInjected
		}
		return nil
	})
}

// followUps are what comes after a failure, and would suffer if it had left something behind: bytes behind the payload,
// which zeros would show, and which no journal may have behind its pieces.
var followUps = []step{grow(3, 9), zero(500), {"set and push", func(s *stack.Stack) (any, error) {
	return nil, s.Update(func(u *stack.Unit) error {
		for _, off := range []int64{0, u.Len() / 2} {
			if _, err := u.WriteAt(text(1, 9)[:min(1, u.Len())], off); err != nil {
				return err
			}
		}
		_, err := u.Push(text(3, 9))
		return err
	})
}, func(p []byte) ([]byte, any) {
	for _, off := range []int{0, len(p) / 2} {
		copy(p[off:], text(1, 9))
	}
	return append(p, text(3, 9)...), nil
}}}

// Each call of a mutation fails in turn. What the mutation returns has to be true, of the handle that is used on, of
// the file, and of what a power cut leaves of it.
func TestFaults(t *testing.T) {
	for _, m := range mutations {
		for _, f := range failures {
			if f.name == allInPart && m.cost.tears {
				continue
			}
			t.Run(m.name+"/"+f.name, func(t *testing.T) {
				for k, failed := 1, true; failed; k++ {
					for _, next := range followUps {
						failed = failsAt(t, m, f.short, f.rule(k), next)
					}
				}
			})
		}
	}
}

// failsAt makes a mutation of which calls that match fail, and what follows, and says whether there was such a call.
func failsAt(t *testing.T, m mutation, short int, match func(file.Op) bool, next step) bool {
	t.Helper()
	disk := diskWith(t, m.before())
	fault := file.NewFault(disk)
	s := open(t, fault, nil)
	inject(fault, short, match)
	_, err := m.run(s)
	s.Rest()
	injected := fault.Injected()
	fault.FailIf(nil)
	if len(injected) == 0 {
		check(t, err)
	}
	what := fmt.Sprintf("failed: %v; result: %v", injected, err)
	outlives(t, what, s, disk, promise(t, what, err, m.before(), m.after(m.before())), err, next)
	return len(injected) > 0
}

// promise is what the result of a mutation says.
func promise(t *testing.T, what string, err error, before, after []byte) outcome {
	t.Helper()
	switch {
	case err == nil:
		return outcome{after, after}
	case !errors.Is(err, file.ErrInjected):
		t.Fatalf("%s: not the cause", what)
	case errors.Is(err, stack.ErrFailed):
		return outcome{before, after}
	}
	return outcome{before, before}
}

// outlives makes sure that a stack of which a mutation returned err holds what it promised, and does or refuses what
// comes next.
func outlives(t *testing.T, what string, s *stack.Stack, disk *file.Crash, o outcome, err error, next step) {
	t.Helper()
	got, readErr := s.Peek(0)
	if readErr != nil && !errors.Is(readErr, stack.ErrFailed) || readErr == nil && !o.allows(got) {
		t.Fatalf("%s: reading %x, %v", what, got, readErr)
	}
	found := func(fate string, left *file.Crash) {
		if found, ok := recovered(raw(t, left)); !ok || !o.allows(found) {
			t.Fatalf("%s, %s: found %x", what, fate, found)
		}
	}
	fates(disk, 2, found)
	_, nextErr := next.run(s)
	switch {
	case nextErr == nil && errors.Is(err, stack.ErrFailed):
		t.Fatalf("%s: it goes on", what)
	case nextErr == nil:
		o.sure, _ = next.want(bytes.Clone(o.sure))
		o.maybe = o.sure
		what += ", and then " + next.name
		holds(t, s, o.sure)
		fates(disk, 2, found)
	case !errors.Is(nextErr, stack.ErrFailed) || !errors.Is(nextErr, file.ErrInjected):
		t.Fatalf("%s: then %v", what, nextErr)
	}
	check(t, s.Close())
	again := open(t, disk, nil)
	got, err = again.Peek(0)
	check(t, err)
	if !o.allows(got) {
		t.Fatalf("%s: reopened, it holds %x", what, got)
	}
	check(t, again.Close())
	rests(t, disk, got)
}

// Calls fail at random while several goroutines change the stack.
func TestFaultsOfGroups(t *testing.T) {
	for seed := range uint64(300) {
		disk := diskWith(t, make([]byte, workers*cell))
		fault := file.NewFault(disk)
		var current atomic.Pointer[stack.Stack]
		s := open(t, crowded(fault, &current), nil)
		current.Store(s)
		fault.FailRandomly(0.04, seed)
		done := crew(s)
		s.Rest()
		fault.FailIf(nil)
		check(t, s.Close())
		again := open(t, disk, nil)
		payload, err := again.Peek(0)
		check(t, err)
		audit(t, payload, done)
		check(t, again.Close())
	}
}

// What is large is durable before what comes behind it in the queue, and has nothing to do with its failure.
func TestFaultBehindALargeChange(t *testing.T) {
	fault := file.NewFault(diskWith(t, text(large, 0)))
	fs, gate := gated(fault)
	s := open(t, fs, nil)
	fault.FailIf(func(op file.Op) error {
		if op.Kind == file.OpWriteVec && op.Len == 7 {
			return file.ErrInjected
		}
		return nil
	})
	var all sync.WaitGroup
	all.Go(func() { report(t, s.Set(0, []byte{1}), nil) })
	gate.Await()
	all.Go(func() { report(t, s.Zero(0, large), nil) })
	queued(s, 1)
	all.Go(func() {
		_, err := s.Push(text(7, 1))
		report(t, err, file.ErrInjected)
	})
	queued(s, 2)
	gate.Open()
	all.Wait()
	holds(t, s, zeros[:large])
	check(t, s.Close())
}

// Recovery that fails can be tried again.
func TestFaultsOfRecovery(t *testing.T) {
	for _, c := range leftovers {
		t.Run(c.name, func(t *testing.T) {
			for k := 1; ; k++ {
				disk := file.NewCrash()
				put(t, disk, c.content)
				fault := file.NewFault(disk)
				fault.FailAt(k)
				s, err := stack.OpenFS(fault, name, nil)
				injected := fault.Injected()
				fault.FailIf(nil)
				if len(injected) == 0 {
					check(t, err)
					holds(t, s, c.want)
					check(t, s.Close())
					return
				}
				refused(t, err, file.ErrInjected)
				tryOpen(t, disk, c.want)
			}
		})
	}
}

func TestFaultsOfCreation(t *testing.T) {
	for _, short := range []int{0, 20} {
		for k := 1; ; k++ {
			disk := file.NewCrash()
			fault := file.NewFault(disk)
			fault.ShortWrites(short)
			fault.FailAt(k)
			s, err := stack.OpenFS(fault, name, nil)
			injected := fault.Injected()
			fault.FailIf(nil)
			if len(injected) == 0 {
				check(t, errors.Join(err, s.Close()))
				break
			}
			refused(t, err, file.ErrInjected)
			tryOpen(t, disk, nil)
		}
	}
}

func TestFaultOfClose(t *testing.T) {
	disk := diskWith(t, old)
	fault := file.NewFault(disk)
	s := open(t, fault, nil)
	fault.FailAt(1)
	refused(t, s.Close(), file.ErrInjected)
	check(t, s.Close())
	tryOpen(t, disk, old)
}

// A read that fails says so, and nothing else comes of it.
func TestFaultsOfReads(t *testing.T) {
	fault := file.NewFault(diskWith(t, text(100, 0)))
	s := open(t, fault, nil)
	fault.FailFrom(1)
	for what, err := range reads(s) {
		if !errors.Is(err, file.ErrInjected) {
			t.Errorf("%s: %v", what, err)
		}
	}
	fault.FailIf(nil)
	holds(t, s, text(100, 0))
	_, err := s.Push(text(3, 1))
	check(t, errors.Join(err, s.Close()))
}
