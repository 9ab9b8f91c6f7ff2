// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/holtdb/holt/stack"
)

// Functions that do not return, in every method that takes one: each panics or ends its goroutine when it is called.
var quitters = map[string]func(s *stack.Stack, quit func()) error{
	"Update": func(s *stack.Stack, quit func()) error {
		return s.Update(func(u *stack.Unit) error {
			defer quit()
			_, err := u.Push(text(5, 1))
			return errors.Join(err, u.Zero(0, 50))
		})
	},
	"UpdateInPlace": func(s *stack.Stack, quit func()) error {
		return s.UpdateInPlace(func(u *stack.Unit) error {
			defer quit()
			return u.Zero(0, 50)
		})
	},
	"Process": func(s *stack.Stack, quit func()) error {
		return s.Process(0, 50, func(p []byte) error {
			clear(p)
			quit()
			return nil
		})
	},
	"EnsureFunc": func(s *stack.Stack, quit func()) error {
		_, err := s.EnsureFunc(5000, func([]byte) error {
			quit()
			return nil
		})
		return err
	},
	"Replace": func(s *stack.Stack, quit func()) error {
		return s.Replace(20, func(cut []byte) ([]byte, error) {
			quit()
			return cut[:3], nil
		})
	},
	"GetBatchedFunc": func(s *stack.Stack, quit func()) error {
		return s.GetBatchedFunc(func() (stack.Read, bool) {
			quit()
			return stack.Read{}, false
		})
	},
}

var errQuit = errors.New("quit")

// endings are the ways not to return.
var endings = map[string]func(){
	"panic":     func() { panic(errQuit) },
	"panic nil": func() { panic(nil) },
	"Goexit":    runtime.Goexit,
}

// quitted runs a quitter in a goroutine of its own and makes sure that it ends there in the way it should.
func quitted(t *testing.T, how string, call func(quit func()) error) {
	t.Helper()
	var wrong error
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		wrong = errors.Join(errors.New("the call returned"), call(endings[how]))
	}()
	got := <-done
	if wrong != nil {
		t.Error(wrong)
	}
	_, isNil := got.(*runtime.PanicNilError)
	isQuit := got == errQuit //nolint:errorlint // the very value
	if how == "panic" && !isQuit || how == "Goexit" && got != nil || how == "panic nil" && !isNil {
		t.Errorf("%s: recovered %v", how, got)
	}
}

// A function that does not return changes nothing, and hangs nobody: when it is the only one, and when it waits for its
// turn between others.
func TestQuitters(t *testing.T) {
	for method, call := range quitters {
		for how := range endings {
			t.Run(method+"/"+how, func(t *testing.T) {
				s, disk := openWith(t, text(100, 0))
				quitted(t, how, func(quit func()) error { return call(s, quit) })
				holds(t, s, text(100, 0))
				s.Rest()
				rests(t, disk, text(100, 0))
				_, err := s.Push(text(3, 2))
				check(t, err)
			})
			t.Run(method+"/"+how+" among others", func(t *testing.T) {
				disk := diskWith(t, text(100, 0))
				fs, gate := gated(disk)
				s := open(t, fs, nil)
				errs := make([]error, 4)
				var all sync.WaitGroup
				push := func(i int) {
					all.Go(func() { _, errs[i] = s.Push([]byte{byte(i)}) })
				}
				push(0)
				gate.Await()
				push(1)
				queued(s, 1)
				if method == "GetBatchedFunc" { // does not wait
					quitted(t, how, func(quit func()) error { return call(s, quit) })
					push(2)
				} else {
					all.Go(func() { quitted(t, how, func(quit func()) error { return call(s, quit) }) })
					queued(s, 2)
					push(2)
					queued(s, 3)
				}
				gate.Open()
				all.Wait()
				push(3)
				all.Wait()
				check(t, errors.Join(errs...))
				holds(t, s, append(text(100, 0), 0, 1, 2, 3))
				check(t, s.Close())
				rests(t, disk, append(text(100, 0), 0, 1, 2, 3))
			})
		}
	}
}

// The functions run in the goroutine of their caller, in the order of the calls, each on top of what is durable.
func TestFunctionsRunInTheirGoroutines(t *testing.T) {
	disk := diskWith(t, nil)
	fs, gate := gated(disk)
	s := open(t, fs, nil)
	var all sync.WaitGroup
	all.Go(func() {
		_, err := s.Push([]byte{0xFF})
		report(t, err, nil)
	})
	gate.Await()
	for i := range 8 {
		all.Go(func() {
			mine := stackOfGoroutine()
			report(t, s.Update(func(u *stack.Unit) error {
				if !bytes.Equal(stackOfGoroutine(), mine) {
					t.Error("another goroutine")
				}
				if payload, ok := recovered(
					raw(t, disk.AfterCutKeeping(func(int) bool { return false })),
				); !ok ||
					len(payload) != i+1 {
					t.Errorf("%d: %x is durable", i, payload)
				}
				_, err := u.Push([]byte{byte(i)})
				return err
			}), nil)
		})
		queued(s, i+1)
	}
	gate.Open()
	all.Wait()
	holds(t, s, []byte{0xFF, 0, 1, 2, 3, 4, 5, 6, 7})
	check(t, s.Close())
}

// stackOfGoroutine is the line of a stack trace that names the goroutine, without its state.
func stackOfGoroutine() []byte {
	b := make([]byte, 64)
	b = b[:runtime.Stack(b, false)]
	return bytes.TrimRight(b[:bytes.IndexByte(b, '[')], " ")
}

// Each operation of a group has its own result, whatever becomes of the others.
func TestResultsInAGroup(t *testing.T) {
	fs, gate := gated(diskWith(t, text(100, 0)))
	s := open(t, fs, nil)
	var all sync.WaitGroup
	all.Go(func() { report(t, s.Set(0, []byte{1}), nil) })
	gate.Await()
	n := 0
	next := func(run func()) {
		all.Go(run)
		n++
		queued(s, n)
	}
	next(func() {
		off, err := s.Push([]byte{2})
		report(t, err, nil)
		if off != 100 {
			t.Errorf("at %d", off)
		}
	})
	next(func() { report(t, s.Discard(102), stack.ErrRange) })
	next(func() {
		ok, err := s.CompareAndSwap(0, []byte{1}, []byte{3}) // sees what came before
		report(t, err, nil)
		if !ok {
			t.Error("not swapped")
		}
	})
	next(func() {
		ok, err := s.CompareAndSwap(0, []byte{1}, []byte{4})
		report(t, err, nil)
		if ok {
			t.Error("swapped")
		}
	})
	next(func() {
		ok, err := s.TryExtend(101, []byte{5})
		report(t, err, nil)
		if !ok {
			t.Error("not extended")
		}
	})
	next(func() { report(t, s.Set(102, []byte{6}), stack.ErrRange) })
	next(func() {
		report(t, s.UpdateInPlace(func(u *stack.Unit) error {
			if err := u.Zero(50, 3); err != nil {
				return err
			}
			return u.Truncate(5)
		}), stack.ErrNotSized)
	})
	next(func() {
		p, err := s.Pop(2)
		report(t, err, nil)
		if !bytes.Equal(p, []byte{2, 5}) {
			t.Errorf("popped %v", p)
		}
	})
	next(func() { report(t, s.Atrunc(10, []byte{7}), nil) })
	gate.Open()
	all.Wait()
	holds(t, s, append(over(text(90, 0), 0, []byte{3}), 7))
	check(t, s.Close())
}
