// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import "io/fs"

// WithSync returns a file system on which sync takes the place of SyncData. It is meant for tests; sync gets the file
// of the one below, and may be called by several goroutines.
func WithSync(under FS, sync func(File) error) FS { return &withSync{under, sync} }

type withSync struct {
	FS
	sync func(File) error
}

// OpenFile opens a file whose SyncData is replaced.
func (w *withSync) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := w.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &withSyncFile{f, w.sync}, nil
}

type withSyncFile struct {
	File
	sync func(File) error
}

func (f *withSyncFile) SyncData() error { return f.sync(f.File) }
