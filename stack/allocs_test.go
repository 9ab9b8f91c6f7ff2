// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/stack"
)

// Reads into the caller's memory allocate nothing; others what they return.
func TestAllocationsOfReads(t *testing.T) {
	s, err := stack.Open(filepath.Join(t.TempDir(), name), &stack.Options{NoSync: true})
	check(t, err)
	_, err = s.Push(text(1000, 0))
	check(t, err)
	p := make([]byte, 100)
	batch := []stack.Read{{Off: 0, P: p[:50]}, {Off: 500, P: p[50:]}}
	r := s.NewReader(0)
	for _, c := range []struct {
		name string
		run  func() error
		most float64
	}{
		{"GetInto", func() error { return s.GetInto(10, p) }, 0},
		{"PeekInto", func() error { return s.PeekInto(10, p) }, 0},
		{"GetBatchedInto", func() error { return s.GetBatchedInto(batch) }, 0},
		{"ReadAt", func() error {
			_, err := s.ReadAt(p, 10)
			return err
		}, 0},
		{"Reader", func() error {
			_, err := r.Read(p[:1])
			return err
		}, 0},
		{"Len", func() error {
			_ = s.Len()
			return nil
		}, 0},
		{"Get", func() error {
			_, err := s.Get(10, 110)
			return err
		}, 1},
		{"Peek", func() error {
			_, err := s.Peek(900)
			return err
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, func() { err = c.run() }); n > c.most {
				t.Errorf("%v allocations", n)
			}
			check(t, err)
		})
	}
	check(t, s.Close())
}
