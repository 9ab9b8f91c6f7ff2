// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// ffAfter is what a case makes of a payload.
func ffAfter(t *testing.T, c *ffCase, before []byte) []byte {
	t.Helper()
	a, _ := ffWith(t, before)
	_, err := c.do(a)
	check(t, err)
	after, err := a.Stack().Peek(0)
	check(t, err)
	return after
}

// ffSurvives makes sure that an allocator opens with one of two payloads, to the last byte, is sound and can be used.
func ffSurvives(t *testing.T, what string, tidy bool, left *file.Crash, sure, maybe []byte) {
	t.Helper()
	a, err := ffOpen(left)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got, err := a.Stack().Peek(0)
	check(t, err)
	if !bytes.Equal(got, sure) && !bytes.Equal(got, maybe) {
		same(t, what+": acknowledged", got, sure)
	}
	if tidy {
		ffClean(t, what, a)
	}
	r, err := a.Alloc(40)
	check(t, err)
	check(t, a.Free(r))
	check(t, a.Stack().Close())
}

// The power is cut at each write and sync of every kind of operation: it has happened or not, and when it was
// acknowledged it has.
func TestFirstFitCrash(t *testing.T) {
	for _, c := range ffCases {
		t.Run(c.name, func(t *testing.T) {
			before := ffPayload(t, c.before)
			after := ffAfter(t, &c, before)
			base := ffDisk(t, before)
			for call := 1; ; call++ {
				disk := base.Clone()
				disk.CutAt(call)
				sure, maybe := before, after
				if a, err := ffOpen(disk); err == nil {
					if _, err = c.do(a); err == nil {
						sure = after
					} else if !disk.IsCut() {
						t.Fatalf("the power is on: %v", err)
					}
					_ = a.Stack().Close() // waits for what is under way
				}
				fates(disk, 4, func(what string, left *file.Crash) {
					ffSurvives(t, fmt.Sprintf("cut at call %d, %s of %q", call, what, disk.Unsynced()), c.tidy(), left, sure, maybe)
				})
				if !disk.IsCut() {
					return
				}
			}
		})
	}
}

// The same while a file is made.
func TestFirstFitCrashOfCreation(t *testing.T) {
	for call := 1; ; call++ {
		disk := newDisk()
		disk.CutAt(call)
		if a, err := ffOpen(disk); err == nil {
			check(t, a.Stack().Close())
		} else if !disk.IsCut() {
			t.Fatal(err)
		}
		fates(disk, 8, func(what string, left *file.Crash) {
			ffSurvives(t, what, true, left, ffPayload(t, ""), nil)
		})
		if !disk.IsCut() {
			return
		}
	}
}

// And while a file is recovered that another program has left half done.
func TestFirstFitCrashOfRecovery(t *testing.T) {
	for _, c := range ffLeft {
		if c.after == ffDamaged {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			p := c.payload(t)
			a, _ := ffWith(t, p)
			after, err := a.Stack().Peek(0)
			check(t, err)
			base := ffDisk(t, p)
			for call := 1; ; call++ {
				disk := base.Clone()
				disk.CutAt(call)
				if a, err := ffOpen(disk); err == nil {
					_ = a.Stack().Close()
				} else if !disk.IsCut() {
					t.Fatalf("the power is on: %v", err)
				}
				fates(disk, 4, func(what string, left *file.Crash) {
					ffSurvives(t, fmt.Sprintf("cut at call %d, %s of %q", call, what, disk.Unsynced()), true, left, after, after)
				})
				if !disk.IsCut() {
					return
				}
			}
		})
	}
}

// Each operation takes two syncs at most until it is acknowledged, and four altogether.
func TestFirstFitSyncs(t *testing.T) {
	for _, c := range ffCases {
		t.Run(c.name, func(t *testing.T) {
			disk := ffDisk(t, ffPayload(t, c.before))
			fs, gate := file.NewGate(disk)
			a, err := ffOpen(fs)
			check(t, err)
			gate.Shut(2)
			was := disk.Counts().DataSyncs
			_, err = c.do(a) // or it hangs
			check(t, err)
			gate.Open()
			rest(t, a.Stack())
			if n := disk.Counts().DataSyncs - was; n > 4 {
				t.Errorf("%d syncs", n)
			}
			check(t, a.Stack().Close())
		})
	}
}

