// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package file is the seam between the storage engines and the operating system.
//
// An engine opens its files through an [FS] and does every read, write, sync and mapping through a [File]. There
// are four of them: [OS] is the real one; [Crash] keeps everything in memory and can cut the power, leaving what was
// synced and any subset of the rest; [Fault] wraps another FS and makes chosen calls fail; [Counter] wraps another one and
// counts. For tests there are also [WithSync], which replaces SyncData, and [Gate], which it waits at.
//
// Offsets and lengths are bytes. Methods of one File may be called from several goroutines at a time. A nil error
// from a write says that the bytes can be read back, not that they are durable: that takes SyncData (contents, and
// the size where it is needed to read them) or Sync (all metadata too), and SyncDir after a file was created, renamed
// or removed.
package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// ErrLocked is returned by [File.TryLock] when another open file holds a lock that excludes the wanted one.
var ErrLocked = errors.New("file: locked by another")

// ErrUnsupported is returned where the operating system or file system cannot do what was asked, by PunchHole and by
// [Mapping.Lock].
var ErrUnsupported = errors.ErrUnsupported

// ErrNoFile is returned by OpenFile of [OS] for what has a name and no bytes that stay: pipes, sockets, terminals.
var ErrNoFile = errors.New("not a regular file")

// FS opens files and changes directories.
type FS interface {
	// OpenFile opens name with the flags of [os.OpenFile].
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Stat describes name; [fs.ErrNotExist] when there is none. The result works with [FS.SameFile].
	Stat(name string) (fs.FileInfo, error)
	// SameFile says whether two results of Stat, of this FS or of its files, describe the same file.
	SameFile(a, b fs.FileInfo) bool
	// Rename moves a file over another, or to a free name. From one directory to another it takes a SyncDir of both.
	Rename(oldName, newName string) error
	// Chtimes sets the time when a file was last modified, and that when it was last read.
	Chtimes(name string, modified time.Time) error
	// Remove removes a file.
	Remove(name string) error
	// SyncDir makes the directory's entries durable: files created in it, renamed and removed.
	SyncDir(dir string) error
	// ReadDir returns the names of the files in a directory, in order; a directory in it is none.
	ReadDir(dir string) ([]string, error)
	// Subdirs returns the names of the directories in a directory, in order.
	Subdirs(dir string) ([]string, error)
	// MkdirAll makes a directory, and those it is in, as far as they are not there.
	MkdirAll(dir string, perm fs.FileMode) error
}

// File is one open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer

	// ReadVecAt fills bufs in order from off on, as one ReadAt of their joint length would.
	ReadVecAt(bufs [][]byte, off int64) (int, error)
	// WriteVecAt writes bufs one after the other from off on, as one WriteAt of their concatenation would. Any number
	// of buffers is fine; empty ones are skipped. The slice bufs and its elements are not changed.
	WriteVecAt(bufs [][]byte, off int64) (int, error)

	// Name is the name the file was opened under.
	Name() string
	// Stat describes the open file, whatever became of its name.
	Stat() (fs.FileInfo, error)
	// Size is the current length.
	Size() (int64, error)
	// Truncate sets the length; what is added reads as zeros.
	Truncate(size int64) error

	// WriteThrough is WriteAt that returns when the bytes are durable, and the length where it is needed to read them. What
	// else was written and not synced stays so. After an error the bytes may be there or not, durable or not.
	WriteThrough(b []byte, off int64) (int, error)

	// SyncData makes written contents durable, and the length: fdatasync where there is one.
	SyncData() error
	// Sync makes contents and all metadata durable: fsync.
	Sync() error

	// Map maps the first length bytes for reading. The mapping shows writes made through any handle. It may be longer
	// than the file; touching a byte beyond its end faults until the file has grown over it. (On Windows the file is
	// extended first, and one open for reading only is mapped no further than it goes.)
	Map(length int, opts MapOptions) (Mapping, error)

	// TryLock takes an advisory lock on the whole file, exclusive or shared, and does not wait: [ErrLocked]. A File that
	// has one exchanges it, and is left with none if that fails.
	TryLock(exclusive bool) error
	// TryLockRecord is TryLock with a lock that also excludes programs that use POSIX record locks (fcntl) over the whole
	// file, as those in Java do. One File uses one of the two kinds.
	TryLockRecord(exclusive bool) error
	// Unlock gives the lock back. Closing the file does too.
	Unlock() error

	// PunchHole gives the space of [off, off+length) back to the file system; it reads as zeros afterwards and the
	// length of the file stays. [ErrUnsupported] where that cannot be done.
	PunchHole(off, length int64) error
}

// MapOptions adjusts [File.Map].
type MapOptions struct {
	Flags  int  // or-ed into the flags of mmap(2), such as unix.MAP_POPULATE; ignored elsewhere
	Random bool // advise the kernel that accesses will be random
}

// Mapping is a read-only view of a file. Its bytes are valid until Unmap; writing to them faults.
type Mapping interface {
	Bytes() []byte
	// Lock keeps the first n bytes in physical memory (mlock); Unlock lets them go again.
	Lock(n int) error
	Unlock(n int) error
	Unmap() error
}

// Wrap makes a File of an already open file of the operating system, which it then owns.
func Wrap(f *os.File) File { return newOSFile(f) }
