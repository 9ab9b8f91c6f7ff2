// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package alloc hands out regions of a stack's payload, in the file formats of the allocators of bstack 0.4.
//
// An [Allocator] owns a [stack.Stack] and uses its whole payload. It gives out a [Region] for each Alloc, which the program
// keeps, mostly inside other regions, and gives back with Free. There are several, each with its own format and its own way
// to find room: [GhostTree] is the one to take when nothing else decides; [FirstFit], [Slab], [CheckedSlab], [Segregated]
// and [Linear] are there for files that use them and for programs whose needs they fit.
//
// Each operation is all or nothing, across crashes too: after a crash a region is allocated or it is not, and no bytes are
// lost to both sides. [Allocator].Update makes one operation of several, so that a region can be allocated, filled and
// referred to from another in one step.
//
// Concurrency: any number of goroutines may use an allocator. Operations that come while another is being made durable share
// the next syncs. Durability: what returned nil survives a crash, see package stack. FORMAT.md specifies the bytes.
package alloc
