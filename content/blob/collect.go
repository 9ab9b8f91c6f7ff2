// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"
)

// CollectOptions adjust [Collect]. The zero value spares nothing that was written before.
type CollectOptions struct {
	// Grace is for how long what was written is spared. It should be much longer than it takes until an id that was
	// written is in an archive, and so never zero unless nobody writes. Oak's default is a day.
	Grace time.Duration
	// DryRun deletes nothing, and reports what would have been.
	DryRun bool
	// Deleted is told about each binary that was deleted, or would have been. Its error ends the collection.
	Deleted func(Entry) error
	// Missing is told about each id in use whose binary is not there. Its error ends the collection.
	Missing func(id string) error
	// Now is the clock; it must be the one of who writes. Nil is that of the system.
	Now func() time.Time
}

// CollectReport is what a collection came upon.
type CollectReport struct {
	Used    int64 // different binaries in use, but for those in their ids
	Missing int64 // of these, how many are not there
	Found   Tally // what was there
	Young   Tally // of this, what is not in use and was spared
	Deleted Tally // and what was deleted, or would have been
	Cleaned Tally // what was left of writes that never ended, and was deleted, or would have been
}

// Collect deletes the binaries that are not in use and were last written longer ago than the grace time. It is a mark,
// which needs memory for an id of each binary in use, and a sweep.
//
// The ids in use are those of all content stores that refer to the binaries: one that is left out loses them. They may
// come in any order and several times. They must be those in use when used is called or later: what was looked up
// before Collect began is too old. Any error there, or an id that is not the store's, ends the collection before
// anything is deleted.
//
// The binaries may be read and written meanwhile, see the package.
func Collect(ctx context.Context, s Store, used iter.Seq2[string, error], o CollectOptions) (CollectReport, error) {
	now := o.Now
	if now == nil {
		now = time.Now
	}
	c := collection{store: s, opts: o, before: now().Add(-max(o.Grace, 0))} // ahead of the mark: (1)
	err := c.mark(ctx, used)
	if err == nil {
		err = c.sweep(ctx)
	}
	if err == nil {
		err = c.missing()
	}
	if err == nil {
		c.report.Cleaned, err = s.Clean(c.before, o.DryRun)
	}
	return c.report, err
}

// collection is one in progress. (1) A binary that is in use and not marked was written, or written again, after
// before: with less than the grace time from then to the archive.
type collection struct {
	store  Store
	opts   CollectOptions
	before time.Time
	used   map[string]string // an id by its key, which is a part of it; those that were found are taken out
	report CollectReport
}

func (c *collection) mark(ctx context.Context, used iter.Seq2[string, error]) error {
	c.used = map[string]string{}
	for id, err := range used {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		key, err := c.store.Key(id)
		if err != nil {
			return err
		}
		if key != "" {
			c.used[key] = id
		}
	}
	c.report.Used = int64(len(c.used))
	return nil
}

func (c *collection) sweep(ctx context.Context) error {
	for e, err := range c.store.All() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		c.report.Found.add(e.Size)
		if _, ok := c.used[e.Key]; ok {
			delete(c.used, e.Key)
			continue
		}
		if err := c.take(e); err != nil {
			return err
		}
	}
	return nil
}

// take deletes a binary that is not in use, if it is old.
func (c *collection) take(e Entry) error {
	old := e.Modified.Before(c.before)
	if old && !c.opts.DryRun {
		var err error
		if old, err = c.store.Delete(e.ID, c.before); err != nil { // it may have been written again
			return err
		}
	}
	if !old {
		c.report.Young.add(e.Size)
		return nil
	}
	c.report.Deleted.add(e.Size)
	if c.opts.Deleted == nil {
		return nil
	}
	return c.opts.Deleted(e)
}

// missing looks again for what the sweep did not come upon.
func (c *collection) missing() error {
	for _, key := range slices.Sorted(maps.Keys(c.used)) {
		id := c.used[key]
		r, err := c.store.Open(id)
		if err == nil {
			if err := r.Close(); err != nil {
				return err
			}
			continue
		}
		if _, ok := errors.AsType[*NotFoundError](err); !ok {
			return err
		}
		c.report.Missing++
		if c.opts.Missing != nil {
			if err := c.opts.Missing(id); err != nil {
				return err
			}
		}
	}
	return nil
}
