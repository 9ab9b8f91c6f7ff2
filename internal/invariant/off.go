// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !invariants && !race

package invariant

// Enabled says that no costly self-checks are to run.
const Enabled = false
