// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holtdb/holt/internal/file"
)

// ErrNoStore is returned when the file of a binary is asked for and there is no directory of them.
var ErrNoStore = errors.New("blob: the binary is kept outside, and the data store is not known")

// NotFoundError says that the file of a binary is not there.
type NotFoundError struct{ ID, Path string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("blob: %s: no such file: %s", shorten(e.ID), e.Path)
}

// CorruptError reports a file that is not the binary it should be.
type CorruptError struct {
	Path   string
	Reason string
}

func (e *CorruptError) Error() string { return fmt.Sprintf("blob: %s: %s", e.Path, e.Reason) }

// FileStore finds binaries in a directory.
type FileStore struct {
	Dir string  // if it is empty only binaries that are in their ids are found
	FS  file.FS // where the directory is; nil is the operating system's
}

func (s *FileStore) fs() file.FS {
	if s.FS == nil {
		return file.OS
	}
	return s.FS
}

// Path is the file of a digest, in hexadecimal.
func (s *FileStore) Path(hash string) string {
	return filepath.Join(s.Dir, hash[0:2], hash[2:4], hash[4:6], hash)
}

// Digest is the SHA-256 and the length of a binary, if its id says that. Its file need not be there.
func (s *FileStore) Digest(id string) (sum [sha256.Size]byte, length int64, ok bool) {
	parsed, err := ParseID(id)
	if err != nil {
		return sum, 0, false
	}
	return parsed.digest()
}

// Open opens a binary. Its length was compared with that in its id; its bytes were not with the digest.
func (s *FileStore) Open(id string) (io.ReadCloser, error) {
	parsed, err := ParseID(id)
	switch {
	case err != nil:
		return nil, err
	case parsed.Hash == "":
		return io.NopCloser(bytes.NewReader(parsed.Inline)), nil
	case s.Dir == "":
		return nil, fmt.Errorf("%w: %s", ErrNoStore, shorten(id))
	}
	path := s.Path(parsed.Hash)
	f, err := s.fs().OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NotFoundError{id, path}
	}
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err == nil && parsed.Length >= 0 && size != parsed.Length {
		err = &CorruptError{path, fmt.Sprintf("%d bytes instead of %d", size, parsed.Length)}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &reader{io.NewSectionReader(f, 0, size), f}, nil
}

// reader reads a file from the start.
type reader struct {
	*io.SectionReader
	file io.Closer
}

func (r *reader) Close() error { return r.file.Close() }
