// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && !android

package file

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// TryLockRecord uses an open file description lock. It is one of the record locks, which know nothing of those of flock,
// but belongs to the open file as these do: it does not vanish when the process closes another File of the same file.
func (f *osFile) TryLockRecord(exclusive bool) error {
	kind := unix.F_RDLCK
	if exclusive {
		kind = unix.F_WRLCK
	}
	return f.ofd(kind)
}

// Unlock gives back a lock of either kind.
func (f *osFile) Unlock() error { return errors.Join(f.unlockFlock(), f.ofd(unix.F_UNLCK)) }

func (f *osFile) ofd(kind int) error {
	lock := unix.Flock_t{Type: int16(kind), Whence: io.SeekStart} // length 0: up to the end, wherever that is
	return f.control("fcntl", func(fd uintptr) error {
		err := uninterrupted(func() error { return unix.FcntlFlock(fd, unix.F_OFD_SETLK, &lock) })
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return ErrLocked
		}
		return err
	})
}
