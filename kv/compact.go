// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import "context"

// Compact copies everything that src holds, sequences of buckets included, into dst, in the order of the keys and in
// full pages: what a database that had much deleted from it needs to become small again. dst must not have any of the
// buckets yet. src may be in use meanwhile; the copy is that of one moment.
//
// Changes are committed whenever keys and values of txMaxSize bytes have come together, which bounds the memory that is
// needed; with zero all is one transaction. After an error dst holds an unspecified part.
func Compact(dst, src *DB, txMaxSize int64) error {
	return CompactContext(context.Background(), dst, src, txMaxSize)
}

// CompactOption adjusts [CompactContext].
type CompactOption func(*compactor)

// CompactProgress has progress told how many bytes more of keys and values have been copied, after each of some.
func CompactProgress(progress func(bytes int64)) CompactOption {
	return func(c *compactor) { c.progress = progress }
}

// CompactContext is Compact that ends with ctx.
func CompactContext(ctx context.Context, dst, src *DB, txMaxSize int64, options ...CompactOption) error {
	return src.ViewContext(ctx, func(from *Tx) (err error) {
		c := compactor{dst: dst, max: txMaxSize, progress: func(int64) {}}
		for _, o := range options {
			o(&c)
		}
		defer c.discard(&err)
		if err := c.begin(ctx); err != nil {
			return err
		}
		w := startCompactWalk(from)
		defer w.stop()
		for steps := range w.steps {
			done := int64(0)
			for i := range steps {
				if err := c.step(ctx, &steps[i]); err != nil {
					return err
				}
				done += steps[i].size()
			}
			c.progress(done)
		}
		if w.failure != nil {
			panic(w.failure)
		}
		return c.tx.Commit()
	})
}

// compactor writes to the destination. Between two commits it keeps the handles of the buckets it is in.
type compactor struct {
	dst      *DB
	max      int64    // bytes of keys and values per transaction, 0 for no limit
	size     int64    // so far in this one
	path     [][]byte // names of the buckets from the root down to the one being filled
	progress func(bytes int64)

	tx   *Tx
	into []*Bucket // into[0] is the root bucket, into[i+1] is the one called path[i]
}

// begin starts a transaction and opens the buckets on the path.
func (c *compactor) begin(ctx context.Context) error {
	tx, err := c.dst.BeginContext(ctx, true)
	if err != nil {
		return err
	}
	c.tx, c.size = tx, 0
	c.into = append(c.into[:0], filled(tx.root()))
	for i, name := range c.path {
		c.into = append(c.into, filled(c.into[i].Bucket(name)))
	}
	return nil
}

// filled makes a bucket that grows at its end have full pages.
func filled(b *Bucket) *Bucket {
	b.FillPercent = 1
	return b
}

// reserve makes room for an item, by a new transaction if this one is full. It also looks whether to go on at all.
func (c *compactor) reserve(ctx context.Context, size int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.max != 0 && c.size+size > c.max {
		if err := c.tx.Commit(); err != nil {
			return err
		}
		if err := c.begin(ctx); err != nil {
			return err
		}
	}
	c.size += size
	return nil
}

// step copies what the walk has come by.
func (c *compactor) step(ctx context.Context, s *compactStep) error {
	last := len(c.into) - 1
	if s.what == leaveBucket {
		c.path, c.into = c.path[:last-1], c.into[:last]
		return nil
	}
	if err := c.reserve(ctx, s.size()); err != nil {
		return err
	}
	if s.what == putPair {
		return c.into[last].Put(s.key, s.value)
	}
	b, err := c.into[last].CreateBucket(s.key)
	if err != nil {
		return err
	}
	c.path, c.into = append(c.path, s.key), append(c.into, filled(b))
	return b.SetSequence(s.sequence)
}

// discard ends the transaction if it is open, and returns the damage that it met, if that is how it ended.
func (c *compactor) discard(err *error) {
	r := recover()
	if c.tx != nil {
		c.tx.discard()
	}
	if r == nil {
		return
	}
	if e, ok := r.(*CorruptError); ok {
		*err = e
		return
	}
	panic(r)
}
