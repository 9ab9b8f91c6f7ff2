// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"sync/atomic"
	"time"
)

// Info tells where a database is in memory.
type Info struct {
	Data     uintptr // address of the mapped file
	PageSize int     // in bytes
}

// Stats counts what a database did since it was opened, and what its free list held when the last write transaction
// ended, nothing before it is known which pages are free: see Options.PreLoadFreelist.
type Stats struct {
	TxStats TxStats // sums over the transactions that ended; first, so that 32-bit CPUs find its counters aligned

	FreePageN     int // free pages
	PendingPageN  int // pages freed that an open read transaction may still see
	FreeAlloc     int // bytes of both
	FreelistInuse int // bytes the stored free list takes

	TxN     int // read transactions begun
	OpenTxN int // read transactions open
}

// Sub tells what happened between other and s: counters are subtracted, the state of the free list is that of s, and
// OpenTxN is zero. A nil other stands for the time of opening and gives s itself.
func (s *Stats) Sub(other *Stats) Stats {
	if other == nil {
		return *s
	}
	return Stats{
		TxStats:       s.TxStats.Sub(&other.TxStats),
		FreePageN:     s.FreePageN,
		PendingPageN:  s.PendingPageN,
		FreeAlloc:     s.FreeAlloc,
		FreelistInuse: s.FreelistInuse,
		TxN:           s.TxN - other.TxN,
	}
}

// TxStats counts what a transaction did. While a transaction runs, the methods are the safe way to read and change the
// counters; the fields may be read directly afterwards.
type TxStats struct {
	PageCount int64 // pages allocated
	PageAlloc int64 // bytes of them

	CursorCount int64 // cursors made

	NodeCount int64 // pages turned into nodes, to be changed
	NodeDeref int64 // always 0: no mapping goes away under a node

	Rebalance     int64         // nodes examined for a merge with a neighbour
	RebalanceTime time.Duration // spent on it

	Split     int64         // nodes split
	Spill     int64         // nodes written to new pages
	SpillTime time.Duration // spent on it

	Write     int64         // writes to the file
	WriteTime time.Duration // spent on them
}

// tally is a counter of which only one goroutine at a time adds to it, while others may look. It is as long as a word,
// so that they see a number that it had. An atomic addition would take as long as a small lookup.
type tally int

//go:norace
func (t *tally) add(n tally) { *t += n }

//go:norace
func (t *tally) load() tally { return *t }

// fields lists the counters. Durations are among them: they are counters of nanoseconds.
func (s *TxStats) fields() [12]*int64 {
	return [...]*int64{
		&s.PageCount, &s.PageAlloc, &s.CursorCount, &s.NodeCount, &s.NodeDeref, &s.Rebalance,
		(*int64)(&s.RebalanceTime), &s.Split, &s.Spill, (*int64)(&s.SpillTime), &s.Write, (*int64)(&s.WriteTime),
	}
}

// add counts what o, which nobody else uses, counted too.
func (s *TxStats) add(o *TxStats) {
	from := o.fields()
	for i, to := range s.fields() {
		// Most counters of a read transaction are zero: do not take the cache line from other CPUs for them.
		if n := *from[i]; n != 0 {
			atomic.AddInt64(to, n)
		}
	}
}

// load copies counters that others add to.
func (s *TxStats) load() (now TxStats) {
	from := s.fields()
	for i, to := range now.fields() {
		*to = atomic.LoadInt64(from[i])
	}
	return now
}

// Sub subtracts the counters of other: what was done between two calls of [DB.Stats] or [Tx.Stats].
func (s *TxStats) Sub(other *TxStats) TxStats {
	var diff TxStats
	a, b := s.fields(), other.fields()
	for i, to := range diff.fields() {
		*to = *a[i] - *b[i]
	}
	return diff
}

// GetPageCount reads PageCount atomically.
func (s *TxStats) GetPageCount() int64 { return atomic.LoadInt64(&s.PageCount) }

// IncPageCount adds to PageCount atomically and returns the sum.
func (s *TxStats) IncPageCount(delta int64) int64 { return atomic.AddInt64(&s.PageCount, delta) }

