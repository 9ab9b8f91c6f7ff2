// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || (linux && !android) || netbsd || openbsd

package file

import "golang.org/x/sys/unix"

// TryLock uses flock, whose locks belong to the open file: two Files of one process exclude each other as those of
// two processes do.
func (f *osFile) TryLock(exclusive bool) error {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	return f.flock(how | unix.LOCK_NB)
}

func (f *osFile) unlockFlock() error { return f.flock(unix.LOCK_UN) }

func (f *osFile) flock(how int) error {
	return f.control("flock", func(fd uintptr) error {
		err := uninterrupted(func() error { return unix.Flock(int(fd), how) })
		if err == unix.EWOULDBLOCK { //nolint:errorlint // a bare errno by construction
			return ErrLocked
		}
		return err
	})
}
