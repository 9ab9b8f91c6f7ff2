// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package bench

import "time"

// cpuTime is not known here.
func cpuTime() (used time.Duration, ok bool) { return 0, false }
