// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/holtdb/holt/content/segment"
)

// maxBlobID bounds the ids of binaries kept outside. Those that hold the binary itself are the longest.
const maxBlobID = 1 << 20

// BlobID is the id of a binary that is kept outside.
func (s *Store) BlobID(v segment.Value) (string, error) {
	id, err := v.BlobID()
	if err != nil {
		return "", s.Locate(err)
	}
	text, err := id.Text(maxBlobID)
	return text, s.Locate(err)
}

// Binary opens a binary, wherever it is kept.
func (s *Store) Binary(v segment.Value) (io.ReadCloser, error) {
	if !v.IsExternal() {
		return located{s, v.Reader()}, nil
	}
	id, err := s.BlobID(v)
	if err != nil {
		return nil, err
	}
	if s.opts.Blobs == nil {
		return nil, fmt.Errorf("%w: %s", segment.ErrExternal, id)
	}
	return s.opts.Blobs.Open(id)
}

// located reads from segments.
type located struct {
	store *Store
	r     *io.SectionReader
}

func (l located) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // a section reader's, and not wrapped
		err = l.store.Locate(err)
	}
	return n, err
}

func (located) Close() error { return nil }

// Digest is the SHA-256 and the length of a binary. That of one kept outside is what its id says, if it does.
func (s *Store) Digest(v segment.Value) (sum [sha256.Size]byte, length int64, err error) {
	if v.IsExternal() && s.opts.Blobs != nil {
		id, err := s.BlobID(v)
		if err != nil {
			return sum, 0, err
		}
		if sum, length, ok := s.opts.Blobs.Digest(id); ok {
			return sum, length, nil
		}
	}
	h := sha256.New()
	if !v.IsExternal() {
		length, err = v.WriteTo(h)
		return [sha256.Size]byte(h.Sum(nil)), length, s.Locate(err)
	}
	r, err := s.Binary(v)
	if err != nil {
		return sum, 0, err
	}
	length, err = io.Copy(h, r)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return [sha256.Size]byte(h.Sum(nil)), length, err
}
