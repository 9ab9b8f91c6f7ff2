// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package dropin builds published programs that use go.etcd.io/bbolt, unchanged, on the engine of this repository.
//
// A [Checkout] is a writable copy of a [Module] whose go.mod selects one [Engine]. The replacement is never taken on
// trust: [Checkout.VerifyPackages] and [Checkout.VerifyBinary] ask what was really compiled.
package dropin

import "fmt"

// Engine is the library that answers to the import path go.etcd.io/bbolt.
type Engine string

// The two engines.
const (
	Holt Engine = "holt" // compat/bbolt of this repository
	Real Engine = "real" // the genuine bbolt, at the version compat/bbolt stands in for
)

// ParseEngine reads the name of an engine as given on a command line.
func ParseEngine(name string) (Engine, error) {
	switch e := Engine(name); e {
	case Holt, Real:
		return e, nil
	default:
		return "", fmt.Errorf("no engine %q: want %s or %s", name, Holt, Real)
	}
}
