// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// views are the mappings made through one File. The kernel of OpenBSD keeps mapped pages apart from the cache that
// write(2) fills, so a page already touched through a mapping shows its old bytes until it is invalidated. Writes
// through another File of the same file are not seen.
type views struct {
	mu   sync.Mutex
	maps []*mapping // guarded by mu
}

func (v *views) add(m *mapping) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.maps = append(v.maps, m)
}

func (v *views) remove(m *mapping) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.maps = slices.DeleteFunc(v.maps, func(have *mapping) bool { return have == m })
}

// refresh drops the mapped copies of the n bytes at off, to be read again when next touched.
func (v *views) refresh(off int64, n int) error {
	if n == 0 {
		return nil
	}
	pageMask := int64(os.Getpagesize() - 1)
	v.mu.Lock()
	defer v.mu.Unlock()
	var errs error
	for _, m := range v.maps {
		start, end := off&^pageMask, min(off+int64(n), int64(len(m.data)))
		if start < end {
			errs = errors.Join(errs, unix.Msync(m.data[start:end], unix.MS_INVALIDATE))
		}
	}
	return errs
}
