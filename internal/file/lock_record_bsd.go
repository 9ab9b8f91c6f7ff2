// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package file

// TryLockRecord is TryLock: these systems keep the locks of flock and fcntl in one list, where they exclude each other.
func (f *osFile) TryLockRecord(exclusive bool) error { return f.TryLock(exclusive) }

func (f *osFile) Unlock() error { return f.unlockFlock() }
