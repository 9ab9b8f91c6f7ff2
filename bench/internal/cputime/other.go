// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package cputime

import "time"

// used is not known here.
func used() (t time.Duration, ok bool) { return 0, false }
