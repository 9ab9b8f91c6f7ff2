// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package alloc hands out regions of a stack's payload, in the file formats of the allocators of bstack 0.4.
//
// An [Allocator] owns a [stack.Stack] and uses its whole payload. It gives out a [Region] for each Alloc, which the
// program keeps, and gives back with Free. Regions are kept as 16 bytes, see [Region.Bytes]: mostly in other regions,
// and the first one in Reserved. [View] reads and writes their bytes. An allocator is not closed; its stack is.
//
// There are several, each with its own format and its own way to find room: [GhostTree] is the one to take when nothing
// else decides; [FirstFit], [Slab], [CheckedSlab], [Segregated] and [Linear] are there for files that use them and for
// programs whose needs they fit. [Open] takes whichever the file has.
//
// Each operation is all or nothing, across crashes too: after a crash a region is allocated or it is not, and no bytes
// are lost in between. Update makes one operation of several, so that a region can be allocated, filled and referred to
// from another in one step: a region that is stored in a step of its own is lost if a crash comes before that.
//
// Concurrency: any number of goroutines may use an allocator. Operations that come while another is being made durable
// share the next syncs. Durability: what returned nil survives a crash, see package stack. FORMAT.md specifies the
// bytes.
package alloc