// Every call fails in turn, and from then on all of them: the operation has not happened, or so it says, and the file
// is sound.
func TestFirstFitFaults(t *testing.T) {
	for _, c := range ffCases {
		t.Run(c.name, func(t *testing.T) {
			before := ffPayload(t, c.before)
			after := ffAfter(t, &c, before)
			for _, all := range []bool{false, true} {
				for call := 1; ffFails(t, &c, call, all, before, after); call++ {
				}
			}
		})
	}
}

// ffFails makes a call of a case fail, and says whether there was one.
func ffFails(t *testing.T, c *ffCase, call int, all bool, before, after []byte) bool {
	t.Helper()
	disk := ffMemory(t, before)
	fault := file.NewFault(disk)
	a, err := ffOpen(fault)
	check(t, err)
	if fault.FailAt(call); all {
		fault.FailFrom(call)
	}
	_, err = c.do(a)
	_ = a.Stack().Update(func(*stack.Unit) error { return nil }) // waits
	injected := fault.Injected()
	fault.FailIf(nil)
	what := fmt.Sprintf("failed: %v; result: %v", injected, err)
	sure, maybe := before, before
	switch {
	case err == nil:
		sure, maybe = after, after
	case !errors.Is(err, file.ErrInjected) || errors.Is(err, alloc.ErrNotAllocated):
		t.Fatalf("%s: not the cause", what)
	case errors.Is(err, stack.ErrFailed):
		maybe = after
	default: // the handle goes on as if nothing had been
		again, err := c.do(a)
		if err == nil || !errors.Is(err, stack.ErrFailed) {
			check(t, err)
			ffIs(t, what+", and then again", a, c.after)
			_ = again
			sure, maybe = after, after
		}
	}
	check(t, a.Stack().Close())
	ffSurvives(t, what, c.tidy(), disk, sure, maybe)
	return len(injected) > 0
}

// What is freed needs no room on the disk: when it is full, memory comes back by freeing what is at the end, and a
// refused free leaves everything as it was.
func TestFirstFitFreeWhenFull(t *testing.T) {
	before := ffPayload(t, "16 24 32")
	disk := ffMemory(t, before)
	fault := file.NewFault(disk)
	a, err := ffOpen(fault)
	check(t, err)
	full := errors.New("no space left on device")
	fault.FailIf(func(op file.Op) error {
		size := int64(headerSize + len(before))
		if (op.Kind == file.OpWrite || op.Kind == file.OpWriteVec) && op.Off+op.Len > size ||
			op.Kind == file.OpTruncate && op.Len > size {
			return full
		}
		return nil
	})
	_, err = a.Alloc(100)
	refused(t, "Alloc", err, full)
	err = a.Free(ffRegion(before, 0)) // takes a journal
	if err != nil && !errors.Is(err, full) {
		t.Fatal(err)
	}
	if err != nil {
		ffIs(t, "refused", a, "16 24 32")
	}
	check(t, a.Free(ffRegion(before, 2)))
	fault.FailIf(nil)
	if p, _ := a.Stack().Peek(0); !strings.HasPrefix(mustState(t, p), "16 24") {
		t.Errorf("state %q", mustState(t, p))
	}
	check(t, a.Free(ffRegion(before, 0)))
	ffIs(t, "later", a, "-16 24 /0")
	check(t, a.Stack().Close())
}

func mustState(t *testing.T, p []byte) string {
	t.Helper()
	state, err := ffState(p)
	check(t, err)
	return state
}

// A block is given back right after it was given out, at the end and inside, and as one operation with others, which
// keeps what it leaves at the end.
func TestFirstFitFreeRightAfterAlloc(t *testing.T) {
	for _, state := range []string{"", "16", "16 -200 16 /1", "16 -40 16 /1"} {
		p := ffPayload(t, state)
		a, _ := ffWith(t, p)
		for range 3 {
			r, err := a.Alloc(40)
			check(t, err)
			check(t, a.Free(r))
			ffIs(t, state, a, state)
			check(t, a.Update(func(b *alloc.Batch) error {
				first, err := b.Alloc(40)
				check(t, err)
				second, err := b.Alloc(100)
				check(t, err)
				first, err = b.Realloc(first, 60)
				check(t, err)
				return errors.Join(b.Free(first), b.Free(second))
			}))
			_, err = a.Trim()
			check(t, err)
			ffIs(t, state, a, state)
			ffClean(t, state, a)
		}
	}
}
