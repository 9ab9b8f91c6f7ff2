// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"os"
	"syscall"
	"testing"
)

// blocks is how many of its blocks a file has on the disk.
func blocks(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Sys().(*syscall.Stat_t).Blocks
}
