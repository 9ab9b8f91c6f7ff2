// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapping is a view of a section object, whose own handle is closed as soon as the view exists.
type mapping struct {
	addr uintptr
	data []byte
	file *osFile
}

// Map extends the file to length first, since a section cannot be longer than its file. When it may not, being open
// for reading only, the mapping ends where the file does and is shorter than asked for.
func (f *osFile) Map(length int, _ MapOptions) (Mapping, error) {
	if length <= 0 {
		return nil, f.pathError("CreateFileMapping", windows.ERROR_INVALID_PARAMETER)
	}
	length, err := f.extend(length)
	if err != nil {
		return nil, err
	}
	m := &mapping{file: f}
	err = f.control("MapViewOfFile", func(fd uintptr) error { return m.open(windows.Handle(fd), length) })
	if err != nil {
		return nil, err
	}
	f.views.add(m)
	return m, nil
}

// extend returns the length that can be mapped.
func (f *osFile) extend(length int) (int, error) {
	size, err := f.Size()
	if err != nil || size >= int64(length) {
		return length, err
	}
	err = f.Truncate(int64(length))
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return int(size), nil
	}
	return length, err
}

func (m *mapping) open(file windows.Handle, length int) error {
	hi, lo := uint32(uint64(length)>>32), uint32(uint64(length)&math.MaxUint32)
	section, err := windows.CreateFileMapping(file, nil, windows.PAGE_READONLY, hi, lo, nil)
	if err != nil {
		return fmt.Errorf("CreateFileMapping: %w", err)
	}
	m.addr, err = windows.MapViewOfFile(section, windows.FILE_MAP_READ, 0, 0, uintptr(length))
	if err != nil {
		return errors.Join(err, windows.CloseHandle(section))
	}
	// The address is outside the Go heap. Reading it through a pointer to addr is what vet accepts as that.
	m.data = unsafe.Slice(*(**byte)(unsafe.Pointer(&m.addr)), length)
	return windows.CloseHandle(section)
}

func (m *mapping) Bytes() []byte { return m.data }

// Lock is not offered: VirtualLock is bounded by the working set of the process, some 200 KiB by default.
func (m *mapping) Lock(int) error { return m.file.pathError("VirtualLock", ErrUnsupported) }

func (m *mapping) Unlock(int) error { return m.file.pathError("VirtualUnlock", ErrUnsupported) }

func (m *mapping) Unmap() error {
	if m.data == nil {
		return nil
	}
	m.file.views.remove(m)
	if err := windows.UnmapViewOfFile(m.addr); err != nil {
		return m.file.pathError("UnmapViewOfFile", err)
	}
	m.data = nil
	return nil
}

// WillNeed does nothing: the system reads ahead as it sees fit.
func WillNeed([]byte, int, int) {}
