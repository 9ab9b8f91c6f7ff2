// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package file

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncDir makes the entries of a directory durable.
func syncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, unix.EINVAL) {
		err = nil // a file system, such as some network ones, whose directories cannot be synced at all
	}
	return errors.Join(err, dir.Close())
}

// uninterrupted repeats a system call that a signal broke off. The runtime's own preemption signals are enough to
// make that happen.
func uninterrupted(call func() error) error {
	for {
		if err := call(); err != unix.EINTR { //nolint:errorlint // a bare errno by construction
			return err
		}
	}
}
