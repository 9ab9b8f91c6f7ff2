// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package file_test

const raceEnabled = false
