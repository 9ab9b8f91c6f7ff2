// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package stack exchanges files between package stack and the published crate bstack, in both directions: plain stacks,
// and those that an allocator owns.
//
// The program in driver is built with the crate and does what it is told line by line. This test binary can be started
// as the same kind of program, on our own engine. So either can be killed in the middle of its work.
package stack
