// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// Batch is [DB.Update] for many goroutines at a time: the functions of calls that come while a transaction is being
// committed share the next one, and with it the cost of making it durable. Alone, Batch is Update.
//
// When a function returns an error or panics, the transaction is rolled back and tried again without it, while the
// function runs once more by itself, in the goroutine of its caller, whose result or panic is that of Batch. Functions
// may thus run several times: their effects outside the transaction must bear that, and must not be used before Batch
// has returned nil.
//
// A transaction takes at most DB.MaxBatchSize functions; with zero or one Batch is the same as Update. DB.MaxBatchDelay
// is the longest that a function waits for others to join it. Up to [DefaultMaxBatchDelay] a transaction starts as soon
// as none is running, which is sooner; a longer delay asks for large transactions, and each then waits until it is full
// or the delay is over.
func (db *DB) Batch(fn func(*Tx) error) error {
	if db.MaxBatchSize <= 1 {
		return db.Update(fn)
	}
	b := &db.batch
	gather := db.MaxBatchDelay > DefaultMaxBatchDelay

	b.mu.Lock()
	if !b.busy && !gather {
		b.busy = true
		b.mu.Unlock()
		tx, err := b.first(db, fn)
		if err == nil {
			tx.committed() // not in charge any more: they may call Batch
		}
		return err
	}
	c := batchCalls.Get().(*batchCall)
	c.fn = fn
	if gather {
		c.since = time.Now()
	}
	b.queue = append(b.queue, c)
	if b.full != nil && len(b.queue) >= db.MaxBatchSize {
		close(b.full)
		b.full = nil
	}
	if !b.busy {
		b.busy = true
		go b.work(db)
	}
	b.mu.Unlock()

	err := <-c.result
	*c = batchCall{result: c.result}
	batchCalls.Put(c)
	if err == errBatchAlone { //nolint:errorlint // a message to this function alone, never wrapped
		return db.Update(fn)
	}
	if p, ok := err.(batchPanic); ok { //nolint:errorlint // likewise
		panic(p.value)
	}
	return err
}

// batcher is the state behind [DB.Batch]. One goroutine at a time is in charge of it: a caller that found nobody and
// runs its own function, or the worker, which lives while there is a queue.
type batcher struct {
	mu    sync.Mutex
	busy  bool          // guarded by mu: somebody is in charge
	queue []*batchCall  // guarded by mu: calls that wait, in the order they came
	full  chan struct{} // guarded by mu: to be closed when the queue fills a transaction; nil when nobody waits for it

	calls   []*batchCall // owned by the worker: those of the running transaction
	running int          // owned by the worker: index in calls of the function that runs, or nobody
}

const nobody = -1

// batchCall is one waiting call. Each gets exactly one result.
type batchCall struct {
	fn     func(*Tx) error
	since  time.Time  // when it came, if the delay matters
	result chan error // of capacity one
}

var batchCalls = sync.Pool{New: func() any { return &batchCall{result: make(chan error, 1)} }}

// errBatchAlone as a result tells a call to run its function by itself.
var errBatchAlone = errors.New("failed in a batch")

// batchPanic as a result tells a call to panic: the transaction it was part of did, outside of any function.
type batchPanic struct{ value any }

func (batchPanic) Error() string { return "panic in a batch" }

// errBatchExit is the value of such a panic after a goroutine was ended by a handler of [Tx.OnCommit].
var errBatchExit = errors.New("kv: runtime.Goexit called while a batch was committed")

// first runs the function of a caller that found nobody in charge.
func (b *batcher) first(db *DB, fn func(*Tx) error) (*Tx, error) {
	defer b.handOver(db)
	return db.update(context.Background(), fn)
}

// handOver ends the charge of a caller that ran its own function.
func (b *batcher) handOver(db *DB) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.busy = false
		return
	}
	go b.work(db)
}

