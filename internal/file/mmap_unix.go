// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package file

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// mapping is a range of the address space. It outlives the descriptor it was made from.
type mapping struct {
	data []byte
	file *osFile
}

func (f *osFile) Map(length int, opts MapOptions) (Mapping, error) {
	m := &mapping{file: f}
	err := f.control("mmap", func(fd uintptr) (err error) {
		m.data, err = unix.Mmap(int(fd), 0, length, unix.PROT_READ, unix.MAP_SHARED|opts.Flags)
		return err
	})
	if err != nil {
		return nil, err
	}
	f.views.add(m)
	if opts.Random {
		if err := unix.Madvise(m.data, unix.MADV_RANDOM); err != nil && !errors.Is(err, unix.ENOSYS) {
			return nil, errors.Join(f.pathError("madvise", err), m.Unmap())
		}
	}
	return m, nil
}

func (m *mapping) Bytes() []byte { return m.data }

func (m *mapping) Lock(n int) error {
	return m.file.pathError("mlock", unix.Mlock(m.data[:n]))
}

func (m *mapping) Unlock(n int) error {
	return m.file.pathError("munlock", unix.Munlock(m.data[:n]))
}

func (m *mapping) Unmap() error {
	if m.data == nil {
		return nil
	}
	m.file.views.remove(m)
	if err := unix.Munmap(m.data); err != nil {
		return m.file.pathError("munmap", err)
	}
	m.data = nil
	return nil
}

// WillNeed has the system begin to read the n bytes at off of a mapping, without waiting for them. It is advice: an error
// changes nothing.
func WillNeed(mapped []byte, off, n int) {
	start := off &^ (os.Getpagesize() - 1)
	_ = unix.Madvise(mapped[start:off+n], unix.MADV_WILLNEED)
}
