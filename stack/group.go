// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"sync"
)

// Group commit. Whoever finds nobody in charge takes the charge, runs its own operation and makes it durable; those who
// come meanwhile queue. Then a worker takes the charge over: it takes the journal of the last commit away, runs what has
// queued as one unit, and so on until nobody waits.

// Bounds of a unit of several operations.
const (
	unitOps   = 1024
	unitBytes = 8 << 20 // changed
	cheapTail = 64 << 10
)

// operation is a mutation that waits to be run and made durable.
type operation struct {
	run   func(*Unit) error
	alone func() error // in place of run: commits by itself
	once  bool         // has effects outside the unit, so that it must not be run again
	done  chan error
	err   error // of run
}

// group is the state behind the queue.
type group struct {
	mu     sync.Mutex
	busy   bool         // somebody is in charge
	queue  []*operation // guarded by mu
	closed bool
	idle   sync.Cond // signalled when the charge is given up
}

var operations = sync.Pool{New: func() any { return &operation{done: make(chan error, 1)} }}

// do runs fn in a unit, makes it durable and returns its error, or that of the commit.
func (s *Stack) do(once bool, fn func(*Unit) error) error {
	op := operations.Get().(*operation)
	op.run, op.alone, op.once = fn, nil, once
	return s.submit(op)
}

// doAlone runs fn, which commits by itself, between two units.
func (s *Stack) doAlone(fn func() error) error {
	op := operations.Get().(*operation)
	op.run, op.alone, op.once = nil, fn, true
	return s.submit(op)
}

// submit has an operation run, and waits for it.
func (s *Stack) submit(op *operation) error {
	if s.opts.ReadOnly {
		return ErrReadOnly
	}
	op.err = nil
	g := &s.group
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		operations.Put(op)
		return ErrClosed
	}
	alone := !g.busy
	if alone {
		g.busy = true
	} else {
		g.queue = append(g.queue, op)
	}
	g.mu.Unlock()
	if alone {
		func() {
			defer s.handOver()
			s.runAll([]*operation{op})
		}()
	}
	err := <-op.done
	op.run, op.alone = nil, nil
	operations.Put(op)
	if p, ok := err.(opPanic); ok { //nolint:errorlint // a message to this function alone, never wrapped
		panic(p.value)
	}
	return err
}

// opPanic is the result of an operation whose function panicked.
type opPanic struct{ value any }

func (p opPanic) Error() string { return fmt.Sprint(p.value) }

// handOver ends the charge of a caller that ran its own operation. The journal is taken away in the background.
func (s *Stack) handOver() {
	if s.opts.NoSync {
		s.finish()
	}
	if !s.armed && s.leave() {
		return
	}
	go s.work()
}

// leave gives the charge up if nobody waits.
func (s *Stack) leave() bool {
	g := &s.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) > 0 {
		return false
	}
	g.busy = false
	g.idle.Broadcast()
	return true
}

// work runs what has queued until nobody waits.
func (s *Stack) work() {
	for {
		s.finish()
		if s.leave() {
			return
		}
		s.runAll(s.takeQueue())
	}
}

func (s *Stack) takeQueue() []*operation {
	g := &s.group
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.queue), unitOps)
	ops := g.queue[:n:n]
	g.queue = g.queue[n:]
	return ops
}

// runAll runs operations in their order and answers each.
func (s *Stack) runAll(ops []*operation) {
	u := s.newUnit()
	first := 0 // of the operations in u
	for i, op := range ops {
		if op.once && u.dirty() {
			s.settle(&u, ops[first:i])
			first = i
		}
		if op.alone != nil {
			s.finish()
			if op.err = s.failure(); op.err == nil {
				op.err = op.alone()
			}
			u = s.newUnit()
			continue
		}
		at := u.mark()
		before := u.dirty()
		s.runOne(&u, op)
		switch {
		case op.err != nil:
			u.rewind(at)
		case before && !op.once && (u.tailCost() > cheapTail || sum(u.blocks) > unitBytes):
			u.rewind(at)
			s.settle(&u, ops[first:i])
			first = i
			s.runOne(&u, op)
			if op.err != nil {
				u = s.newUnit()
			}
		}
	}
	s.settle(&u, ops[first:])
}

// runOne runs the function of an operation. A panic in it is that of its caller.
func (s *Stack) runOne(u *Unit, op *operation) {
	defer func() {
		if r := recover(); r != nil {
			op.err = opPanic{r}
		}
	}()
	if op.err = s.failure(); op.err == nil {
		op.err = op.run(u)
	}
	u.inPlace = false
}

// settle commits a unit, answers its operations and begins a new one.
func (s *Stack) settle(u *Unit, ops []*operation) {
	var err error
	if u.dirty() {
		s.finish()
		if err = s.failure(); err == nil {
			err = s.commit(u)
		}
	}
	for _, op := range ops {
		if op.err != nil {
			op.done <- op.err
		} else {
			op.done <- err
		}
	}
	*u = s.newUnit()
}

func (s *Stack) newUnit() Unit {
	return Unit{s: s, base: s.length, length: s.length, floor: s.length}
}
