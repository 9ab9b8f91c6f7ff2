// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"crypto/sha256"
	"hash"
)

// maxShown is how many bytes are shown before their digest is shown instead.
const maxShown = 200

// abridger takes in bytes and keeps them, or the digest of them if they are many.
type abridger struct {
	kept []byte
	n    int64
	sum  hash.Hash
	many bool // sum has all that was written
}

func (a *abridger) reset() { a.kept, a.n, a.many = a.kept[:0], 0, false }

func (a *abridger) Write(p []byte) (int, error) {
	a.n += int64(len(p))
	if a.n <= maxShown {
		a.kept = append(a.kept, p...)
		return len(p), nil
	}
	if !a.many {
		a.many = true
		if a.sum == nil {
			a.sum = sha256.New()
		}
		a.sum.Reset()
		a.sum.Write(a.kept)
	}
	a.sum.Write(p)
	return len(p), nil
}
