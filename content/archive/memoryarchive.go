// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"iter"
	"slices"
	"sync"

	"github.com/holtdb/holt/content/segment"
)

// memoryArchive is an archive without a file.
type memoryArchive struct {
	name string
	records

	mu      sync.RWMutex
	size    int64
	entries []Entry
	data    map[segment.ID][]byte
}

func newMemoryArchive(number int) *memoryArchive {
	return &memoryArchive{
		name: Name{int32(number), firstLetter}.String(), records: newRecords(), data: map[segment.ID][]byte{},
	}
}

func (a *memoryArchive) add(s appending) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, data := s.segment.ID(), s.segment.Bytes()
	a.entries = slices.DeleteFunc(a.entries, func(e Entry) bool { return e.ID == id })
	a.entries = append(a.entries, Entry{id, a.size + blockSize, len(data), s.about.generation})
	a.data[id] = data
	a.size += int64(blockSize + ceilBlock(len(data)))
	a.settle(s)
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
	g, _ := a.describe()
	return g, nil
}

func (a *memoryArchive) BlobReferences() (BlobReferences, error) {
	_, refs := a.describe()
	return refs, nil
}

func (a *memoryArchive) describe() (Graph, BlobReferences) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return trailerOf(a.entries, func(id segment.ID) described { return *a.about[id] })
}
