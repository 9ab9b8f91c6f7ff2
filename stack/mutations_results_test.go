// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/holtdb/holt/stack"
)

// Each mutation returns what it should, on a real file, and leaves the payload, and the file at rest, as it should.
func TestMutations(t *testing.T) {
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			s, err := stack.Open(path, &stack.Options{NoSync: true})
			check(t, err)
			_, err = s.Push(m.before())
			check(t, err)
			got, err := m.run(s)
			check(t, err)
			want, result := m.want(m.before())
			if !reflect.DeepEqual(got, result) {
				t.Errorf("got %v, want %v", got, result)
			}
			holds(t, s, want)
			check(t, s.Close())
			b, err := os.ReadFile(path)
			check(t, err)
			same(t, b, resting(want))
			s, err = stack.Open(path, nil)
			check(t, err)
			holds(t, s, want)
			check(t, s.Close())
		})
	}
}

// Data that was given to a mutation is the caller's again when it returns, also that of units.
func TestDataIsNotKept(t *testing.T) {
	s, disk := openWith(t, text(700, 0))
	data := bytes.Clone(text(300, 1))
	spoil := func() { clear(data) }
	check(t, s.Set(100, data))
	spoil()
	want := over(text(700, 0), 100, text(300, 1))
	s.Rest()
	same(t, raw(t, disk)[:headerSize+len(want)], resting(want))
	check(t, s.Update(func(u *stack.Unit) error {
		copy(data, text(300, 2))
		if _, err := u.WriteAt(data, 0); err != nil {
			return err
		}
		spoil()
		copy(data, text(300, 3))
		_, err := u.Push(data)
		spoil()
		return err
	}))
	holds(t, s, append(over(want, 0, text(300, 2)), text(300, 3)...))
}
