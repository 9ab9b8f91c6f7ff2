// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import "github.com/holtdb/holt/internal/file"

// OpenFS is Open on a simulated file system.
func OpenFS(fs file.FS, path string, opts *Options) (*Stack, error) {
	return Open(path, withFS(fs, opts))
}

func withFS(fs file.FS, opts *Options) *Options {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.fs = fs
	return &o
}
