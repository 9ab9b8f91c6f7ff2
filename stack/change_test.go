// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/internal/invariant"
	"github.com/holtdb/holt/stack"
)

// diary is what changes write into when they are called: the calls come one after the other.
type diary struct{ lines []string }

// entry is a change that notes its calls.
type entry struct {
	diary *diary
	name  string
	apply func(u *stack.Unit) error
}

func (e *entry) Apply(u *stack.Unit) error {
	e.diary.lines = append(e.diary.lines, e.name)
	return e.apply(u)
}

func (e *entry) Undo() { e.diary.lines = append(e.diary.lines, "undo "+e.name) }

func (d *diary) entry(name string, apply func(u *stack.Unit) error) *entry {
	return &entry{d, name, apply}
}

// reads makes sure of what is in a diary.
func (d *diary) reads(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(d.lines, want) {
		t.Errorf("calls %q, want %q", d.lines, want)
	}
}

// pushes appends n bytes.
func pushes(n int, seed byte) func(u *stack.Unit) error {
	return func(u *stack.Unit) error {
		_, err := u.Push(text(n, seed))
		return err
	}
}

func zeroes(off, n int64) func(u *stack.Unit) error {
	return func(u *stack.Unit) error { return u.Zero(off, n) }
}

// refuses changes the unit, and then its mind.
func refuses(u *stack.Unit) error {
	return errors.Join(pushes(9, 9)(u), errOwn)
}

// a queue of calls behind one that is under way: they are made as one group when it is let go.
type queue struct {
	s    *stack.Stack
	gate *file.Gate
	all  sync.WaitGroup
	n    int
	was  int // syncs before
	disk *file.Crash
}

// newQueue opens a disk through a file system that wraps it.
func newQueue(t *testing.T, disk *file.Crash, under file.FS) *queue {
	t.Helper()
	fs, gate := gated(under)
	q := &queue{s: open(t, fs, nil), gate: gate, disk: disk}
	q.all.Go(func() { report(t, q.s.Set(0, []byte{1}), nil) })
	gate.Await()
	return q
}

// call queues a call.
func (q *queue) call(t *testing.T, want error, fn func() error) {
	t.Helper()
	q.all.Go(func() { report(t, fn(), want) })
	q.n++
	queued(q.s, q.n)
}

func (q *queue) do(t *testing.T, want error, c stack.Change) {
	t.Helper()
	q.call(t, want, func() error { return q.s.Do(c) })
}

// run lets everything go.
func (q *queue) run() {
	q.was = q.disk.Counts().DataSyncs
	q.gate.Open()
	q.all.Wait()
}

// first is what the payload of a queue is in the beginning.
func first(n int) []byte { return over(text(n, 0), 0, []byte{1}) }

// Changes that queue are applied in their order and share a unit, except those that are refused.
func TestChangesInAGroup(t *testing.T) {
	disk := diskWith(t, text(100, 0))
	q := newQueue(t, disk, disk)
	var d diary
	q.do(t, nil, d.entry("a", pushes(5, 1)))
	q.do(t, errOwn, d.entry("b", refuses))
	q.do(t, nil, d.entry("c", pushes(6, 2)))
	q.do(t, stack.ErrRange, d.entry("d", zeroes(105, 7))) // of which 6 are there
	q.do(t, nil, d.entry("e", zeroes(105, 6)))
	q.run()
	d.reads(t, "a", "b", "undo b", "c", "d", "undo d", "e")
	if n := disk.Counts().DataSyncs - q.was; n != 1+growth.total {
		t.Errorf("%d syncs", n)
	}
	holds(t, q.s, slices.Concat(first(100), text(5, 1), zeros[:6]))
	check(t, q.s.Close())
}

// If a unit cannot be made durable, all changes in it are taken back, the last first. The next ones are tried.
func TestChangesOfAFailingUnit(t *testing.T) {
	disk := diskWith(t, text(100, 0))
	fault := file.NewFault(disk)
	q := newQueue(t, disk, fault)
	var d diary
	q.do(t, file.ErrInjected, d.entry("a", pushes(5, 1)))
	q.do(t, errOwn, d.entry("b", refuses))
	q.do(t, file.ErrInjected, d.entry("c", zeroes(0, 50)))
	q.call(t, nil, func() error { return q.s.DoOnce(d.entry("d", zeroes(90, 10))) })
	inject(fault, 0, onlyOnce(func(op file.Op) bool { return op.Kind == file.OpSyncData && op.N > 1 }))
	q.run()
	d.reads(t, "a", "b", "undo b", "c", "undo c", "undo a", "d")
	holds(t, q.s, over(first(100), 90, zeros[:10]))
	check(t, q.s.Close())
}

// onlyOnce matches the first call that match does.
func onlyOnce(match func(file.Op) bool) func(file.Op) bool {
	done := false
	return func(op file.Op) bool {
		if done || !match(op) {
			return false
		}
		done = true
		return true
	}
}

