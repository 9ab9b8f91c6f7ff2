// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package file_test

// raceEnabled says that allocation counts mean nothing: sync.Pool drops objects at random under the race detector.
const raceEnabled = true
