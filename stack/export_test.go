// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"

	"github.com/holtdb/holt/internal/file"
)

// OpenFS is Open on a simulated file system.
func OpenFS(fs file.FS, path string, opts *Options) (*Stack, error) {
	return Open(path, withFS(fs, opts))
}

// MigrateFS is Migrate on a simulated file system.
func MigrateFS(ctx context.Context, fs file.FS, path string, opts *Options) error {
	return Migrate(ctx, path, withFS(fs, opts))
}

func withFS(fs file.FS, opts *Options) *Options {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.FS = fs
	return &o
}

// Rest waits until nothing is under way, in the background neither.
func (s *Stack) Rest() {
	g := &s.group
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.busy {
		g.idle.Wait()
	}
}

// Queued is how many operations wait for their turn.
func (s *Stack) Queued() int {
	g := &s.group
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue)
}
