// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/cobra"

// newKV makes the commands for key/value databases.
func newKV() *cobra.Command {
	o := &opener{}
	cmd := group("kv", "Work on key/value databases, those of bbolt included",
		`  holt kv tree my.db
  holt kv get my.db users alice
  holt kv import my.db photos`,
		newKVBuckets(o), newKVKeys(o), newKVLs(o), newKVTree(o), newKVGet(o), newKVPut(o), newKVDel(o),
		newKVImport(o), newKVExport(o), newKVCompact(o), newKVShrink(o), newKVBench(),
		newKVInfo(o), newKVStats(o), newKVInspect(o), newKVCheck(o),
		newKVPages(o), newKVPage(), newKVPageItem(), newKVDump(), newSurgery(o), newVersion())
	cmd.Long = `Commands for key/value databases: single files of nested buckets that hold keys and values.

Commands that only look open the file read-only and never change it. Keys and buckets on the command line are taken as
they are, or as hexadecimal with --parse-format hex and --bucket-format hex.`
	o.addFlags(cmd.PersistentFlags())
	cmd.PersistentPreRun = func(cmd *cobra.Command, _ []string) { o.stderr = cmd.ErrOrStderr() }
	return cmd
}
