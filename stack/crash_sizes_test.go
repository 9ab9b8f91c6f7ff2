// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// What a journal leaves behind the payload is in the way of the next, which may be larger or smaller by any number of
// bytes. The histories here are changes of many sizes on one handle.

// spread writes two pieces that take n bytes together.
func spread(n int, seed byte) step {
	a, b := text(n-1, seed), text(1, seed+1)
	return step{fmt.Sprint("spread ", n), func(s *stack.Stack) (any, error) {
		return nil, s.SetBatched([]stack.Piece{{Off: 3, Data: a}, {Off: s.Len() - 1, Data: b}})
	}, func(p []byte) ([]byte, any) { return over(over(p, 3, a), len(p)-1, b), nil }}
}

// spreadAndGrow also appends a few bytes and some zeros.
func spreadAndGrow(n int, seed byte) step {
	a := text(n, seed)
	return step{fmt.Sprint("spread and grow ", n), func(s *stack.Stack) (any, error) {
		return nil, s.Update(func(u *stack.Unit) error {
			_, err1 := u.WriteAt(a, 1)
			_, err2 := u.Push(a[:2])
			_, err3 := u.Extend(9)
			return errors.Join(err1, err2, err3)
		})
	}, func(p []byte) ([]byte, any) { return append(append(over(p, 1, a), a[:2]...), zeros[:9]...), nil }}
}

// sizeHistories are such histories: what is known to be delicate, and what chance makes. They work on 700 bytes.
func sizeHistories() map[string][]step {
	all := map[string][]step{
		"shorter by each odd part": {spread(90, 1), spread(89, 2), spread(82, 3), spread(75, 4), spread(74, 5)},
		"one piece after several":  {spread(300, 1), set(100, 226, 2), set(100, 300, 3), set(100, 316, 4), set(100, 317, 5)},
		"no piece is long enough":  {set(100, 400, 1), spread(2, 2), spread(3, 3), set(220, 5, 4), spread(2, 5)},
		"growth in between": {
			spread(80, 1),
			zero(60),
			spread(40, 2),
			grow(20, 3),
			set(100, 300, 4),
			spreadAndGrow(7, 5),
		},
		"zeros over what is left": {spread(400, 1), spreadAndGrow(2, 2), zero(90), spread(9, 3)},
		"shrink in between":       {spread(300, 1), cut(90), spread(31, 2), replace(300, 20, 3), spread(100, 4), zero(100)},
		"blocks in between":       {spread(90, 1), set(0, 30, 2), spread(70, 3), set(0, 30, 4), cut(10)},
		"reopened":                {spread(90, 1), reopen, spread(30, 2), reopen, zero(40)},
		"nothing is left of it":   {spread(300, 1), cut(690), grow(3, 2), zero(400), set(0, 300, 3)},
	}
	n := 6
	if os.Getenv("HOLT_LONG") == "1" {
		n = 40
	}
	for seed := range uint64(n) {
		all[fmt.Sprint("seed ", seed)] = drawSizes(rand.New(rand.NewPCG(seed, 0)))
	}
	return all
}

// drawSizes draws a history. The payload stays between 400 and 1000 bytes.
func drawSizes(r *rand.Rand) (steps []step) {
	length := 700
	for i := range 6 {
		seed, n := byte(2*i+1), 2+r.IntN(300)
		switch r.IntN(8) {
		case 0:
			steps, length = append(steps, zero(n/3)), length+n/3
		case 1:
			steps, length = append(steps, spreadAndGrow(n, seed)), length+2+9
		case 2:
			n = min(n, length-400)
			steps, length = append(steps, replace(n, n/3, seed)), length-n+n/3
		case 3, 4:
			steps = append(steps, set(r.IntN(90), n, seed))
		default:
			steps = append(steps, spread(n, seed))
		}
	}
	return steps
}

