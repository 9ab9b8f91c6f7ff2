// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"fmt"
	"io"
)

// Range is the bytes from Start up to but not including End.
type Range struct{ Start, End int64 }

// GetInto fills p with the bytes at off. [ErrRange] if they are not all there.
func (s *Stack) GetInto(off int64, p []byte) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.get(off, p)
}

// get is GetInto under mu.
func (s *Stack) get(off int64, p []byte) error {
	if err := s.readable(); err != nil {
		return err
	}
	if err := s.checkRange(off, int64(len(p)), s.length); err != nil {
		return err
	}
	err := s.readFile(p, off)
	s.veiled.overlay(p, off)
	return err
}

func (s *Stack) readable() error {
	switch {
	case s.closed:
		return ErrClosed
	case s.torn:
		return s.failure()
	}
	return nil
}

// Get returns the bytes from start up to but not including end.
func (s *Stack) Get(start, end int64) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.getRange(Range{start, end})
}

// getRange is Get under mu.
func (s *Stack) getRange(r Range) ([]byte, error) {
	if err := s.readable(); err != nil {
		return nil, err
	}
	if r.End < r.Start {
		return nil, fmt.Errorf("%w: from %d to %d", ErrRange, r.Start, r.End)
	}
	if err := s.checkRange(r.Start, r.End-r.Start, s.length); err != nil {
		return nil, err
	}
	p := make([]byte, r.End-r.Start)
	if err := s.get(r.Start, p); err != nil {
		return nil, err
	}
	return p, nil
}

// Peek returns the bytes from off to the end.
func (s *Stack) Peek(off int64) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.getRange(Range{off, max(off, s.length)})
}

// PeekInto is GetInto.
func (s *Stack) PeekInto(off int64, p []byte) error { return s.GetInto(off, p) }

// GetBatched returns the bytes of several ranges as they were at one moment.
func (s *Stack) GetBatched(ranges []Range) ([][]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([][]byte, 0, len(ranges))
	for _, r := range ranges {
		p, err := s.getRange(r)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// Read is one read of GetBatchedInto: where, and into what.
type Read struct {
	Off int64
	P   []byte
}

// GetBatchedInto fills several buffers with bytes as they were at one moment.
func (s *Stack) GetBatchedInto(reads []Read) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, r := range reads {
		if err := s.get(r.Off, r.P); err != nil {
			return err
		}
	}
	return nil
}

// GetBatchedFunc asks next for one read after the other, and fills it before it asks again, until next returns false:
// all see the same moment. next must not call the stack, not even to read.
func (s *Stack) GetBatchedFunc(next func() (Read, bool)) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for r, ok := next(); ok; r, ok = next() {
		if err := s.get(r.Off, r.P); err != nil {
			return err
		}
	}
	return nil
}

// ReadAt makes a Stack an [io.ReaderAt]: short reads at the end come with [io.EOF].
func (s *Stack) ReadAt(p []byte, off int64) (int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if off < 0 {
		return 0, fmt.Errorf("%w: offset %d", ErrRange, off)
	}
	n := min(int64(len(p)), max(s.length-off, 0))
	if err := s.get(min(off, s.length), p[:n]); err != nil {
		return 0, err
	}
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// Write makes a Stack an [io.Writer]: it is Push.
func (s *Stack) Write(p []byte) (int, error) {
	if _, err := s.Push(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// NewReader returns a reader that stands at off. It sees what the payload is at each call.
func (s *Stack) NewReader(off int64) *Reader { return &Reader{s, off} }

// Reader reads a stack from its beginning on. It is an [io.ReadSeeker], for one goroutine at a time.
type Reader struct {
	s   *Stack
	off int64
}

// Position is the offset of the next byte.
func (r *Reader) Position() int64 { return r.off }

// Read reads up to len(p) bytes.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.s.ReadAt(p, r.off)
	r.off += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Seek moves the reader; positions behind the end are fine.
func (r *Reader) Seek(off int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		off += r.off
	case io.SeekEnd:
		off += r.s.Len()
	default:
		return 0, fmt.Errorf("%w: seeking from %d", ErrRange, whence)
	}
	if off < 0 {
		return 0, fmt.Errorf("%w: seeking to %d", ErrRange, off)
	}
	r.off = off
	return off, nil
}
