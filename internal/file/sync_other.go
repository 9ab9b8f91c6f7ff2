// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package file

// SyncData is Sync: fdatasync is missing, or leaves the drive's cache unflushed, as on macOS.
func (f *osFile) SyncData() error { return f.Sync() }
