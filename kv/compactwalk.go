// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import "bytes"

// compactWalk reads everything that a transaction sees, in a goroutine of its own, and some way ahead of who writes it: it
// is there that the disk is waited for.
type compactWalk struct {
	steps   chan []compactStep // closed at the end
	failure any                // what the goroutine panicked with, to be read after that
	quit    chan struct{}

	tx      *Tx
	buckets *descent
	left    int64 // bytes that keys and values can still have: those of the whole file, at first
	batch   []compactStep
	seen    byte // of large values, so that they are read
}

// compactStep is what a walk comes by.
type compactStep struct {
	what       int
	key, value []byte
	sequence   uint64 // of the bucket
}

const (
	putPair     = iota // a key with its value
	enterBucket        // what follows is in the bucket with this name
	leaveBucket
)

func (s *compactStep) size() int64 { return int64(len(s.key)) + int64(len(s.value)) }

const (
	compactBatch = 512 // steps that are handed over at once
	compactAhead = 8   // batches that are read ahead
)

func startCompactWalk(tx *Tx) *compactWalk {
	w := &compactWalk{
		steps: make(chan []compactStep, compactAhead), quit: make(chan struct{}),
		tx: tx, buckets: newDescent(tx), left: tx.Size(),
	}
	go w.run()
	return w
}

// stop ends the walk and waits until it has ended.
func (w *compactWalk) stop() {
	close(w.quit)
	for range w.steps {
	}
}

func (w *compactWalk) run() {
	defer close(w.steps)
	defer func() {
		if w.failure = recover(); w.failure == (stopped{}) {
			w.failure = nil
		}
	}()
	w.bucket(w.tx.top())
	w.send()
}

// send hands over what has come together.
func (w *compactWalk) send() {
	select {
	case w.steps <- w.batch:
		w.batch = make([]compactStep, 0, compactBatch)
	case <-w.quit:
		panic(stopped{})
	}
}

func (w *compactWalk) add(s compactStep) {
	if w.left -= s.size(); w.left < 0 {
		w.tx.corrupt(w.tx.meta.Root, "keys and values take more bytes than the file has: they overlap")
	}
	for at := 0; at < len(s.value); at += w.tx.pageSize {
		w.seen ^= s.value[at]
	}
	if w.batch = append(w.batch, s); len(w.batch) >= compactBatch {
		w.send()
	}
}

// bucket walks over the contents of a bucket.
func (w *compactWalk) bucket(b *Bucket) {
	var last []byte
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		switch {
		case len(k) == 0 || len(k) > MaxKeySize && v != nil:
			w.tx.corrupt(c.home(), "page %d has a key of %d bytes", c.home(), len(k))
		case last != nil && bytes.Compare(last, k) >= 0:
			w.tx.corrupt(c.home(), "key %x of page %d is not above the one before it, %x", k, c.home(), last)
		}
		last = k
		if v != nil {
			w.add(compactStep{what: putPair, key: k, value: v})
			continue
		}
		child := w.buckets.enter(c, k)
		w.add(compactStep{what: enterBucket, key: k, sequence: child.Sequence()})
		w.bucket(child)
		w.add(compactStep{what: leaveBucket})
		w.buckets.leave()
	}
}
