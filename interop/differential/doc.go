// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package differential plays the same histories on package kv and on
// go.etcd.io/bbolt and demands the same answers.
//
// A history is data: a list of steps drawn by rapid, so a failing one shrinks.
// A player runs it on one engine and keeps a trace, one line for each answer;
// the test compares the two traces, then opens the files of each engine with
// the other. TestIdenticalFiles goes further and compares the files of both
// engines after every commit, byte by byte.
//
// The deliberate differences between the two engines are kept out of the
// histories by the players themselves (see changes) and are tested against a
// model in improvements_test.go.
package differential
