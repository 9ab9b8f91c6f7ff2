// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

// Change is a mutation of a program that keeps something in memory beside the payload, such as an index of it. The
// calls of all changes come one after the other, in the order in which they take effect.
type Change interface {
	// Apply makes the change in u and in memory. An error drops what it did to u.
	Apply(u *Unit) error

	// Undo takes back what Apply did in memory: it returned an error or did not return, or what it did to u was dropped or
	// could not be made durable. Of several changes the last is taken back first.
	Undo()
}

// Do makes a change durable. It may share its unit, and the syncs, with others that come at the same time; Apply and
// Undo are called in any goroutine, and Apply again after Undo. They must not panic or call the stack.
func (s *Stack) Do(c Change) error { return s.do(false, c) }

// DoOnce is Do with one call of Apply at most, in the goroutine of the caller.
func (s *Stack) DoOnce(c Change) error { return s.do(true, c) }

// function is a change that keeps nothing in memory.
type function func(u *Unit) error

func (f function) Apply(u *Unit) error { return f(u) }
func (function) Undo()                 {}
