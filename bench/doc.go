// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package bench runs the same benchmarks on package kv and on go.etcd.io/bbolt, in the same program. It is a module of
// its own so that nobody else needs bbolt. README.md says how to run it and how to compare.
package bench
