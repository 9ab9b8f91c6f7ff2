// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
)

// checkable is an archive whose bytes can be checked: one that is not being written to.
type checkable interface{ Check() iter.Seq[error] }

// archives checks the archives, several at a time. What is found is told archive by archive: who is ahead waits.
func (c *check) archives() error {
	var list []checkable
	for _, a := range c.store.Archives() {
		if a, ok := a.(checkable); ok && c.opts.Archives {
			list = append(list, a)
		}
	}
	ctx, cancel := context.WithCancel(c.ctx)
	findings := make([]chan error, len(list))
	for i := range findings {
		findings[i] = make(chan error)
	}
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	var next atomic.Int64 // taken in order, so that somebody is always at the one that is waited for
	for range min(c.opts.Workers, len(list)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				send(ctx, list[i], findings[i])
			}
		})
	}
	for _, found := range findings {
		for finding := range found {
			if err := c.opts.Found(finding); err != nil {
				return err
			}
		}
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
	}
	return nil
}

// send checks an archive and closes the channel.
func send(ctx context.Context, a checkable, found chan<- error) {
	defer close(found)
	if ctx.Err() != nil {
		return
	}
	for finding := range a.Check() {
		select {
		case found <- finding:
		case <-ctx.Done():
			return
		}
	}
}
