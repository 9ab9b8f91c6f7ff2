// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import "testing"

// FuzzOpen demands that a file of any bytes is refused or shows what the rules of the format say.
func FuzzOpen(f *testing.F) {
	for _, content := range victims() {
		f.Add(content)
	}
	for _, l := range leftovers {
		f.Add(l.content)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > 1<<16 {
			t.Skip("longer files have nothing new")
		}
		truthful(t, content)
	})
}
