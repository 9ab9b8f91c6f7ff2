// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"
	"time"

	"github.com/holtdb/holt/content/segment"
)

// Flush makes durable what was appended, and the head.
func (d *Dir) Flush() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.usable(); err != nil {
		return err
	}
	return d.flush()
}

// flush goes by this order: the journal may name nothing that a crash can take away.
func (d *Dir) flush() error {
	if d.current != nil {
		if err := d.current.Flush(); err != nil {
			d.failed = fmt.Errorf("%w: %w", ErrFailed, err)
			return err
		}
	}
	if err := d.log(); err != nil {
		return err
	}
	d.dirty = false
	return nil
}

// log writes the head into the journal, if it is not there.
func (d *Dir) log() error {
	if d.pending == (Revision{}) {
		return nil
	}
	if err := d.journal.add(d.pending.line()); err != nil {
		d.failed = fmt.Errorf("%w: %w", ErrFailed, err)
		return err
	}
	d.pending = Revision{}
	return nil
}

// SetHead replaces the head by compare-and-swap.
func (d *Dir) SetHead(old segment.RecordID, head Revision) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.usable(); err != nil {
		return err
	}
	if d.head != old {
		return fmt.Errorf("%w: from %s to %s", ErrConflict, old, d.head)
	}
	if err := (&nodes{finder: d}).check(head.ID); err != nil {
		return err
	}
	if head.ID != old {
		d.pending, d.dirty = head, true
	}
	// Without a head a store that has segments is not opened: the first one does not wait.
	if d.opts.FlushEvery <= 0 || old == (segment.RecordID{}) {
		if err := d.flush(); err != nil {
			return err
		}
	}
	d.head = head.ID
	return nil
}

// keepFlushing flushes what is new, again and again. A failure is told to whoever wants to write something next.
func (d *Dir) keepFlushing() {
	tick := time.NewTicker(d.opts.FlushEvery)
	defer tick.Stop()
	for {
		select {
		case <-d.stop:
			return
		case <-tick.C:
			d.flushNew()
		}
	}
}

func (d *Dir) flushNew() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.dirty || d.usable() != nil {
		return
	}
	if err := d.flush(); err != nil {
		d.opts.Logger.Error("the store takes no more changes", "reason", err)
	}
}
