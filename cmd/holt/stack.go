// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/cobra"

// newStack makes the commands for stack files.
func newStack() *cobra.Command {
	cmd := group("stack", "Work on stacks of bytes and the allocators in them, those of bstack included",
		`  holt stack info my.stack
  holt stack alloc my.stack 100 --allocator ghosttree
  holt stack free-map my.stack`,
		newStackInfo(), newStackCheck(), newStackDump(), newStackFreeMap(),
		newStackPush(), newStackPop(), newStackPeek(), newStackMigrate(), newStackRecover(),
		newStackAlloc(), newStackFree(), newStackRealloc(), newStackReclaim(), newStackBench())
	cmd.Long = `Commands for stacks: single files that hold bytes, the payload, which grow and shrink at their end and
can be changed in place. A payload may be managed by an allocator, which hands out regions of it; which one it is, its
header in the file tells.

Offsets and lengths are bytes of the payload, in decimal. A region is written OFFSET+LENGTH, as in 112+64.

Commands that only look open the file read-only and never change it, not even to complete a change that a crash
interrupted: "holt stack recover" does that, and so does every command that changes the file.`
	return cmd
}
