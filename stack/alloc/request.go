// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"fmt"
	"sync"

	"github.com/holtdb/holt/stack"
)

// opKind is what a request asks for.
type opKind uint8

const (
	opAlloc opKind = iota
	opAllocBulk
	opRealloc
	opResize
	opFree
	opFreeBulk
	opWrite
	opUpdate
	opReclaim
	opCall
)

// request is an operation on its way through the stack.
type request struct {
	core *core
	op   opKind
	r    Region
	n, m int64
	zero bool
	lens []int64
	rs   []Region
	data []byte
	fn   func(*Batch) error
	call func(*stack.Unit) (int64, error) // run again if need be

	begun  int // for rewind
	result Region
}

var requests = sync.Pool{New: func() any { return new(request) }}

func (c *core) request(op opKind) *request {
	q := requests.Get().(*request)
	q.core, q.op = c, op
	return q
}

// do has the request carried out, and forgets it.
func (q *request) do() (Region, error) { return q.end(q.core.stack.Do(q)) }

func (q *request) doOnce() error {
	_, err := q.end(q.core.stack.DoOnce(q))
	return err
}

func (q *request) end(err error) (Region, error) {
	r := q.result
	*q = request{}
	requests.Put(q)
	if err != nil {
		return Region{}, err
	}
	return r, nil
}

// Apply implements [stack.Change].
func (q *request) Apply(u *stack.Unit) (err error) {
	q.begun = q.core.policy.mark(u, q.op == opUpdate)
	b := Batch{core: q.core, u: u}
	switch q.op {
	case opAlloc:
		q.result, err = b.allocate(q.n, q.zero)
	case opAllocBulk:
		err = b.allocBulk(q.lens, q.rs)
	case opRealloc:
		q.result, err = b.reallocate(q.r, q.n, q.zero)
	case opResize:
		q.result, err = b.Resize(q.r, q.n, q.m)
	case opFree:
		err = b.Free(q.r)
	case opFreeBulk:
		err = b.FreeBulk(q.rs)
	case opWrite:
		err = b.WriteAt(q.r, q.data, q.n)
	case opUpdate:
		err = q.update(&Batch{core: q.core, u: u}) // which fn may keep
	case opReclaim:
		q.result.Len, err = b.reclaim(q.rs)
	case opCall:
		q.result.Len, err = q.call(u)
	}
	return err
}

// update runs the function of the user.
func (q *request) update(b *Batch) error {
	defer func() { b.u = nil }()
	if err := q.fn(b); err != nil {
		return err
	}
	if b.failed != nil {
		return fmt.Errorf("alloc: an operation of the batch failed: %w", b.failed)
	}
	return nil
}

// Undo implements [stack.Change].
func (q *request) Undo() { q.core.policy.rewind(q.begun) }
