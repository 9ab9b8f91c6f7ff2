// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package peer lets tests depend on software that is not always at hand.
package peer

import (
	"context"
	"os"
	"testing"

	"github.com/holtdb/holt/internal/fixture"
)

// A Module is a published module that a test compiles.
type Module interface {
	String() string
	Cached(context.Context) bool
}

// Require skips the test if the module cache lacks m, because go test should not start downloads of megabytes. With
// HOLT_REQUIRE_PEERS=1 the test goes on: it then downloads m, or fails.
func Require(t testing.TB, m Module) {
	t.Helper()
	if os.Getenv("HOLT_REQUIRE_PEERS") != "1" && !m.Cached(t.Context()) {
		t.Skipf("the module cache lacks %s; go mod download %s gets it", m, m)
	}
}

// Built is the outcome of building a program: its path, or why it cannot be had, or what is wrong with it.
type Built struct {
	Path         string
	Missing, Err error
}

// Require returns the path. It skips the test if what the program needs cannot be had, unless the peers are required.
func (b Built) Require(t testing.TB, needs string) string {
	t.Helper()
	switch {
	case b.Missing != nil:
		fixture.Lacking(t, "%s cannot be had: %v", needs, b.Missing)
	case b.Err != nil:
		t.Fatal(b.Err)
	}
	return b.Path
}
