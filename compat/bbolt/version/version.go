// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package version names the release of bbolt whose API this module offers.
package version

// Version is the release of bbolt that this module stands in for, not a release of Holt.
var Version = "1.5.0"
