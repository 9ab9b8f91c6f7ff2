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
	"sync"
	"time"

	"github.com/holtdb/holt/internal/file"
)

// FileStore keeps binaries in a directory, which is made by the first Write.
type FileStore struct {
	Dir string // if it is empty only binaries that are in their ids are found
	// Inline is how many bytes a binary may have to be kept in its own id, which has twice as many: 4096 if it is zero,
	// none if it is negative, and 256 KiB at most. Oak's name for it is minRecordLength.
	Inline int
	// Now is the clock for the times of files; nil is that of the system.
	Now func() time.Time
	FS  file.FS // where the directory is; nil is the operating system's. For tests inside this module.

	mu      sync.Mutex      // held from a look at a binary that is there to what comes of it
	writing map[string]bool // temporary files of writes in progress; guarded by mu

	making sync.Mutex
	made   bool // the directory; guarded by making
}

func (s *FileStore) fs() file.FS {
	if s.FS == nil {
		return file.OS
	}
	return s.FS
}

func (s *FileStore) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// Path is the file of a digest, in hexadecimal.
func (s *FileStore) Path(hash string) string {
	return filepath.Join(s.Dir, hash[0:2], hash[2:4], hash[4:6], hash)
}

// Key is the digest, in hexadecimal.
func (s *FileStore) Key(id string) (string, error) { return key(id) }

// Digest is the SHA-256 and the length of a binary, if its id says that. Its file need not be there.
func (s *FileStore) Digest(id string) (sum [sha256.Size]byte, length int64, ok bool) {
	return digest(id)
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
