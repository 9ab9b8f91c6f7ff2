// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"
	"context"
)

// Compact copies everything that src holds, sequences of buckets included, into dst, in the order of the keys and in
// full pages: what a database that had much deleted from it needs to become small again. dst must not have any of the
// buckets yet. src may be in use meanwhile; the copy is that of one moment.
//
// Changes are committed whenever keys and values of txMaxSize bytes have come together, which bounds the memory that is
// needed; with zero all is one transaction. After an error dst holds an unspecified part.
func Compact(dst, src *DB, txMaxSize int64) error {
	return CompactContext(context.Background(), dst, src, txMaxSize)
}

// CompactContext is Compact that ends with ctx.
func CompactContext(ctx context.Context, dst, src *DB, txMaxSize int64) error {
	return src.ViewContext(ctx, func(from *Tx) (err error) {
		c := compactor{dst: dst, max: txMaxSize, from: from, left: from.Size()}
		defer c.discard(&err)
		if err := c.begin(ctx); err != nil {
			return err
		}
		if err := c.copy(ctx, newDescent(from), from.top()); err != nil {
			return err
		}
		return c.tx.Commit()
	})
}

// compactor writes to the destination. Between two commits it keeps the handles of the buckets it is in.
type compactor struct {
	dst  *DB
	from *Tx
	left int64    // bytes that keys and values can still have: those of the whole file, at first
	max  int64    // bytes of keys and values per transaction, 0 for no limit
	size int64    // so far in this one
	path [][]byte // names of the buckets from the root down to the one being filled

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
	c.into = append(c.into[:0], filled(tx.root))
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
func (c *compactor) reserve(ctx context.Context, key, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	size := int64(len(key)) + int64(len(value))
	if c.left -= size; c.left < 0 {
		c.from.corrupt(c.from.meta.Root, "keys and values take more bytes than the file has: they overlap")
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

// copy copies the contents of a bucket to the one at the end of the path.
func (c *compactor) copy(ctx context.Context, d *descent, from *Bucket) error {
	var last []byte
	cur := from.Cursor()
	for k, v := cur.First(); k != nil; k, v = cur.Next() {
		switch {
		case len(k) == 0 || len(k) > MaxKeySize && v != nil:
			id := cur.home()
			from.tx.corrupt(id, "page %d has a key of %d bytes", id, len(k))
		case last != nil && bytes.Compare(last, k) >= 0:
			id := cur.home()
			from.tx.corrupt(id, "key %x of page %d is not above the one before it, %x", k, id, last)
		}
		last = k
		if err := c.reserve(ctx, k, v); err != nil {
			return err
		}
		into := c.into[len(c.into)-1]
		if !cur.onBucket() {
			if err := into.Put(k, v); err != nil {
				return err
			}
			continue
		}
		if err := c.copyBucket(ctx, d, into, d.enter(cur, k), k); err != nil {
			return err
		}
		d.leave()
	}
	return nil
}

// copyBucket makes the bucket called name and fills it.
func (c *compactor) copyBucket(ctx context.Context, d *descent, into, from *Bucket, name []byte) error {
	b, err := into.CreateBucket(name)
	if err != nil {
		return err
	}
	if err := b.SetSequence(from.Sequence()); err != nil {
		return err
	}
	c.path = append(c.path, name)
	c.into = append(c.into, filled(b))
	if err := c.copy(ctx, d, from); err != nil {
		return err
	}
	c.path = c.path[:len(c.path)-1]
	c.into = c.into[:len(c.into)-1]
	return nil
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
