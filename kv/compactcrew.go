// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"runtime"
	"sync"
)

// compactCrew are the goroutines that do for a compaction what need not be done in order: one walks over the source and
// plans the leaves of the copy, the others put the pages of those leaves together, some batches ahead of who writes them.
// It is there that the disk is waited for.
type compactCrew struct {
	batches chan *compactBatch // in order; closed at the end
	todo    chan *compactBatch // the same
	quit    chan struct{}
	running sync.WaitGroup
	failure any // what the walk panicked with, to be read after the last batch

	view  Tx        // of the source, with pages of the destination's size
	spare sync.Pool // writers without work
}

// compactAhead is the number of batches that are planned ahead.
const compactAhead = 8

// startCompactCrew has the contents of src planned and built in pages of that size.
func startCompactCrew(src *Tx, pageSize int) *compactCrew {
	view := *src.snapshot
	view.pageSize = pageSize
	c := &compactCrew{
		batches: make(chan *compactBatch, compactAhead), todo: make(chan *compactBatch, compactAhead),
		quit: make(chan struct{}), view: Tx{snapshot: &view},
	}
	c.spare.New = func() any { return newWriter(pageSize) }
	c.running.Go(func() { c.walk(src) })
	for range crewSize(src.limit) {
		c.running.Go(c.build)
	}
	return c
}

// stop ends the goroutines and waits until they have ended.
func (c *compactCrew) stop() {
	close(c.quit)
	for range c.batches {
	}
	c.running.Wait()
}

func (c *compactCrew) walk(src *Tx) {
	defer close(c.batches)
	defer close(c.todo)
	defer func() {
		if c.failure = recover(); c.failure == (stopped{}) {
			c.failure = nil
		}
	}()
	w := compactWalk{tx: src, pageSize: c.view.pageSize, send: c.send, left: src.Size(), pagesLeft: src.limit}
	w.run()
}

// send hands a batch to those who build it and to who writes it.
func (c *compactCrew) send(b *compactBatch) {
	b.built = make(chan struct{})
	for _, to := range []chan *compactBatch{c.todo, c.batches} {
		select {
		case to <- b:
		case <-c.quit:
			panic(stopped{})
		}
	}
}

func (c *compactCrew) build() {
	for b := range c.todo {
		c.buildBatch(b)
	}
}

// noID stands for the place of a page that has none yet.
const noID = 1

// buildBatch builds the pages of a batch but for leaves with buckets that have pages: nobody knows yet where those are.
func (c *compactCrew) buildBatch(b *compactBatch) {
	defer close(b.built)
	defer func() { b.failure = recover() }()
	for i := range b.steps {
		if s := &b.steps[i]; s.what == addLeaf && len(s.leaf.kids) == 0 {
			if b.pages == nil {
				b.pages = c.writer()
			}
			b.pages.ext = s.leaf.ext
			runtime.KeepAlive(readValues(s.leaf.ext)) // large ones are written from where they are
			b.pages.image(noID, b.pages.pagesFor(s.leaf.size), s.leaf.slots, int(s.leaf.size), true)
		}
	}
}

// writer returns one that puts pages together out of what the source has.
func (c *compactCrew) writer() *writer {
	w := c.spare.Get().(*writer)
	w.tx = &c.view
	return w
}

// put takes a writer back when its pages are written.
func (c *compactCrew) put(w *writer) {
	w.ext = nil // which is not its own
	w.reset()
	c.spare.Put(w)
}

// readValues reads a byte of each page of some values.
func readValues(values [][]byte) (sum byte) {
	for _, v := range values {
		for at := 0; at < len(v); at += externalMin {
			sum += v[at]
		}
	}
	return sum
}
