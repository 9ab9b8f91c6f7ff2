// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"sync"
	"sync/atomic"

	"github.com/holtdb/holt/content/segment"
)

// marks is what a check knows of records: half a byte for each record of the segments in which there are some that it
// has seen. Of nodes below which there are ten levels and more, which are few, the number of levels is kept aside.
type marks struct {
	mu   sync.RWMutex
	rows map[*segment.Segment][]atomic.Uint32 // by index in the record table, 8 in a word; guarded by mu
	tall map[segment.RecordID]int             // guarded by mu
}

func newMarks() *marks {
	return &marks{rows: map[*segment.Segment][]atomic.Uint32{}, tall: map[segment.RecordID]int{}}
}

// state is what is known of a node and all below it.
type state uint32

const (
	unknown state = iota
	begun         // a walk is below it
	left          // by a walk ahead, to one that reports
	damaged
	whole // with nothing below it; one more for each level that there is

	tall      state = 15 // whole, with so many levels below it that the number is elsewhere
	stateBits       = 4
	inWord          = 32 / stateBits
)

// mark is the place of a record's mark.
type mark struct {
	word  *atomic.Uint32
	shift int
}

func (m mark) state() state { return state(m.word.Load() >> m.shift & (1<<stateBits - 1)) }

// change replaces a state, unless somebody else did.
func (m mark) change(old, by state) bool {
	for {
		word := m.word.Load()
		if state(word>>m.shift&(1<<stateBits-1)) != old {
			return false
		}
		if m.word.CompareAndSwap(word, word&^((1<<stateBits-1)<<m.shift)|uint32(by)<<m.shift) {
			return true
		}
	}
}

// marker finds marks, for one goroutine.
type marker struct {
	*marks
	of   *segment.Segment // the last one, which mostly is the next one
	rows []atomic.Uint32
}

func (k *marker) mark(r segment.Record) mark {
	if s := r.Segment(); s != k.of {
		k.of, k.rows = s, k.rowsOf(s)
	}
	i := r.Index()
	return mark{&k.rows[i/inWord], i % inWord * stateBits}
}

func (m *marks) rowsOf(s *segment.Segment) []atomic.Uint32 {
	m.mu.RLock()
	rows := m.rows[s]
	m.mu.RUnlock()
	if rows != nil {
		return rows
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rows[s] == nil {
		m.rows[s] = make([]atomic.Uint32, (s.Count()+inWord-1)/inWord)
	}
	return m.rows[s]
}

// wholeState is the state of a node that is whole, with so many levels below it.
func (m *marks) wholeState(id segment.RecordID, levels int) state {
	if s := whole + state(levels); s < tall {
		return s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tall[id] = levels
	return tall
}

// levels is the inverse.
func (m *marks) levels(id segment.RecordID, s state) int {
	if s < tall {
		return int(s - whole)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.tall[id]
}
