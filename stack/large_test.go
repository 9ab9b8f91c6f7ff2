// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// What is moved in pieces of a mebibyte arrives whole when that is no divisor of it, also when recovery moves it.
func TestLargeOddLengths(t *testing.T) {
	const n = 1<<20 + 37
	p := text(2*n+5, 0)
	pattern := text(1001, 3)
	for name, c := range map[string]struct {
		run  func(s *stack.Stack) error
		want []byte
	}{
		"copy up":   {func(s *stack.Stack) error { return s.Copy(1, n+3, n) }, over(bytes.Clone(p), n+3, p[1:n+1])},
		"copy down": {func(s *stack.Stack) error { return s.Copy(n+3, 1, n) }, over(bytes.Clone(p), 1, p[n+3:2*n+3])},
		"overlap":   {func(s *stack.Stack) error { return s.Copy(1, 8, 2*n-7) }, over(bytes.Clone(p), 8, p[1:2*n-6])},
		"set":       {func(s *stack.Stack) error { return s.Set(3, text(n, 1)) }, over(bytes.Clone(p), 3, text(n, 1))},
		"repeat": {func(s *stack.Stack) error {
			return s.Repeat(3, pattern, 1500)
		}, over(bytes.Clone(p), 3, bytes.Repeat(pattern, 1500))},
		"shorter tail": {func(s *stack.Stack) error {
			return s.Atrunc(n+100, text(n, 1))
		}, slices.Concat(p[:n+5-100], text(n, 1))},
	} {
		t.Run(name, func(t *testing.T) {
			disk := diskWith(t, p)
			s := open(t, disk, nil)
			check(t, c.run(s))
			check(t, s.Close())
			rests(t, disk, c.want)

			armed := 0
			for k := 2; k <= 6; k += 2 {
				disk := diskWith(t, p)
				s := open(t, disk, nil)
				disk.CutAt(k)
				err := c.run(s)
				_ = s.Close()
				for _, keep := range []func(int) bool{file.KeepAll, file.KeepNone} {
					left := disk.AfterCutKeeping(keep)
					if !bytes.Equal(raw(t, left)[16:headerSize], zeros[:16]) {
						armed++
					}
					survives(t, fmt.Sprint("cut at call ", k), left, promiseOf(err, p, c.want))
				}
			}
			if armed == 0 {
				t.Error("no journal was left")
			}
		})
	}
}

// promiseOf is what a change whose power may have gone leaves.
func promiseOf(err error, before, after []byte) outcome {
	if err == nil {
		return outcome{after, after}
	}
	return outcome{before, after}
}
