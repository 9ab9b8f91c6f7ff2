// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// TestView looks at a stack that is open for writing, and at one that is not.
func TestView(t *testing.T) {
	disk := file.NewMemory()
	put(t, disk, resting([]byte("hello")))
	for _, readOnly := range []bool{false, true} {
		s, err := stack.Open(name, &stack.Options{FS: disk, ReadOnly: readOnly})
		check(t, err)
		var serial uint64
		check(t, s.View(func(u *stack.Unit) error {
			serial = u.Serial()
			p := make([]byte, 3)
			_, err := u.ReadAt(p, 2)
			if string(p) != "llo" || u.Len() != 5 {
				t.Errorf("%q of %d bytes", p, u.Len())
			}
			return err
		}))
		sentinel := errors.New("mine")
		err = s.View(func(u *stack.Unit) error {
			if u.Serial() == serial {
				t.Error("the same unit again")
			}
			refuseChanges(t, u)
			return sentinel
		})
		if !errors.Is(err, sentinel) {
			t.Errorf("error %v", err)
		}
		if !readOnly {
			_, err := s.Push([]byte("!")) // the next unit is one to change
			check(t, errors.Join(err, s.Discard(1)))
		}
		check(t, s.Close())
		if err := s.View(func(*stack.Unit) error { return nil }); !errors.Is(err, stack.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	}
	if got := raw(t, disk); !bytes.Equal(got, resting([]byte("hello"))) {
		t.Errorf("the file is %x", got)
	}
}

// refuseChanges tries everything that would change the payload.
func refuseChanges(t *testing.T, u *stack.Unit) {
	t.Helper()
	_, write := u.WriteAt([]byte("x"), 0)
	_, push := u.Push([]byte("x"))
	_, extend := u.Extend(1)
	for what, err := range map[string]error{
		"WriteAt": write, "Push": push, "Extend": extend,
		"Truncate": u.Truncate(1), "Zero": u.Zero(0, 1), "Pop": u.Pop(make([]byte, 1)),
	} {
		if !errors.Is(err, stack.ErrReadOnly) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if u.Len() != 5 {
		t.Errorf("the length is %d", u.Len())
	}
}

// TestViewThatDoesNotReturn leaves the stack as usable as it was.
func TestViewThatDoesNotReturn(t *testing.T) {
	disk := file.NewMemory()
	put(t, disk, resting([]byte("hello")))
	for _, readOnly := range []bool{false, true} {
		s, err := stack.Open(name, &stack.Options{FS: disk, ReadOnly: readOnly})
		check(t, err)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_ = s.View(func(*stack.Unit) error { panic("mine") })
		}()
		check(t, s.View(func(*stack.Unit) error { return nil }))
		if !readOnly {
			check(t, errors.Join(s.Set(0, []byte("H")), s.Set(0, []byte("h"))))
		}
		check(t, s.Close())
	}
}

// TestViewInAGroup queues a change behind a View, which it must not share the unit's refusal with.
func TestViewInAGroup(t *testing.T) {
	disk := diskWith(t, text(100, 0))
	q := newQueue(t, disk, disk)
	q.call(t, nil, func() error {
		return q.s.View(func(u *stack.Unit) error {
			refuse := u.Truncate(0)
			if !errors.Is(refuse, stack.ErrReadOnly) {
				t.Errorf("error %v", refuse)
			}
			return nil
		})
	})
	q.call(t, nil, func() error {
		_, err := q.s.Push(text(5, 1))
		return err
	})
	q.run()
	holds(t, q.s, append(first(100), text(5, 1)...))
	check(t, q.s.Close())
}
