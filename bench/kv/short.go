// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

// whyShort is what was tried for rows that do not keep what is required on every machine, and why they stay.
var whyShort = map[string]string{
	"CursorScan": "at the edge: 0.25 to 0.31 by the processor and the state of the machine, 3 to 4.5 ns an element, most of it " +
		"the call and the six words that it returns. Taken: `Next` reads the record of the next element at an offset in the " +
		"mapping, instead of finding the page and its table anew.",
	"LargeGet": "the workload reads a byte of each of the 256 pages of one value, which both programs do in the same time: 0.5 to " +
		"0.8 µs, by how these pages share lines of the processor's caches. What remains is that of CursorGet.",
	"Put": "0.37 to 0.53 by what a call of the kernel costs. A commit is three writes (a leaf, the pages above it, the meta page) " +
		"where bbolt makes six; the kernel takes 40 % of it. A single write for the leaf and the rest would need three free pages side " +
		"by side, where a commit leaves one and two: the file would have to grow for that.",
	"Overwrite": "at the edge: 0.30 to 0.36 by the state of the machine. 200 keys at random are 200 leaves and as many pages above " +
		"them, each of them copied and written; a third of the time is the kernel's for that. Taken: pages stay pages and are " +
		"patched; those above the leaves lie side by side, which made 160 writes a commit of 390. Tried without gain: the " +
		"longest free runs for leaves, too.",
	"PutDurable": "nearly all of the time are the two barriers that the format needs; `Options.SingleSync` is the row below. A C " +
		"program that writes five pages side by side, syncs, writes the meta page and syncs takes 173 µs on an idle virtual " +
		"disk, and 245 µs with six pages here and there: 0.82 of bbolt is the floor. Taken: one write for pages side by side, " +
		"the meta page written through (`RWF_DSYNC`), zeros written ahead where the file was never written. In C `RWF_DSYNC` " +
		"for all writes and `O_DIRECT` brought no more. Each commit frees a leaf somewhere and takes the place of another: to " +
		"have it beside the other pages the file would have to grow for that.",
}
