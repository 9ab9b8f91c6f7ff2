// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// Calls fail at random in a long history. After each failure the tree in memory is the one in the file, and the
// handle goes on, until the stack says that it must be opened again.
func TestGhostTreeUndo(t *testing.T) {
	failures, reopened := 0, 0
	for seed := range uint64(times(40, 1000)) {
		disk := newDisk()
		fault := file.NewFault(disk)
		w := ghostWorld(fault)
		check(t, w.open())
		d := newDice(seed)
		for range 60 {
			check(t, w.do(t, scattered.op(d)))
		}
		for i := range 150 {
			o := everything.op(d)
			if o.verb == doReopen {
				continue
			}
			was := w.live
			failMutating(fault, 1+d.draw("call", 8))
			err := w.do(t, o)
			broken := w.a.Stack().Update(func(*stack.Unit) error { return nil })
			injected := len(fault.Injected()) > 0
			fault.FailIf(nil)
			if err != nil && !injected {
				t.Fatalf("seed %d, %d, %v: %v", seed, i, o, err)
			}
			if injected {
				failures++
			}
			if broken != nil {
				refused(t, "the next operation", broken, stack.ErrFailed)
				refused(t, "freeing", w.a.Free(alloc.Region{Off: ghostArena, Len: 1}), stack.ErrFailed)
				reopened++
				if err != nil {
					break // it may have happened
				}
				check(t, w.close())
				check(t, w.open())
				w.relearn(t, was)
			}
			if err != nil {
				w.live = was
			}
			w.verify(t)
		}
		check(t, w.close())
		a := mustOpenGhost(t, disk)
		if len(a.Repaired()) > 0 {
			t.Errorf("seed %d: repaired %q", seed, a.Repaired())
		}
		sound(t, a)
		closeGhost(t, a)
	}
	t.Logf("%d failures, %d times the stack had to be reopened", failures, reopened)
	if failures < 100 {
		t.Error("too few failures")
	}
}

// relearn reads what the regions have that were not there before: the world may not have been able to look.
func (w *world) relearn(t *testing.T, before []piece) {
	t.Helper()
	for i, p := range w.live {
		known := slices.ContainsFunc(before, func(b piece) bool { return b.r.Off == p.r.Off && bytes.Equal(b.data, p.data) })
		if !known {
			data, err := w.a.View(p.r).Bytes()
			check(t, err)
			w.set(i, piece{p.r, data})
		}
	}
}

// failMutating makes the k-th call fail that writes, syncs or truncates.
func failMutating(fault *file.Fault, k int) {
	n := 0
	fault.FailIf(func(op file.Op) error {
		if op.Kind == file.OpRead || op.Kind == file.OpReadVec {
			return nil
		}
		if n++; n == k {
			return errors.New("it failed")
		}
		return nil
	})
}

// A sync that fails drops a whole group of operations of several goroutines. None of them has happened, and they go on
// together with what is left.
func TestGhostTreeUndoesGroups(t *testing.T) {
	const callers = 16
	dropped := 0
	for seed := range uint64(times(12, 300)) {
		disk := newDisk()
		fault := file.NewFault(disk)
		slow := file.WithSync(fault, func(f file.File) error {
			time.Sleep(20 * time.Microsecond) // so that others queue
			return f.SyncData()
		})
		a := mustOpenGhost(t, slow)
		d := newDice(seed)
		var mu sync.Mutex
		bad := func(op file.Op) error {
			mu.Lock()
			defer mu.Unlock()
			if op.Kind == file.OpSyncData && d.draw("fails", 25) == 0 {
				return errors.New("it failed")
			}
			return nil
		}
		fault.FailIf(bad)
		all := make([]*caller, callers)
		goroutines(callers, func(i int) {
			all[i] = &caller{a: a, d: newDice(seed*callers + uint64(i)), seed: byte(i)}
			for range 40 {
				if !all[i].step() {
					return
				}
			}
		})
		fault.FailIf(nil)
		broken := a.Stack().Update(func(*stack.Unit) error { return nil })
		if broken != nil {
			refused(t, "the next operation", broken, stack.ErrFailed)
			closeGhost(t, a)
			a = mustOpenGhost(t, disk)
		}
		sound(t, a)
		var live []alloc.Region
		for _, c := range all {
			check(t, c.unexpected)
			dropped += c.failed
			if c.uncertain {
				continue
			}
			live = append(live, c.live...)
			for _, r := range c.live {
				got, err := a.View(alloc.RegionFrom(r.Bytes())).Bytes()
				check(t, err)
				same(t, fmt.Sprintf("seed %d, region %v", seed, r), got, text(int(r.Len), c.seed))
			}
		}
		if broken == nil {
			accounted(t, a, live...)
			for _, r := range live {
				check(t, a.Free(r))
			}
			accounted(t, a)
			sound(t, a)
		}
		closeGhost(t, a)
	}
	t.Logf("%d operations failed", dropped)
	if dropped == 0 {
		t.Error("the test is in vain")
	}
}

// caller is one of several goroutines. It keeps regions that are full of its text.
type caller struct {
	a          *alloc.GhostTree
	d          dice
	seed       byte
	live       []alloc.Region
	failed     int
	uncertain  bool // the stack failed during its last operation: that has happened or not
	unexpected error
}