// A crash anywhere in them, what may be looked at before recovery, and recovery.
func TestCrashOfSizes(t *testing.T) {
	for name, steps := range sizeHistories() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behind := 0
			run := func(disk *file.Crash) outcome { return play(t, disk, nil, disk, text(700, 0), steps) }
			crashes(t, diskWith(t, text(700, 0)), 3, run, func(what string, left *file.Crash, o outcome) {
				if looksRight(t, what, left) {
					behind++
				}
				survives(t, what, left, o)
			})
			if behind == 0 {
				t.Error("no file had anything behind its payload while no journal was armed")
			}
		})
	}
}

// looksRight holds Inspect and a reader of a file after a crash against the reference, and makes sure that they leave
// it as it is. It says whether the file has no journal, and something behind its payload.
func looksRight(t *testing.T, what string, left *file.Crash) bool {
	t.Helper()
	content := raw(t, left)
	want, ok := recovered(bytes.Clone(content))
	st, err := stack.Inspect(name, &stack.Options{FS: left})
	if err != nil || !ok || st.Recovered != int64(len(want)) {
		t.Fatalf("%s: Inspect says %+v, %v; there are %d bytes", what, st, err, len(want))
	}
	s, err := stack.OpenFS(left, name, &stack.Options{ReadOnly: true})
	if st.Journal == nil {
		check(t, err)
		holds(t, s, want)
		check(t, s.Close())
	} else if _, ok := errors.AsType[*stack.CorruptError](err); !ok {
		t.Fatalf("%s: a reader of an armed file gets %v", what, err)
	}
	same(t, raw(t, left), content)
	return st.Journal == nil && st.Behind > 0
}

// Each call in them fails once, or all from it on. The handle is used on.
func TestFaultsOfSizes(t *testing.T) {
	for name, steps := range sizeHistories() {
		steps := slices.DeleteFunc(steps, func(st step) bool { return st.run == nil })
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range failures {
				if f.name == allInPart {
					continue // tears blocks
				}
				for k, failed := 1, true; failed; k++ {
					failed = failsIn(t, steps, f.short, f.rule(k))
				}
			}
		})
	}
}

// failsIn makes all steps while calls that match fail, and says whether there were any.
func failsIn(t *testing.T, steps []step, short int, match func(file.Op) bool) bool {
	t.Helper()
	disk := diskWith(t, text(700, 0))
	fault := file.NewFault(disk)
	s := open(t, fault, nil)
	inject(fault, short, match)
	o := outcome{text(700, 0), nil}
	var first error
	for _, st := range steps {
		after, _ := st.want(bytes.Clone(o.sure))
		_, err := st.run(s)
		if first != nil && errors.Is(first, stack.ErrFailed) && err == nil {
			t.Fatalf("%s after %v: it goes on", st.name, first)
		}
		what := fmt.Sprintf("%s, failed: %v", st.name, fault.Injected())
		if first == nil || !errors.Is(first, stack.ErrFailed) {
			if !errors.Is(err, stack.ErrRange) { // the growth that this counts on was undone
				o = promise(t, what, err, o.sure, after)
			}
			first = err
		}
		s.Rest()
		if got, err := s.Peek(0); err == nil && !o.allows(got) {
			t.Fatalf("%s: reading %x", what, got)
		}
	}
	injected := fault.Injected()
	fault.FailIf(nil)
	_ = s.Close() // of a stack that failed
	what := fmt.Sprintf("failed: %v", injected)
	fates(disk, 2, func(fate string, left *file.Crash) {
		if found, ok := recovered(raw(t, left)); !ok || !o.allows(found) {
			t.Fatalf("%s, %s: found %x", what, fate, found)
		}
	})
	again := open(t, disk, nil)
	got, err := again.Peek(0)
	check(t, errors.Join(err, again.Close()))
	if !o.allows(got) {
		t.Fatalf("%s: reopened, it holds %x", what, got)
	}
	rests(t, disk, got)
	return len(injected) > 0
}
