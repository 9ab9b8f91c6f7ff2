// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package kv_test

const raceEnabled = true
