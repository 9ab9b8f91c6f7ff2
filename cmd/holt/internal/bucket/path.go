// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package bucket finds and walks nested buckets of a kv database, damaged ones included.
package bucket

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv"
)

// Path leads from the root bucket, which is the empty path, to a bucket.
type Path [][]byte

// String prints the path for messages.
func (p Path) String() string {
	names := make([]string, len(p))
	for i, name := range p {
		names[i] = text.Quote(name)
	}
	return strings.Join(names, " ")
}

// Child is the path of a bucket in p.
func (p Path) Child(name []byte) Path {
	return append(slices.Clip(p), name)
}

// Root is the bucket of all top-level buckets.
func Root(tx *kv.Tx) *kv.Bucket { return tx.Cursor().Bucket() }

// Find gives the bucket at the path.
func (p Path) Find(tx *kv.Tx) (*kv.Bucket, error) {
	b := Root(tx)
	for i, name := range p {
		child := b.Bucket(name)
		switch {
		case child != nil:
		case b.Get(name) != nil:
			return nil, fmt.Errorf("%w: %s is a key", kv.ErrBucketNotFound, p[:i+1])
		default:
			return nil, fmt.Errorf("%w: %s", kv.ErrBucketNotFound, p[:i+1])
		}
		b = child
	}
	return b, nil
}

// Create gives the bucket at the path, and makes what is missing of it.
func (p Path) Create(tx *kv.Tx) (*kv.Bucket, error) {
	b := Root(tx)
	for i, name := range p {
		var err error
		if b, err = b.CreateBucketIfNotExists(name); err != nil {
			return nil, fmt.Errorf("creating bucket %s: %w", p[:i+1], err)
		}
	}
	return b, nil
}
