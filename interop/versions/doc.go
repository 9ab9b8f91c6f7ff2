// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package versions exchanges files between package kv and several releases of
// go.etcd.io/bbolt, in both directions.
//
// A build can hold one release only. The program in driver is therefore built
// once for each, with a go.mod made for it, and told what to do by its
// arguments and a script on its standard input.
package versions