// A change that would make a unit too large is taken back, and applied again in the next one; one that shortens the
// payload by much too, and one that is to be applied once waits for what came before it.
func TestChangesThatAreAppliedAgain(t *testing.T) {
	const much = 9 << 20
	block := bytes.Repeat([]byte{7}, much)
	pushMuch := func(u *stack.Unit) error {
		_, err := u.Push(block)
		return err
	}
	for _, c := range []struct {
		name  string
		b     func(u *stack.Unit) error
		calls []string
		fails bool // the unit of a
	}{
		{"large", pushMuch, []string{"a", "b", "undo b", "b", "c"}, false},
		{"large, after a failure", pushMuch, []string{"a", "b", "undo b", "undo a", "b", "c"}, true},
		{"short", func(u *stack.Unit) error {
			return u.Truncate(u.Len() - 5)
		}, []string{"a", "b", "undo b", "b", "c"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := text(large, 0)
			disk := diskWith(t, before)
			fault := file.NewFault(disk)
			q := newQueue(t, disk, fault)
			var d diary
			var want error
			if c.fails {
				want = file.ErrInjected
			}
			q.do(t, want, d.entry("a", zeroes(0, 300)))
			q.do(t, nil, d.entry("b", c.b))
			q.call(t, nil, func() error { return q.s.DoOnce(d.entry("c", pushes(3, 3))) })
			if c.fails {
				inject(fault, 0, onlyOnce(func(op file.Op) bool { return op.Kind == file.OpWriteVec && op.Len == 300 }))
			}
			q.run()
			d.reads(t, c.calls...)
			after := first(large)
			if !c.fails {
				clear(after[:300])
			}
			if c.name == "short" {
				after = after[:len(after)-5]
			} else {
				after = append(after, block...)
			}
			holds(t, q.s, append(after, text(3, 3)...))
			check(t, q.s.Close())
		})
	}
}

// Nor is a change taken back that was not applied again, because the unit before it failed for good.
func TestChangesBeforeAFailureForGood(t *testing.T) {
	disk := diskWith(t, text(large, 0))
	fault := file.NewFault(disk)
	q := newQueue(t, disk, fault)
	var d diary
	q.do(t, stack.ErrFailed, d.entry("a", zeroes(0, 300)))
	q.do(t, stack.ErrFailed, d.entry("b", func(u *stack.Unit) error { return u.Truncate(u.Len() - 5) }))
	q.do(t, stack.ErrFailed, d.entry("c", pushes(3, 3)))
	failing := false
	inject(fault, 0, func(op file.Op) bool {
		failing = failing || op.Kind == file.OpWriteVec && op.Len == 300
		return failing
	})
	q.run()
	d.reads(t, "a", "b", "undo b", "undo a")
	fault.FailIf(nil)
	check(t, q.s.Close())
}

// A change whose Apply does not return is taken back, once, and nobody else has to do with it.
func TestChangesThatDoNotReturn(t *testing.T) {
	for how := range endings {
		t.Run(how, func(t *testing.T) {
			s, _ := openWith(t, text(100, 0))
			var d diary
			quitted(t, how, func(quit func()) error {
				return s.DoOnce(d.entry("a", func(u *stack.Unit) error {
					defer quit()
					return pushes(5, 1)(u)
				}))
			})
			d.reads(t, "a", "undo a")
			holds(t, s, text(100, 0))
			check(t, s.Do(d.entry("b", pushes(5, 2))))
			d.reads(t, "a", "undo a", "b")
			holds(t, s, append(text(100, 0), text(5, 2)...))
		})
		t.Run(how+" among others", func(t *testing.T) {
			disk := diskWith(t, text(100, 0))
			q := newQueue(t, disk, disk)
			var d diary
			q.do(t, nil, d.entry("a", pushes(5, 1)))
			q.all.Go(func() {
				quitted(t, how, func(quit func()) error {
					return q.s.DoOnce(d.entry("b", func(u *stack.Unit) error {
						defer quit()
						return u.Truncate(3)
					}))
				})
			})
			q.n++
			queued(q.s, q.n)
			q.do(t, nil, d.entry("c", pushes(6, 2)))
			q.run()
			d.reads(t, "a", "b", "undo b", "c")
			holds(t, q.s, slices.Concat(first(100), text(5, 1), text(6, 2)))
			check(t, q.s.Close())
		})
	}
}

// A change is not called at all when it is clear that nothing will come of it.
func TestChangesThatAreNotCalled(t *testing.T) {
	var d diary
	never := d.entry("never", pushes(1, 1))
	both := func(t *testing.T, s *stack.Stack, want error) {
		t.Helper()
		refused(t, s.Do(never), want)
		refused(t, s.DoOnce(never), want)
	}
	t.Run("closed", func(t *testing.T) {
		s := open(t, diskWith(t, nil), nil)
		check(t, s.Close())
		both(t, s, stack.ErrClosed)
	})
	t.Run("read-only", func(t *testing.T) {
		s := open(t, diskWith(t, nil), &stack.Options{ReadOnly: true})
		both(t, s, stack.ErrReadOnly)
		check(t, s.Close())
	})
	t.Run("failed", func(t *testing.T) {
		fault := file.NewFault(diskWith(t, text(600, 0)))
		s := open(t, fault, nil)
		inject(fault, 0, func(op file.Op) bool { return op.Kind != file.OpRead })
		refused(t, s.Set(0, text(300, 1)), stack.ErrFailed)
		both(t, s, stack.ErrFailed)
		fault.FailIf(nil)
		check(t, s.Close())
	})
	d.reads(t)
}

