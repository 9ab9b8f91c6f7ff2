// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/holtdb/holt/content/segment"
)

// memoryArchive is an archive without a file.
type memoryArchive struct {
	name  string
	other finder // of segments in other archives

	mu      sync.RWMutex
	size    int64
	entries []Entry
	data    map[segment.ID][]byte
	about   map[segment.ID]described
}

func newMemoryArchive(other finder, number int) *memoryArchive {
	return &memoryArchive{
		other: other, name: Name{int32(number), firstLetter}.String(),
		data: map[segment.ID][]byte{}, about: map[segment.ID]described{},
	}
}

func (a *memoryArchive) add(s *segment.Segment, d described) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := s.ID()
	a.entries = slices.DeleteFunc(a.entries, func(e Entry) bool { return e.ID == id })
	a.entries = append(a.entries, Entry{id, a.size + blockSize, len(s.Bytes()), d.generation})
	a.data[id], a.about[id] = s.Bytes(), d
	a.size += int64(blockSize + ceilBlock(len(s.Bytes())))
}

func (a *memoryArchive) Name() string { return a.name }

func (a *memoryArchive) Size() int64 {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.size
}

func (a *memoryArchive) Entries() iter.Seq[Entry] {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return slices.Values(slices.Clone(a.entries))
}

func (a *memoryArchive) Segment(id segment.ID) ([]byte, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	b, ok := a.data[id]
	return b, ok
}

func (a *memoryArchive) Graph() (Graph, error) {
	g, _, err := a.describe()
	return g, err
}

func (a *memoryArchive) BlobReferences() (BlobReferences, error) {
	_, refs, err := a.describe()
	return refs, err
}

func (a *memoryArchive) describe() (Graph, BlobReferences, error) {
	a.mu.RLock()
	entries, about, data := slices.Clone(a.entries), maps.Clone(a.about), maps.Clone(a.data)
	a.mu.RUnlock()
	for id, d := range about {
		if !d.late {
			continue
		}
		s, err := parse(a.other, id, data[id])
		if err == nil {
			about[id], err = describeLeniently(s)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	graph, refs := trailerOf(entries, func(id segment.ID) described { return about[id] })
	return graph, refs, nil
}
