// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"
)

// Memory keeps binaries in memory, for tests. Its ids are those of a [FileStore]. The zero value is empty.
type Memory struct {
	Inline int              // as in a FileStore
	Now    func() time.Time // as in a FileStore

	mu    sync.Mutex
	blobs map[string]kept // by key; guarded by mu
}

// kept is a binary.
type kept struct {
	entry Entry
	bytes []byte // never changed
}

// Open opens a binary.
func (m *Memory) Open(id string) (io.ReadCloser, error) {
	parsed, err := ParseID(id)
	if err != nil {
		return nil, err
	}
	content := parsed.Inline
	if parsed.Hash != "" {
		m.mu.Lock()
		defer m.mu.Unlock()
		b, ok := m.blobs[parsed.Hash]
		if !ok {
			return nil, &NotFoundError{ID: id}
		}
		if parsed.Length >= 0 && parsed.Length != b.entry.Size {
			return nil, &CorruptError{parsed.Hash, "another length"}
		}
		content = b.bytes
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// Digest is the SHA-256 and the length of a binary, if its id says that.
func (m *Memory) Digest(id string) (sum [sha256.Size]byte, length int64, ok bool) { return digest(id) }

// Key is the digest, in hexadecimal.
func (m *Memory) Key(id string) (string, error) { return key(id) }

// Write keeps all that r has.
func (m *Memory) Write(r io.Reader) (string, error) {
	id, r, err := inlined(r, m.Inline)
	if err != nil || id != "" {
		return id, err
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	hash := hex.EncodeToString(sum[:])
	now := time.Now
	if m.Now != nil {
		now = m.Now
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blobs == nil {
		m.blobs = map[string]kept{}
	}
	id = hashID(hash, int64(len(b)))
	m.blobs[hash] = kept{Entry{id, hash, int64(len(b)), now()}, b}
	return id, nil
}

// All goes through the binaries that there were when it was begun.
func (m *Memory) All() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		m.mu.Lock()
		all := maps.Clone(m.blobs)
		m.mu.Unlock()
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if !yield(all[key].entry, nil) {
				return
			}
		}
	}
}

// Delete deletes a binary, if it was last written before a time.
func (m *Memory) Delete(id string, before time.Time) (bool, error) {
	hash, err := m.Key(id)
	if err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.blobs[hash]
	if !ok || !b.entry.Modified.Before(before) {
		return false, nil
	}
	delete(m.blobs, hash)
	return true, nil
}

// Clean has nothing to do.
func (m *Memory) Clean(time.Time, bool) (Tally, error) { return Tally{}, nil }