// GetPageAlloc reads PageAlloc atomically.
func (s *TxStats) GetPageAlloc() int64 { return atomic.LoadInt64(&s.PageAlloc) }

// IncPageAlloc adds to PageAlloc atomically and returns the sum.
func (s *TxStats) IncPageAlloc(delta int64) int64 { return atomic.AddInt64(&s.PageAlloc, delta) }

// GetCursorCount reads CursorCount atomically.
func (s *TxStats) GetCursorCount() int64 { return atomic.LoadInt64(&s.CursorCount) }

// IncCursorCount adds to CursorCount atomically and returns the sum.
func (s *TxStats) IncCursorCount(delta int64) int64 { return atomic.AddInt64(&s.CursorCount, delta) }

// GetNodeCount reads NodeCount atomically.
func (s *TxStats) GetNodeCount() int64 { return atomic.LoadInt64(&s.NodeCount) }

// IncNodeCount adds to NodeCount atomically and returns the sum.
func (s *TxStats) IncNodeCount(delta int64) int64 { return atomic.AddInt64(&s.NodeCount, delta) }

// GetNodeDeref reads NodeDeref atomically.
func (s *TxStats) GetNodeDeref() int64 { return atomic.LoadInt64(&s.NodeDeref) }

// IncNodeDeref adds to NodeDeref atomically and returns the sum.
func (s *TxStats) IncNodeDeref(delta int64) int64 { return atomic.AddInt64(&s.NodeDeref, delta) }

// GetRebalance reads Rebalance atomically.
func (s *TxStats) GetRebalance() int64 { return atomic.LoadInt64(&s.Rebalance) }

// IncRebalance adds to Rebalance atomically and returns the sum.
func (s *TxStats) IncRebalance(delta int64) int64 { return atomic.AddInt64(&s.Rebalance, delta) }

// GetRebalanceTime reads RebalanceTime atomically.
func (s *TxStats) GetRebalanceTime() time.Duration { return loadDuration(&s.RebalanceTime) }

// IncRebalanceTime adds to RebalanceTime atomically and returns the sum.
func (s *TxStats) IncRebalanceTime(delta time.Duration) time.Duration {
	return addDuration(&s.RebalanceTime, delta)
}

// GetSplit reads Split atomically.
func (s *TxStats) GetSplit() int64 { return atomic.LoadInt64(&s.Split) }

// IncSplit adds to Split atomically and returns the sum.
func (s *TxStats) IncSplit(delta int64) int64 { return atomic.AddInt64(&s.Split, delta) }

// GetSpill reads Spill atomically.
func (s *TxStats) GetSpill() int64 { return atomic.LoadInt64(&s.Spill) }

// IncSpill adds to Spill atomically and returns the sum.
func (s *TxStats) IncSpill(delta int64) int64 { return atomic.AddInt64(&s.Spill, delta) }

// GetSpillTime reads SpillTime atomically.
func (s *TxStats) GetSpillTime() time.Duration { return loadDuration(&s.SpillTime) }

// IncSpillTime adds to SpillTime atomically and returns the sum.
func (s *TxStats) IncSpillTime(delta time.Duration) time.Duration {
	return addDuration(&s.SpillTime, delta)
}

// GetWrite reads Write atomically.
func (s *TxStats) GetWrite() int64 { return atomic.LoadInt64(&s.Write) }

// IncWrite adds to Write atomically and returns the sum.
func (s *TxStats) IncWrite(delta int64) int64 { return atomic.AddInt64(&s.Write, delta) }

// GetWriteTime reads WriteTime atomically.
func (s *TxStats) GetWriteTime() time.Duration { return loadDuration(&s.WriteTime) }

// IncWriteTime adds to WriteTime atomically and returns the sum.
func (s *TxStats) IncWriteTime(delta time.Duration) time.Duration {
	return addDuration(&s.WriteTime, delta)
}

func loadDuration(d *time.Duration) time.Duration {
	return time.Duration(atomic.LoadInt64((*int64)(d)))
}

func addDuration(d *time.Duration, delta time.Duration) time.Duration {
	return time.Duration(atomic.AddInt64((*int64)(d), int64(delta)))
}
