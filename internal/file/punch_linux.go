// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"

	"golang.org/x/sys/unix"
)

func (f *osFile) PunchHole(off, length int64) error {
	if length == 0 {
		return nil // the kernel would call it invalid
	}
	return f.control("fallocate", func(fd uintptr) error {
		err := uninterrupted(func() error {
			return unix.Fallocate(int(fd), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, length)
		})
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
			return ErrUnsupported
		}
		return err
	})
}
