// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// crew is a number of goroutines that walk over pages together. Each goes its own way until another has nothing to do:
// then it gives away part of what it has before it.
type crew[T any] struct {
	mu      sync.Mutex
	changed sync.Cond
	tasks   []T
	busy    int
	stopped bool
	wanting atomic.Int32 // that have nothing to do, and for whom there is no task yet
}

// crewPages is the number of pages for which one more goroutine is worth its while.
const crewPages = 4096

// crewSize is the number of goroutines for a walk over that many pages: one for a small file, which is then walked over
// in the same order each time.
func crewSize(pages uint64) int {
	return int(min(uint64(runtime.GOMAXPROCS(0)), pages/crewPages+1))
}

// run has n goroutines do the first task and what they offer each other, and returns when all is done.
func (c *crew[T]) run(n int, first T, work func(T)) {
	c.changed.L = &c.mu
	c.tasks, c.busy = append(c.tasks, first), n
	var all sync.WaitGroup
	for range n - 1 {
		all.Go(func() { c.serve(work) })
	}
	c.serve(work)
	all.Wait()
}

func (c *crew[T]) serve(work func(T)) {
	for {
		task, ok := c.next()
		if !ok {
			return
		}
		work(task)
	}
}

// next waits for a task. There is none any more when nobody is left who could offer one.
func (c *crew[T]) next() (task T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	for len(c.tasks) == 0 && c.busy > 0 && !c.stopped {
		c.wanting.Add(1)
		c.changed.Wait()
		c.wanting.Add(-1)
	}
	if len(c.tasks) == 0 || c.stopped {
		c.changed.Broadcast()
		return task, false
	}
	last := len(c.tasks) - 1
	task, c.tasks = c.tasks[last], c.tasks[:last]
	c.busy++
	return task, true
}

// wanted says whether a task would be taken at once.
func (c *crew[T]) wanted() bool { return c.wanting.Load() > 0 }

// offer adds a task.
func (c *crew[T]) offer(task T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tasks = append(c.tasks, task)
	c.changed.Signal()
}

// stop has nobody begin another task.
func (c *crew[T]) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	c.changed.Broadcast()
}
