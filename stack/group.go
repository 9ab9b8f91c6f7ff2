// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"slices"
	"sync"
)

// Group commit. Whoever finds nobody in charge takes the charge, runs its own operation and makes it durable; those who
// come meanwhile queue. Then a worker takes the charge over: it takes the journal of the last commit away, runs what
// has queued as one unit, and so on until nobody waits.
//
// Functions of the user run in the goroutine that brought them, also when a worker is in charge: they may panic, or end
// their goroutine, and nobody else has to do with it.

// Bounds of a unit of several operations.
const (
	unitOps   = 1024
	unitBytes = 8 << 20  // changed
	cheapTail = 64 << 10 // cut off, or written anew because something was
)

// operation is a mutation that waits to be run and made durable.
type operation struct {
	change Change
	alone  func() error // in place of change: commits by itself
	once   bool         // must not be run again, and only on top of what is durable
	queued bool         // its caller waits for a worker
	begun  bool         // Apply was called, and Undo was not
	turn   chan *Unit   // tells the caller of a queued operation to run it, if it is one to be run once
	ran    chan struct{}
	done   chan error
	err    error         // of the change
	self   [1]*operation // a queue of it alone
}

// errUnfinished is the result of a function that did not return.
var errUnfinished = errors.New("stack: the function did not return")

// group is the state behind the queue.
type group struct {
	mu     sync.Mutex
	busy   bool         // somebody is in charge
	queue  []*operation // guarded by mu
	taken  []*operation // what whoever is in charge took from it
	closed bool
	idle   sync.Cond // signalled when the charge is given up
	worker func()    // work, made once
}

var operations = sync.Pool{New: func() any {
	op := &operation{turn: make(chan *Unit), ran: make(chan struct{}), done: make(chan error, 1)}
	op.self[0] = op
	return op
}}

// run runs fn in a unit, makes it durable and returns its error, or that of the commit.
func (s *Stack) run(once bool, fn function) error { return s.do(once, fn) }

// do is Do, or DoOnce.
func (s *Stack) do(once bool, c Change) error {
	op := operations.Get().(*operation)
	op.change, op.alone, op.once = c, nil, once
	return s.submit(op)
}

// doAlone runs fn, which commits by itself, between two units.
func (s *Stack) doAlone(fn func() error) error {
	op := operations.Get().(*operation)
	op.change, op.alone, op.once = nil, fn, true
	return s.submit(op)
}

// submit has an operation run, and waits for it.
func (s *Stack) submit(op *operation) error {
	if s.opts.ReadOnly {
		return ErrReadOnly
	}
	op.err, op.begun = nil, false
	g := &s.group
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		operations.Put(op)
		return ErrClosed
	}
	op.queued = g.busy
	if op.queued {
		g.queue = append(g.queue, op)
	}
	g.busy = true
	g.mu.Unlock()
	if !op.queued {
		s.takeCharge(op)
	}
	err := op.wait()
	op.change, op.alone = nil, nil
	operations.Put(op)
	return err
}

// takeCharge runs an operation whose caller found nobody in charge.
func (s *Stack) takeCharge(op *operation) {
	defer s.handOver() // whatever becomes of op
	returned := false
	defer func() {
		if !returned {
			op.undo()
		}
	}()
	s.runAll(op.self[:])
	returned = true
}

// wait waits for the result, and runs the operation if it is told to.
func (op *operation) wait() error {
	for {
		select {
		case u := <-op.turn:
			op.runHere(u)
		case err := <-op.done:
			return err
		}
	}
}

// runHere runs the operation in the goroutine of its caller.
func (op *operation) runHere(u *Unit) {
	op.err = errUnfinished // unless it comes back
	defer func() { op.ran <- struct{}{} }()
	op.err = op.change.Apply(u)
}

// handOver ends the charge of a caller that ran its own operation. The journal is taken away in the background.
func (s *Stack) handOver() {
	if s.opts.NoSync {
		s.finish()
	}
	if !s.armed && s.leave() {
		return
	}
	go s.group.worker()
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

// takeQueue takes what is to be run next out of the queue. The slice is valid until the next call.
func (s *Stack) takeQueue() []*operation {
	g := &s.group
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.queue), unitOps)
	g.taken = append(g.taken[:0], g.queue[:n]...)
	rest := copy(g.queue, g.queue[n:])
	clear(g.queue[rest:])
	g.queue = g.queue[:rest]
	return g.taken
}

// runAll runs operations in their order and answers each.
func (s *Stack) runAll(ops []*operation) {
	u := &s.unit
	u.begin(s)
	first := 0 // of the operations in u
	settle := func(end int) {
		s.settle(u, ops[first:end])
		first = end
	}
	for i, op := range ops {
		// Bytes that are cut off and come back are zeros to be written, so that a unit that cut many is not added to.
		if op.once || u.base-u.length > cheapTail {
			settle(i)
		}
		if op.alone != nil {
			s.runAlone(op)
			settle(i + 1)
			continue
		}
		at := u.mark()
		before := u.dirty()
		s.runOne(u, op)
		if before && op.err == nil && (u.tailCost() > cheapTail || sum(u.blocks) > unitBytes) {
			u.rewind(at)
			op.undo()
			settle(i)
			at = u.mark()
			s.runOne(u, op)
		}
		if op.err != nil {
			u.rewind(at)
			op.undo()
		}
	}
	settle(len(ops))
}

// undo takes back what the operation did in memory.
func (op *operation) undo() {
	if op.begun {
		op.begun = false
		op.change.Undo()
	}
}

// runOne runs the function of an operation.
func (s *Stack) runOne(u *Unit, op *operation) {
	if op.err = s.failure(); op.err != nil {
		return
	}
	op.begun = true
	switch {
	case op.once && op.queued:
		op.turn <- u
		<-op.ran
	default:
		op.err = op.change.Apply(u)
	}
	u.inPlace, u.fixed = false, false
}

// runAlone runs an operation that commits by itself.
func (s *Stack) runAlone(op *operation) {
	s.finish()
	if op.err = s.failure(); op.err == nil {
		op.err = op.alone()
	}
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
	if err != nil {
		undo(ops)
	}
	for _, op := range ops {
		if op.err != nil {
			op.done <- op.err
		} else {
			op.done <- err
		}
	}
	u.begin(s)
}

// undo takes back what operations did in memory whose unit was not made durable.
func undo(ops []*operation) {
	for _, op := range slices.Backward(ops) {
		if op.err == nil {
			op.undo()
		}
	}
}
