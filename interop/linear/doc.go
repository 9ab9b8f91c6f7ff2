// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package linear runs concurrent transactions on package kv and checks with
// porcupine that their history is linearizable: that every transaction took
// effect at one moment between its call and its return, and that those that
// failed took none.
package linear
