// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

// memStore keeps segments in memory, and parses each when it is first asked for.
type memStore struct {
	raw map[segment.ID][]byte

	mu     sync.Mutex
	parsed map[segment.ID]*segment.Segment // guarded by mu
}

func newStore() *memStore {
	return &memStore{raw: map[segment.ID][]byte{}, parsed: map[segment.ID]*segment.Segment{}}
}

func (m *memStore) Segment(id segment.ID) (*segment.Segment, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.parsed[id]; s != nil {
		return s, nil
	}
	data, ok := m.raw[id]
	if !ok {
		return nil, &segment.NotFoundError{Segment: id}
	}
	s, err := segment.ParseIn(m, id, data)
	if err == nil {
		m.parsed[id] = s
	}
	return s, err
}

// readStore reads the archives in a folder, and the revision in the last line of the journal.
func readStore(t testing.TB, dir string) (*memStore, segment.RecordID) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "data*.tar"))
	must(t, err)
	if len(names) == 0 {
		t.Fatalf("no archives in %s", dir)
	}
	store := newStore()
	for _, name := range slices.Backward(names) {
		readArchive(t, store, name)
	}
	journal, err := os.ReadFile(filepath.Join(dir, "journal.log"))
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(journal)), "\n")
	revision, _, _ := strings.Cut(lines[len(lines)-1], " ")
	head, err := segment.ParseRecordID(revision)
	must(t, err)
	return store, head
}

// readArchive adds the segments of an archive that are not there yet.
func readArchive(t testing.TB, store *memStore, name string) {
	t.Helper()
	f, err := os.Open(name)
	must(t, err)
	defer func() { must(t, f.Close()) }()
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		must(t, err)
		text, _, _ := strings.Cut(h.Name, ".")
		id, err := segment.ParseID(text)
		if err != nil {
			continue // the index, say
		}
		data, err := io.ReadAll(r)
		must(t, err)
		if _, ok := store.raw[id]; !ok {
			store.raw[id] = data
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