// work runs batches until nobody waits. A panic, or the end of the goroutine by [runtime.Goexit], is dealt with here
// whatever caused it: another goroutine takes the place of this one.
func (b *batcher) work(db *DB) {
	done := false
	defer func() {
		if !done {
			b.unwound(recover())
			go b.work(db)
		}
	}()
	for len(b.calls) > 0 || b.take(db) {
		b.attempt(db)
	}
	done = true
}

// attempt runs the functions of the batch in one transaction. If one of them fails, it leaves the batch, and the rest
// is left for another attempt.
func (b *batcher) attempt(db *DB) {
	b.running = nobody
	tx, err := db.update(context.Background(), b.apply)
	switch {
	case b.running != nobody:
		b.expel()
		return
	case err == nil && len(tx.notes.onCommit) > 0:
		calls := b.calls
		b.calls = nil
		go announce(tx, calls)
	default:
		finish(b.calls, err)
		b.calls = emptied(b.calls)
	}
	b.giveWay()
}

// announce calls the functions of OnCommit, which may call Batch themselves, before it gives the calls their result.
func announce(tx *Tx, calls []*batchCall) {
	var err error = batchPanic{errBatchExit} // unless something else becomes of it
	defer func() {
		if r := recover(); r != nil {
			err = batchPanic{r}
		}
		finish(calls, err)
	}()
	tx.committed()
	err = nil
}

// giveWay lets others run as long as that makes the queue grow. Those who just got their results often have more to do,
// and who comes before the next batch is taken need not wait for it to be committed first. The price is that of a few
// switches, far less than that of a commit.
func (b *batcher) giveWay() {
	for before, now := -1, 0; now > before; {
		runtime.Gosched()
		before = now
		b.mu.Lock()
		now = len(b.queue)
		b.mu.Unlock()
	}
}

// apply runs the functions one after the other, and leaves running at the one that failed.
func (b *batcher) apply(tx *Tx) error {
	for i, c := range b.calls {
		b.running = i
		if err := c.fn(tx); err != nil {
			return err
		}
	}
	b.running = nobody
	return nil
}

// unwound deals with a panic, or with the end of a goroutine when its value is nil. If no function was running, the
// engine panicked: nobody knows for whom, and the changes may have been committed.
func (b *batcher) unwound(value any) {
	switch {
	case b.running != nobody:
		b.expel()
	case value == nil:
		finish(b.calls, batchPanic{errBatchExit})
		b.calls = nil
	default:
		finish(b.calls, batchPanic{value})
		b.calls = nil
	}
}

// expel takes the function that failed out of the batch, and lets its caller run it by itself.
func (b *batcher) expel() {
	last := len(b.calls) - 1
	c := b.calls[b.running]
	b.calls[b.running], b.calls[last] = b.calls[last], nil
	b.calls = b.calls[:last]
	c.result <- errBatchAlone
}

// finish gives calls the same result.
func finish(calls []*batchCall, err error) {
	for _, c := range calls {
		c.result <- err
	}
}

// take moves calls from the queue to the batch. If nobody waits, it ends the worker's charge and returns false.
func (b *batcher) take(db *DB) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.busy = false
		return false
	}
	b.gather(db)
	n := min(len(b.queue), max(db.MaxBatchSize, 1))
	b.calls = append(b.calls, b.queue[:n]...)
	rest := copy(b.queue, b.queue[n:])
	clear(b.queue[rest:])
	b.queue = b.queue[:rest]
	return true
}

// gather waits until the queue fills a transaction or its first call has waited long enough. It gives up mu meanwhile.
func (b *batcher) gather(db *DB) {
	delay := db.MaxBatchDelay - time.Since(b.queue[0].since)
	if db.MaxBatchDelay <= DefaultMaxBatchDelay || delay <= 0 || len(b.queue) >= db.MaxBatchSize {
		return
	}
	full := make(chan struct{})
	b.full = full
	b.mu.Unlock()
	timer := time.NewTimer(delay)
	select {
	case <-full:
	case <-timer.C:
	case <-db.quit: // all of them are refused
	}
	timer.Stop()
	b.mu.Lock()
	b.full = nil
}
