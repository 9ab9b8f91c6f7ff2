// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package segment_test

// raceEnabled says whether the race detector is on.
const raceEnabled = true
