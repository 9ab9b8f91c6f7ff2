// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import "context"

// Compact copies everything that src holds, sequences of buckets included, into dst, in the order of the keys and in
// full pages: what a database that had much deleted from it needs to become small again. dst must not have any of the
// buckets yet, and no other transaction can write to it meanwhile. src may be in use; the copy is that of one moment.
//
// Changes are committed whenever keys and values of txMaxSize bytes have come together, in whole pages; with zero all is
// one transaction. The memory that is needed, some megabytes for each CPU, does not depend on it. After an error dst
// holds an unspecified part.
//
// The pages of the copy are put together on all CPUs, while those before them are written and those after them read.
//
// Errors: those of beginning and committing transactions, [ErrBucketExists], [ErrIncompatibleValue] if dst has a plain key
// where src has a bucket or the other way round, the [*CorruptError] of damage to either.
func Compact(dst, src *DB, txMaxSize int64) error {
	return CompactContext(context.Background(), dst, src, txMaxSize)
}

// CompactOption adjusts [CompactContext].
type CompactOption func(*compactor)

// CompactProgress has progress told now and then how many bytes more of keys and values have been copied, by the goroutine
// that called [CompactContext].
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
		tx, err := dst.BeginContext(ctx, true)
		if err != nil {
			return err
		}
		defer func() { <-dst.slot }()
		defer c.discard(&err)
		c.begin(tx)
		c.crew = startCompactCrew(from, dst.pageSize)
		defer c.crew.stop()
		c.pages = c.crew.writer()
		for b := range c.crew.batches {
			if err := c.batch(ctx, b); err != nil {
				return err
			}
		}
		if c.crew.failure != nil {
			panic(c.crew.failure)
		}
		return c.tx.Commit()
	})
}

// compactor writes to the destination. No other transaction can come between its own.
type compactor struct {
	dst      *DB
	max      int64 // bytes of keys and values per transaction, 0 for no limit
	size     int64 // so far in this one
	progress func(bytes int64)
	crew     *compactCrew

	tx        *Tx
	open      []*filling // the buckets that are being filled, from the top-level one down
	pages     *writer    // puts pages together
	temporary []run      // pages of the last transaction that this one replaces
	unwritten int        // bytes of pages
	written   []*writer  // that put pages together which are all taken over
}

func (c *compactor) begin(tx *Tx) {
	tx.notes.keepSlot = true
	tx.root().FillPercent = 1 // full pages as it grows at its end
	c.tx, c.size = tx, 0
	for _, r := range c.temporary {
		tx.w.free(r)
	}
	c.temporary = c.temporary[:0]
}

// batch copies what the walk has come by.
func (c *compactor) batch(ctx context.Context, b *compactBatch) error {
	<-b.built
	if b.failure != nil {
		panic(b.failure)
	}
	for i := range b.steps {
		s := &b.steps[i]
		if err := c.reserve(ctx, s.size); err != nil {
			return err
		}
		if err := c.step(s, b); err != nil {
			return err
		}
	}
	if b.pages != nil {
		c.written = append(c.written, b.pages)
	}
	c.progress(b.size)
	return nil
}

// reserve makes room for a step, by a new transaction if this one is full. It also looks whether to go on at all.
func (c *compactor) reserve(ctx context.Context, size int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.unwritten >= c.dst.imagesMax {
		if err := c.flush(); err != nil {
			return err
		}
	}
	if c.max != 0 && c.size > 0 && c.size+size > c.max {
		if err := c.seal(); err != nil {
			return err
		}
		if err := c.tx.Commit(); err != nil {
			return err
		}
		c.recycle()
		tx, err := c.dst.logBegin(true, func() (*Tx, error) { return c.dst.tryWrite(ctx) })
		if err != nil {
			return err
		}
		c.begin(tx)
	}
	c.size += size
	return nil
}

// flush writes the pages that have been taken over, before the commit.
func (c *compactor) flush() error {
	if err := c.tx.settle(); err != nil {
		return err
	}
	if err := c.tx.w.writeNow(); err != nil {
		return err
	}
	c.recycle()
	return nil
}

// recycle gives the writers back whose pages are written.
func (c *compactor) recycle() {
	for _, w := range c.written {
		c.crew.put(w)
	}
	c.written = c.written[:0]
	c.crew.put(c.pages)
	c.pages = c.crew.writer()
	c.unwritten = 0
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
