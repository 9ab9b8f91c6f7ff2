// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/holtdb/holt/content/segment"
)

// Memory is a store without files. It is for tests, and for what need not last: what is in it outlives the Store that
// [Memory.Open] returns, and nothing else. The zero value is empty.
type Memory struct {
	mu          sync.Mutex
	writer      *memoryStore     // guarded by mu
	archives    []*memoryArchive // oldest first; guarded by mu
	journal     []Revision       // oldest first; guarded by mu
	collections []Collection     // oldest first; guarded by mu
}

// Open opens the store; one at a time may be open for writing.
func (m *Memory) Open(readOnly bool) (Store, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &memoryStore{m: m, readOnly: readOnly}
	if readOnly {
		if len(m.journal) == 0 {
			return nil, ErrNoHead
		}
		return s, nil
	}
	if m.writer != nil {
		return nil, ErrLocked
	}
	m.writer = s
	return s, nil
}

type memoryStore struct {
	m        *Memory
	readOnly bool
	rolled   bool // the next segment begins an archive, unless others wait for ids of binaries; guarded by m.mu
	begun    bool // this store has an archive to add to; guarded by m.mu
	closed   bool // guarded by m.mu
}

// change runs a change, if there may be any.
func (s *memoryStore) change(f func(m *Memory) error) error {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case s.readOnly:
		return ErrReadOnly
	}
	return f(s.m)
}

func (s *memoryStore) Segment(id segment.ID) ([]byte, bool) {
	s.m.mu.Lock()
	closed := s.closed
	s.m.mu.Unlock()
	if closed {
		return nil, false
	}
	return segments{s.m}.Segment(id)
}

// segments finds those of a Memory.
type segments struct{ *Memory }

func (m segments) Segment(id segment.ID) ([]byte, bool) {
	m.mu.Lock()
	list := m.newestFirst()
	m.mu.Unlock()
	return list.Segment(id)
}

func (m *Memory) newestFirst() (list finders) {
	for _, a := range slices.Backward(m.archives) {
		list = append(list, a)
	}
	return list
}

func (s *memoryStore) Append(seg *segment.Segment) error {
	d, err := describe(seg)
	return s.change(func(m *Memory) error {
		current := newMemoryArchive(len(m.archives))
		if n := len(m.archives); s.begun && (!s.rolled || m.archives[n-1].waits() > 0) {
			current = m.archives[n-1]
		}
		a, err := current.prepare(seg, d, err, m.newestFirst()...)
		if err != nil {
			return err
		}
		if len(current.entries) == 0 {
			m.archives = append(m.archives, current)
			s.begun, s.rolled = true, false
		}
		current.add(a)
		return nil
	})
}

func (s *memoryStore) Flush() error { return s.change(func(*Memory) error { return nil }) }

func (s *memoryStore) Roll() error {
	return s.change(func(*Memory) error {
		s.rolled = true
		return nil
	})
}

func (s *memoryStore) Archives() []Archive {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if s.closed {
		return nil
	}
	var list []Archive
	for _, a := range slices.Backward(s.m.archives) {
		list = append(list, a)
	}
	return list
}

func (s *memoryStore) Head() (segment.RecordID, bool) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	return s.m.head()
}

func (m *Memory) head() (segment.RecordID, bool) {
	if len(m.journal) == 0 {
		return segment.RecordID{}, false
	}
	return m.journal[len(m.journal)-1].ID, true
}

func (s *memoryStore) SetHead(old segment.RecordID, head Revision) error {
	err := (&nodes{finder: s}).check(head.ID)
	return s.change(func(m *Memory) error {
		now, _ := m.head()
		switch {
		case now != old:
			return fmt.Errorf("%w: from %s to %s", ErrConflict, old, now)
		case err != nil:
			return err
		case head.ID != now:
			m.journal = append(m.journal, head)
		}
		return nil
	})
}

func (s *memoryStore) Journal() iter.Seq2[Revision, error] {
	return newestFirst(s, func(m *Memory) []Revision { return m.journal })
}

func (s *memoryStore) Collections() iter.Seq2[Collection, error] {
	return newestFirst(s, func(m *Memory) []Collection { return m.collections })
}

func newestFirst[T any](s *memoryStore, of func(m *Memory) []T) iter.Seq2[T, error] {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	list, closed := slices.Clone(of(s.m)), s.closed
	return func(yield func(T, error) bool) {
		if closed {
			yield(*new(T), ErrClosed)
			return
		}
		for _, v := range slices.Backward(list) {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func (s *memoryStore) AddCollection(c Collection) error {
	return s.change(func(m *Memory) error {
		m.collections = append(m.collections, c)
		return nil
	})
}

func (s *memoryStore) Version() int { return newStore }

func (s *memoryStore) Close() error {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.closed = true
	if s.m.writer == s {
		s.m.writer = nil
	}
	return nil
}
