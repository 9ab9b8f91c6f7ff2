// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"

	"github.com/holtdb/holt/internal/file"
)

// maxLength bounds the payload, so that no offset in the file overflows.
const maxLength = math.MaxInt64 - headerSize - 1<<32

// Stack is an open stack file. Its methods may be called from several goroutines.
type Stack struct {
	opts Options
	fs   file.FS
	path string
	file file.File
	head int64 // size of the header: that of an older generation when it is read-only

	group   group
	viewing sync.Mutex // held during a View of a read-only stack, whose unit it then is

	// Owned by who is in charge of the group.
	armed   bool  // the file has a journal whose change has been made
	cut     bool  // the file may have been made shorter since the last sync, by this handle or the one before
	stored  int64 // size of the file behind its header: the payload, and what is left of earlier journals
	unit    Unit
	scratch scratch

	mu     sync.RWMutex // held for writing while bytes are copied into place
	length int64        // of the payload; written by who is in charge, under mu
	veiled block        // guarded by mu: what readers are shown in place of bytes that are not durable yet
	torn   bool         // guarded by mu: bytes were copied into place in part
	closed bool         // guarded by mu

	locked atomic.Int64
	broken atomic.Pointer[error]
}

// Options adjusts Open; nil means the defaults.
type Options struct {
	// ReadOnly opens the file without changing it, not even to recover it. Files of generation 0.1 can be read so.
	ReadOnly bool

	// NoSync leaves out every sync: a crash of the machine may then lose or damage everything. For tests, and for data
	// that can be made again.
	NoSync bool

	// NoJournal leaves out the journal too, if there are no syncs: then a crash of the program, or a write that fails, may
	// leave a change half made.
	NoJournal bool

	// LockPrefix is the length of the prefix that is locked from the beginning, see [Stack.LockUpTo].
	LockPrefix int64

	// Logger hears of recoveries and migrations; nil discards.
	Logger *slog.Logger

	// FS is where the file lies; nil is the operating system's. For tests inside this module, which alone can name its
	// type.
	FS file.FS
}

// Path is the name of the file.
func (s *Stack) Path() string { return s.path }

func (s *Stack) String() string { return fmt.Sprintf("Stack<%q, %d bytes>", s.path, s.Len()) }

// Len is the length of the payload in bytes.
func (s *Stack) Len() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.length
}

// IsEmpty says whether the payload is empty.
func (s *Stack) IsEmpty() bool { return s.Len() == 0 }

// LockUpTo promises that the first n bytes will not change as long as the stack is open: changing them is refused with
// [ErrPrefix] from then on. n may not exceed the length nor be less than before. It waits for the mutations that are
// under way. Nothing of it is stored.
func (s *Stack) LockUpTo(n int64) error {
	if s.opts.ReadOnly {
		s.mu.Lock()
		defer s.mu.Unlock()
		return cmp.Or(s.readable(), s.lockUpTo(n))
	}
	// In its turn: a change of these bytes may be under way.
	return s.run(true, func(*Unit) error { return s.lockUpTo(n) })
}

// lockUpTo is LockUpTo while nothing else is under way.
func (s *Stack) lockUpTo(n int64) error {
	if n < s.locked.Load() || n > s.length {
		return fmt.Errorf("%w: locking %d bytes, %d are locked, %d there", ErrRange, n, s.locked.Load(), s.length)
	}
	s.locked.Store(n)
	return nil
}

// LockedLen is the length of the locked prefix.
func (s *Stack) LockedLen() int64 { return s.locked.Load() }

// checkRange says whether n bytes at off lie inside length.
func (s *Stack) checkRange(off, n, length int64) error {
	if off < 0 || n < 0 || off > length || n > length-off {
		return fmt.Errorf("%w: %d bytes at %d of %d", ErrRange, n, off, length)
	}
	return nil
}

// checkChange says whether n bytes at off can be changed in place.
func (s *Stack) checkChange(off, n, length int64) error {
	if err := s.checkRange(off, n, length); err != nil {
		return err
	}
	if locked := s.locked.Load(); off < locked {
		return fmt.Errorf("%w: %d bytes at %d, %d are locked", ErrPrefix, n, off, locked)
	}
	return nil
}

// Close ends the use of the file. It waits for the mutations that are under way. A second Close does nothing.
func (s *Stack) Close() error {
	g := &s.group
	g.mu.Lock()
	first := !g.closed
	g.closed = true
	for g.busy {
		g.idle.Wait()
	}
	g.mu.Unlock()
	if !first {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.stored > s.length && s.failure() == nil {
		_ = s.truncate(s.length) // or else recovery will do it
	}
	if err := s.file.Close(); err != nil {
		return fmt.Errorf("stack: closing %s: %w", s.path, err)
	}
	return nil
}
