// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/holtdb/holt/internal/file"
)

// Open opens a stack file, creates it if there is none, and recovers it after a crash. Errors: [ErrLocked] if it is in
// use, in this process or another; [*VersionError] for a file of another generation, see [Migrate]; [*CorruptError] for
// what is no stack.
func Open(path string, opts *Options) (*Stack, error) {
	s := newStack(path, opts)
	flag := os.O_RDWR | os.O_CREATE
	if s.opts.ReadOnly {
		flag = os.O_RDONLY
	}
	f, err := s.fs.OpenFile(path, flag, 0o666)
	if err != nil {
		return nil, err
	}
	s.file = f
	if err := s.open(); err != nil {
		_ = f.Close() // gives the lock back; its error would hide what went wrong first
		return nil, err
	}
	return s, nil
}

func newStack(path string, opts *Options) *Stack {
	s := &Stack{path: path, head: headerSize, cut: true}
	s.group.idle.L = &s.group.mu
	s.group.worker = s.work
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Logger == nil {
		s.opts.Logger = slog.New(slog.DiscardHandler)
	}
	if s.fs = s.opts.FS; s.fs == nil {
		s.fs = file.OS
	}
	return s
}

func (s *Stack) log(msg string, args ...any) {
	s.opts.Logger.Info(msg, append([]any{"path", s.path}, args...)...)
}

func (s *Stack) open() error {
	if err := s.file.TryLock(!s.opts.ReadOnly); err != nil {
		if errors.Is(err, file.ErrLocked) {
			return fmt.Errorf("%w: %s", ErrLocked, s.path)
		}
		return err
	}
	size, err := s.file.Size()
	if err != nil {
		return err
	}
	h := make([]byte, headerSize)
	n, err := s.file.ReadAt(h, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := s.readHeader(h[:n], size); err != nil {
		return err
	}
	s.stored = s.length
	return s.lockUpTo(s.opts.LockPrefix)
}

// readHeader finds out the generation and the length, and recovers.
func (s *Stack) readHeader(h []byte, size int64) error {
	switch {
	case !s.opts.ReadOnly && size <= headerSize && size == int64(len(h)) && unfinished(h):
		return s.create(h)
	case len(h) >= headerSizeV1 && s.opts.ReadOnly && bytes.Equal(h[:prefixSize], prefixV1[:]):
		s.head = headerSizeV1
		s.length = min(int64(min(le.Uint64(h[8:16]), maxLength)), size-headerSizeV1)
		return nil
	case len(h) >= len(magic) && checkMagic(s.path, h) != nil:
		return checkMagic(s.path, h)
	case len(h) < headerSize:
		return &CorruptError{s.path, int64(len(h)), "the file ends inside the header"}
	}
	r := parseRecord(h[recordOff:])
	if s.opts.ReadOnly {
		return s.readOnly(r, size)
	}
	length, err := s.recover(r, size)
	s.length = length
	return err
}

// unfinished says whether that is all of a file whose creation a crash may have interrupted: the header of an empty
// stack, or part of it, with zeros where bytes are missing.
func unfinished(h []byte) bool {
	for i, b := range newHeader(record{}) {
		if i < len(h) && h[i] != 0 && h[i] != b {
			return false
		}
	}
	return true
}

// create writes the header of an empty stack, if it is not there already, and makes it and the name durable: who began
// to create the file may not have come to that.
func (s *Stack) create(found []byte) error {
	if len(found) < headerSize || checkMagic(s.path, found) != nil {
		if _, err := s.file.WriteAt(newHeader(record{}), 0); err != nil {
			return err
		}
	}
	if s.opts.NoSync {
		return nil
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.cut = false
	return s.fs.SyncDir(filepath.Dir(s.path))
}

// readOnly shows a file as it lies there. One that a crash has left needs recovery first, which would change it.
func (s *Stack) readOnly(r record, size int64) error {
	if r.armed() {
		return &CorruptError{s.path, recordOff, "a change was interrupted: open the file for writing to recover it"}
	}
	s.length = min(int64(min(r.length, maxLength)), size-headerSize)
	return nil
}
