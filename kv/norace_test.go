// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package kv_test

// raceEnabled says that the race detector is on, under which sync.Pool forgets at random.
const raceEnabled = false