// Changes in the same unit have its number, and later units others.
func TestSerial(t *testing.T) {
	disk := diskWith(t, text(100, 0))
	q := newQueue(t, disk, disk)
	var got []uint64
	note := func(u *stack.Unit) error {
		got = append(got, u.Serial())
		return pushes(1, 1)(u)
	}
	var d diary
	q.do(t, nil, d.entry("a", note))
	q.do(t, nil, d.entry("b", note))
	q.call(t, nil, func() error { return q.s.DoOnce(d.entry("c", note)) })
	q.run()
	check(t, q.s.Do(d.entry("d", note)))
	if len(got) != 4 || got[0] != got[1] || got[1] >= got[2] || got[2] >= got[3] {
		t.Errorf("serials %v", got)
	}
	check(t, q.s.Close())
}

// mirror is a copy of the payload in memory that changes keep up to date, and can go back in.
type mirror struct {
	bytes []byte
	was   [][]byte // before each change that may be undone
}

// reflected is a change of a stack and its mirror.
type reflected struct {
	m      *mirror
	change func(p []byte) []byte
	fails  bool
}

func (r *reflected) Apply(u *stack.Unit) error {
	r.m.was = append(r.m.was, r.m.bytes)
	p := make([]byte, u.Len())
	if _, err := u.ReadAt(p, 0); err != nil {
		return err
	}
	if !bytes.Equal(p, r.m.bytes) {
		return fmt.Errorf(
			"the unit shows %d bytes, the mirror %d; they differ from %d on",
			len(p),
			len(r.m.bytes),
			agree(p, r.m.bytes),
		)
	}
	r.m.bytes = r.change(bytes.Clone(p))
	from := agree(p, r.m.bytes)
	if err := u.Truncate(int64(min(len(p), len(r.m.bytes)))); err != nil {
		return err
	}
	if both := min(len(p), len(r.m.bytes)); from < both {
		if _, err := u.WriteAt(r.m.bytes[from:both], int64(from)); err != nil {
			return err
		}
	}
	if len(r.m.bytes) > len(p) {
		if _, err := u.Push(r.m.bytes[len(p):]); err != nil {
			return err
		}
	}
	if r.fails {
		return errOwn
	}
	return nil
}

func (r *reflected) Undo() {
	last := len(r.m.was) - 1
	r.m.bytes, r.m.was = r.m.was[last], r.m.was[:last]
}

// What changes keep in memory agrees with the payload whatever fails: the calls of the disk, and the changes
// themselves.
func TestChangesAndFaults(t *testing.T) {
	for seed := range uint64(200) {
		fault := file.NewFault(diskWith(t, text(700, 0)))
		s := open(t, fault, nil)
		m := &mirror{bytes: text(700, 0)}
		fault.FailRandomly(0.05, seed)
		goroutines(5, func(i int) {
			for round := range 6 {
				c := &reflected{m: m, fails: (i+round)%5 == 4, change: func(p []byte) []byte {
					switch (i + round) % 3 {
					case 0:
						return append(p, text(10+i, byte(round))...)
					case 1:
						return over(p, 40*i, text(30, byte(round)))
					}
					return over(p[:len(p)-7], 600, text(20, byte(i)))
				}}
				call := s.Do
				if round == 3 {
					call = s.DoOnce
				}
				err := call(c)
				if err != nil && !errors.Is(err, errOwn) && !errors.Is(err, file.ErrInjected) {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		})
		s.Rest()
		fault.FailIf(nil)
		got, err := s.Peek(0)
		if !errors.Is(err, stack.ErrFailed) {
			check(t, err)
			same(t, got, m.bytes)
		}
		check(t, s.Close())
	}
}

// thrice is a change that writes three blocks.
type thrice struct{ data [40]byte }

func (c *thrice) Apply(u *stack.Unit) error {
	for off := int64(0); off < 900; off += 300 {
		if _, err := u.WriteAt(c.data[:], off); err != nil {
			return err
		}
	}
	return nil
}

func (*thrice) Undo() {}

func TestAllocationsOfChanges(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the race detector makes pools forget")
	}
	s, err := stack.Open(filepath.Join(t.TempDir(), name), &stack.Options{NoSync: true})
	check(t, err)
	_, err = s.Push(text(1000, 0))
	check(t, err)
	c := &thrice{}
	for what, call := range map[string]func(stack.Change) error{"Do": s.Do, "DoOnce": s.DoOnce} {
		n := testing.AllocsPerRun(200, func() {
			c.data[0]++
			err = call(c)
		})
		check(t, err)
		if n > 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
	check(t, s.Close())
}
