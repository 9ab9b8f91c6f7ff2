// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

// whyShort is what was tried for rows that do not keep what is required on every machine, and why they stay.
var whyShort = map[string]string{
	"PutDurable": "the two barriers of the format are nearly all of the time. A C program that writes five pages side by side, " +
		"syncs, writes the meta page and syncs takes 0.82 of bbolt's time on an idle virtual disk, which is what there is to " +
		"gain without section 'With one sync' of FORMAT.md; `Options.SingleSync` is the row below. Tried in C: `RWF_DSYNC` on " +
		"both writes (0.79), with `O_DIRECT` (0.79).",
}
