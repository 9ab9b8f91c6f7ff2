// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"
	"iter"
)

// All yields every element in the order of the keys. The value of a bucket is nil. As with a [Cursor], elements may be
// deleted on the way.
func (b *Bucket) All() iter.Seq2[[]byte, []byte] { return b.Scan(nil, nil) }

// Backward yields every element from the last key to the first.
func (b *Bucket) Backward() iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		c := b.Cursor()
		for k, v := c.Last(); k != nil && yield(k, v); k, v = c.Prev() {
		}
	}
}

// Scan yields the elements with lo <= key < hi in the order of the keys. A nil bound is none.
func (b *Bucket) Scan(lo, hi []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		c := b.Cursor()
		for k, v := c.Seek(lo); k != nil; k, v = c.Next() {
			if hi != nil && bytes.Compare(k, hi) >= 0 || !yield(k, v) {
				return
			}
		}
	}
}

// Prefix yields the elements whose keys begin with prefix, in the order of the keys.
func (b *Bucket) Prefix(prefix []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		c := b.Cursor()
		for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
			if !yield(k, v) {
				return
			}
		}
	}
}
