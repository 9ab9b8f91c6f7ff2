// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package kv_test

import "testing"

// blocks is not known here.
func blocks(testing.TB, string) int64 { return -1 }
