// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"

	"golang.org/x/sys/windows"
)

// lockByte places the lock on the last byte a file could have: locks are mandatory on Windows, and one over the
// contents would keep others from reading them.
func lockByte() *windows.Overlapped {
	return &windows.Overlapped{Offset: 1<<32 - 1, OffsetHigh: 1<<32 - 1}
}

func (f *osFile) TryLock(exclusive bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	return f.control("LockFileEx", func(fd uintptr) error {
		// A handle's second lock would add to its first, or clash with it; flock replaces it.
		if err := unlock(windows.Handle(fd)); err != nil {
			return err
		}
		err := windows.LockFileEx(windows.Handle(fd), flags, 0, 1, 0, lockByte())
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
			return ErrLocked
		}
		return err
	})
}

// TryLockRecord is TryLock, for want of record locks; programs in Java that lock the whole of a file here lock other
// bytes, and are not excluded.
func (f *osFile) TryLockRecord(exclusive bool) error { return f.TryLock(exclusive) }

func (f *osFile) Unlock() error {
	return f.control("UnlockFileEx", func(fd uintptr) error { return unlock(windows.Handle(fd)) })
}

// unlock is content when there is no lock to give back, as flock is.
func unlock(h windows.Handle) error {
	err := windows.UnlockFileEx(h, 0, 1, 0, lockByte())
	if errors.Is(err, windows.ERROR_NOT_LOCKED) {
		return nil
	}
	return err
}
