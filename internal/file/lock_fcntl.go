// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build aix || android || solaris

package file

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// TryLock uses a POSIX record lock over the whole file, for want of flock. Such locks belong to the process: two
// Files of one process do not exclude each other, and closing either gives up the lock of both.
func (f *osFile) TryLock(exclusive bool) error {
	kind := unix.F_RDLCK
	if exclusive {
		kind = unix.F_WRLCK
	}
	return f.setlk(kind)
}

// TryLockRecord is TryLock: that is a record lock.
func (f *osFile) TryLockRecord(exclusive bool) error { return f.TryLock(exclusive) }

func (f *osFile) Unlock() error { return f.setlk(unix.F_UNLCK) }

func (f *osFile) setlk(kind int) error {
	lock := unix.Flock_t{Type: int16(kind), Whence: io.SeekStart} // length 0: up to the end, wherever that is
	return f.control("fcntl", func(fd uintptr) error {
		err := uninterrupted(func() error { return unix.FcntlFlock(fd, unix.F_SETLK, &lock) })
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return ErrLocked
		}
		return err
	})
}