// step does an operation, and says whether to go on.
func (c *caller) step() bool {
	n := len(c.live)
	var err error
	switch k := c.d.draw("operation", 10); {
	case n == 0 || k < 5:
		var r alloc.Region
		if r, err = c.make(nil); err == nil {
			c.live = append(c.live, r)
		}
	case k < 8:
		i := c.d.draw("which", n)
		if err = c.a.Free(c.live[i]); err == nil {
			c.live[i] = c.live[n-1]
			c.live = c.live[:n-1]
		}
	default:
		i := c.d.draw("which", n)
		var r alloc.Region
		if r, err = c.make(&c.live[i]); err == nil {
			c.live[i] = r
		}
	}
	switch {
	case err == nil:
		return true
	case errors.Is(err, stack.ErrFailed):
		c.uncertain = true
		return false
	case errors.Is(err, file.ErrInjected):
		c.failed++
		runtime.Gosched()
		return true
	}
	c.unexpected = err
	return false
}

// make allocates a region, or reallocates one, and fills it.
func (c *caller) make(old *alloc.Region) (r alloc.Region, err error) {
	n := int64(1 + c.d.draw("length", 200))
	err = c.a.Update(func(b *alloc.Batch) (err error) {
		if old == nil {
			r, err = b.Alloc(n)
		} else {
			r, err = b.Realloc(*old, n)
		}
		return errors.Join(err, b.WriteAt(r, text(int(n), c.seed), 0))
	})
	return r, err
}

// Plain operations of several goroutines share a unit. When its sync fails all of them are undone, also those that
// took what another one of them had freed.
func TestGhostTreeUndoesOneUnit(t *testing.T) {
	const callers = 16
	for failing := 1; failing <= 2; failing++ {
		disk := newDisk()
		fault := file.NewFault(disk)
		fs, gate := file.NewGate(fault)
		a := mustOpenGhost(t, fs)
		var live []alloc.Region
		for range 2 * callers {
			r, err := a.Alloc(100)
			check(t, err)
			live = append(live, r)
		}
		rest(t, a.Stack())
		before := mustPeek(t, a.Stack())
		gate.Shut(0)
		first := make(chan error)
		go func() {
			_, err := a.View(live[0]).WriteAt(text(100, 1), 0)
			first <- err
		}()
		gate.Await()
		done := make(chan error, callers)
		for i := range callers {
			go func() {
				var err error
				switch i % 4 {
				case 0:
					err = a.Free(live[i+1])
				case 1:
					_, err = a.Alloc(int64(40 * i))
				case 2:
					_, err = a.Realloc(live[i+1], 90-int64(i))
				case 3:
					_, err = a.Realloc(live[i+1], 500)
				}
				done <- err
			}()
			queued(i + 1)
		}
		syncs := 0
		fault.FailIf(func(op file.Op) error {
			if op.Kind == file.OpSyncData {
				if syncs++; syncs == 1+failing || failing == 1 && syncs > 1 && syncs < 4 {
					return errors.New("it failed")
				}
			}
			return nil
		})
		gate.Open()
		check(t, <-first)
		failed := 0
		for range callers {
			if err := <-done; err != nil {
				failed++
			}
		}
		fault.FailIf(nil)
		if err := a.Stack().Update(func(*stack.Unit) error { return nil }); err != nil {
			refused(t, "after that", err, stack.ErrFailed)
		} else {
			sound(t, a)
			if failed == callers {
				copy(before[live[0].Off:], text(100, 1))
				holds(t, a.Stack(), before)
				accounted(t, a, live...)
			}
		}
		if failed == 0 {
			t.Errorf("sync %d: nothing has failed", failing)
		}
		t.Logf("sync %d: %d of %d operations failed", failing, failed, callers)
		closeGhost(t, a)
		b := mustOpenGhost(t, disk)
		sound(t, b)
		closeGhost(t, b)
	}
}

// A function that panics, or ends its goroutine, leaves the tree as the file has it.
func TestGhostTreeUndoesPanics(t *testing.T) {
	disk := newDisk()
	a := mustOpenGhost(t, disk)
	var live []alloc.Region
	for i := range 40 {
		r, err := a.Alloc(int64(10 + 20*i))
		check(t, err)
		live = append(live, r)
	}
	for i := 0; i < len(live); i += 2 {
		check(t, a.Free(live[i]))
	}
	mess := func(b *alloc.Batch) error {
		_, e1 := b.Alloc(300)
		e2 := b.Free(live[1])
		_, e3 := b.Realloc(live[3], 2000)
		_, e4 := b.AllocBulk([]int64{1, 2, 3000})
		e5 := b.FreeBulk(live[37:38])
		return errors.Join(e1, e2, e3, e4, e5)
	}
	rest(t, a.Stack())
	before := mustPeek(t, a.Stack())
	for what, end := range map[string]func(){
		"panic":  func() { panic("on purpose") },
		"goexit": runtime.Goexit,
	} {
		for range 3 {
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				_ = a.Update(func(b *alloc.Batch) error {
					if err := mess(b); err != nil {
						t.Errorf("%s: %v", what, err)
					}
					end()
					return nil
				})
				t.Errorf("%s: Update has returned", what)
			}()
			// And one that waits for it, and must not see any of it.
			check(t, a.Update(func(b *alloc.Batch) error {
				return b.WriteAt(live[5], before[live[5].Off:live[5].End()], 0)
			}))
			<-done
			sound(t, a)
			holds(t, a.Stack(), before)
		}
	}
	check(t, a.Update(mess))
	sound(t, a)
	closeGhost(t, a)
}
