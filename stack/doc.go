// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package stack is a durable stack of bytes kept in one file, in the file format of bstack 0.4.
//
// A [Stack] is a sequence of bytes, the payload, that grows and shrinks at its end and can be changed in place. Offsets
// count from the first byte of the payload. Each operation is all or nothing; [Stack.Update] makes one of several.
//
// Concurrency: any number of goroutines may use a Stack. Reads run in parallel, and wait for a mutation only while it
// copies its bytes into place, never for a sync; they see nothing that is not durable. Mutations that come while
// another is being made durable share the next syncs.
//
// Durability: a mutation that returned nil survives a crash at any moment, and one that did not return is there as a
// whole or not at all. The exception is a write inside one block of 256 bytes of the file: the format takes it that the
// disk writes those as a whole.
//
// The file is locked while it is open. FORMAT.md specifies the bytes. Package alloc hands out regions of a payload.
package stack
