// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package testdata holds stores of another program, for demonstrations; README.md describes them.
package testdata

import "embed"

// Tiny is a store that Oak wrote: the files in the directory tiny.
//
//go:embed tiny
var Tiny embed.FS
