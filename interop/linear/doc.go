// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package linear runs concurrent operations on kv, stack and stack/alloc and checks with porcupine that their history
// is linearizable: that every operation took effect at one moment between its call and its return, and that those that
// failed took none. Of an allocator it checks that no two live regions ever overlap.
package linear
