// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package bucket

import (
	"bytes"
	"context"
	"fmt"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv"
)

// Each calls fn with every entry of a bucket in key order; the value of a bucket is nil. It insists on the order: a
// damaged branch page that leads to one page many times would otherwise keep it busy for ever.
func Each(ctx context.Context, b *kv.Bucket, fn func(key, value []byte) error) error {
	var last []byte
	for k, v := range b.All() {
		if last != nil && bytes.Compare(k, last) <= 0 {
			return fmt.Errorf("damaged bucket: key %s comes after key %s", text.Quote(k), text.Quote(last))
		}
		last = k
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(k, v); err != nil {
			return err
		}
	}
	return nil
}

// Listed gives the bucket that was listed under name among the entries of another. In a damaged file a key may be where
// no search for it leads.
func Listed(parent *kv.Bucket, name []byte) (*kv.Bucket, error) {
	b := parent.Bucket(name)
	if b == nil {
		return nil, fmt.Errorf("damaged bucket: %s cannot be found where it is listed", text.Quote(name))
	}
	return b, nil
}

// maxNesting bounds the depth of walks over nested buckets.
const maxNesting = 10_000

// Walker enters nested buckets. In a sound file every page belongs to one bucket; the walker notices when a damaged one
// would lead it in circles.
type Walker struct {
	seen  map[kv.Pgid]struct{} // root pages
	depth int
}

// NewWalker makes a walker for one walk.
func NewWalker() *Walker { return &Walker{seen: make(map[kv.Pgid]struct{})} }

// Enter gives the bucket called name, into which the caller then goes. [Walker.Leave] must follow.
func (w *Walker) Enter(parent *kv.Bucket, name []byte) (*kv.Bucket, error) {
	b, err := Listed(parent, name)
	if err != nil {
		return nil, err
	}
	if page := b.Root(); page != 0 {
		if _, again := w.seen[page]; again {
			return nil, fmt.Errorf("damaged bucket: page %d is the root of %s and of another", page, text.Quote(name))
		}
		w.seen[page] = struct{}{}
	}
	if w.depth++; w.depth > maxNesting {
		return nil, fmt.Errorf("damaged bucket: %s lies more than %d deep", text.Quote(name), maxNesting)
	}
	return b, nil
}

// Leave goes back to the bucket that [Walker.Enter] was called with.
func (w *Walker) Leave() { w.depth-- }

// Depth is the number of buckets entered and not left.
func (w *Walker) Depth() int { return w.depth }

// Visitor sees the entries of buckets, parents before children. The path is that of the bucket an entry is in. The
// value of a bucket is nil.
type Visitor func(path Path, key, value []byte) error

// Walk visits everything in b, the bucket at path, and below it.
func Walk(ctx context.Context, b *kv.Bucket, path Path, visit Visitor) error {
	return NewWalker().walk(ctx, b, path, visit)
}

func (w *Walker) walk(ctx context.Context, b *kv.Bucket, path Path, visit Visitor) error {
	return Each(ctx, b, func(k, v []byte) error {
		if err := visit(path, k, v); err != nil || v != nil {
			return err
		}
		sub, err := w.Enter(b, k)
		if err != nil {
			return err
		}
		defer w.Leave()
		return w.walk(ctx, sub, path.Child(k), visit)
	})
}
