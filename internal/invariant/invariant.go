// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package invariant says whether costly self-checks are to run: they do in builds with the tag invariants, and under the
// race detector.
package invariant
