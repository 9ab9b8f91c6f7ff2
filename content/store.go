// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"errors"
	"iter"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/blob"
	"github.com/holtdb/holt/content/segment"
)

// Options adjust [Open]. The zero value is good.
type Options struct {
	// Blobs finds binaries that are kept outside. If it is nil these cannot be read.
	Blobs blob.Source
	// NoHead opens a store whose journal leads nowhere, which is an error otherwise.
	NoHead bool
	// Progress is told how many nodes more were read, by any goroutine.
	Progress func(nodes int64)
	// Logger is told about archives that had to be scanned, and journals that had to be read further back.
	Logger *slog.Logger
}

// A Store is a content store that is open for reading.
type Store struct {
	files archive.Store
	opts  Options

	mu     sync.RWMutex
	parsed map[segment.ID]*segment.Segment // guarded by mu
	closed bool                            // guarded by mu
}

// Open opens the store in a directory for reading, beside a program that writes to it perhaps. What is seen is the
// state at that moment. A nil opts is the zero value.
func Open(dir string, opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	files, err := archive.Open(dir, &archive.Options{ReadOnly: true, NoHead: o.NoHead, Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	return New(files, o), nil
}

// New reads segments from anywhere. Close closes that.
func New(files archive.Store, opts Options) *Store {
	if opts.Progress == nil {
		opts.Progress = func(int64) {}
	}
	return &Store{files: files, opts: opts, parsed: map[segment.ID]*segment.Segment{}}
}

// Close gives the files back, and with them all nodes and values.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	clear(s.parsed) // whose bytes are gone
	s.mu.Unlock()
	return s.files.Close()
}

// Version is that of the store: 1 for one of Oak 1.6, 2 otherwise.
func (s *Store) Version() int { return s.files.Version() }

// Archives are those there are, newest first.
func (s *Store) Archives() []archive.Archive { return s.files.Archives() }

// Head is the newest revision of which there is something; false if there is none.
func (s *Store) Head() (segment.RecordID, bool) { return s.files.Head() }

// Journal goes through the revisions, newest first. Some may be gone.
func (s *Store) Journal() iter.Seq2[archive.Revision, error] { return s.files.Journal() }

// Collections goes through the garbage collections there were, newest first.
func (s *Store) Collections() iter.Seq2[archive.Collection, error] { return s.files.Collections() }

// Segment finds a segment. It makes a Store a [segment.Store].
func (s *Store) Segment(id segment.ID) (*segment.Segment, error) {
	s.mu.RLock()
	seg := s.parsed[id]
	s.mu.RUnlock()
	if seg != nil {
		return seg, nil
	}
	data, ok := s.files.Segment(id)
	if !ok {
		return nil, s.missing(id)
	}
	seg, err := segment.ParseIn(s, id, data)
	if err != nil {
		return nil, s.Locate(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.parsed[id]; other != nil { // two goroutines were at it
		return other, nil
	}
	s.parsed[id] = seg
	return seg, nil
}

// missing says why there is no segment.
func (s *Store) missing(id segment.ID) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return archive.ErrClosed
	}
	return &segment.NotFoundError{Segment: id}
}

// Record finds a record.
func (s *Store) Record(id segment.RecordID) (segment.Record, error) {
	r, err := segment.Find(s, id)
	return r, s.Locate(err)
}

// Root is the super-root of a revision.
func (s *Store) Root(revision segment.RecordID) (segment.Node, error) {
	r, err := s.Record(revision)
	if err != nil {
		return segment.Node{}, err
	}
	n, err := r.Node()
	return n, s.Locate(err)
}

// ArchiveOf finds the archive that a segment is in, and its place there.
func (s *Store) ArchiveOf(id segment.ID) (archive.Archive, archive.Entry, bool) {
	for _, a := range s.files.Archives() {
		if _, ok := a.Segment(id); !ok {
			continue
		}
		if e, ok := entryOf(a, id); ok {
			return a, e, true
		}
	}
	return nil, archive.Entry{}, false
}

// entryOf asks the archive, if it has an answer: with many errors to locate it matters.
func entryOf(a archive.Archive, id segment.ID) (archive.Entry, bool) {
	if r, ok := a.(*archive.Reader); ok {
		return r.Entry(id)
	}
	for e := range a.Entries() {
		if e.ID == id {
			return e, true
		}
	}
	return archive.Entry{}, false
}

// Locate adds to an error about a segment the archive that this is in. The methods of a Store do so themselves; it is
// for errors of nodes and values.
func (s *Store) Locate(err error) error {
	c, ok := errors.AsType[*segment.CorruptError](err)
	if _, located := errors.AsType[*archive.CorruptError](err); !ok || located {
		return err
	}
	a, e, ok := s.ArchiveOf(c.Segment)
	if !ok {
		return err
	}
	path := a.Name()
	if d, ok := s.files.(interface{ Path() string }); ok {
		path = filepath.Join(d.Path(), path)
	}
	return &archive.CorruptError{Path: path, Segment: c.Segment, Off: e.Off + int64(c.Off), Err: err}
}
