// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

// View runs fn with a unit that shows the payload at one moment and refuses changes with [ErrReadOnly]. Mutations wait
// meanwhile, and other calls of View; reads do not. fn must not call the stack.
func (s *Stack) View(fn func(u *Unit) error) error {
	if s.opts.ReadOnly {
		return s.viewStill(fn)
	}
	return s.run(true, func(u *Unit) error {
		u.fixed = true
		return fn(u)
	})
}

// viewStill is View of a payload that nobody changes.
func (s *Stack) viewStill(fn func(u *Unit) error) error {
	s.viewing.Lock()
	defer s.viewing.Unlock()
	s.mu.RLock() // against Close
	defer s.mu.RUnlock()
	if err := s.readable(); err != nil {
		return err
	}
	s.unit.begin(s)
	s.unit.fixed = true
	return fn(&s.unit)
}
