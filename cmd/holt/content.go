// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/cobra"

// newContent makes the commands for content stores.
func newContent() *cobra.Command {
	cmd := group("content", "Look into, check and recover content stores, those of Apache Jackrabbit Oak included",
		`  holt content tree segmentstore
  holt content node segmentstore /root/hello
  holt content check segmentstore`,
		newContentTree(), newContentNode(), newContentDump(), newContentExport(), newContentFingerprint(),
		newContentCheck(), newContentStats(), newContentJournal(),
		newContentArchives(), newContentSegments(), newContentSegment(), newContentRecord(),
		newContentRecoverJournal(), newContentRecoverArchive(), newContentBlobs())
	cmd.Long = `Commands for content stores: directories that hold a versioned tree of nodes with properties, in the
format of Apache Jackrabbit Oak's segment store. DIR is the one with the file journal.log, often called segmentstore.

A revision is a whole tree. Its topmost node, /, has the child root, the content, and the child checkpoints, older
contents that are kept. So the content's node hello is /root/hello.

All but those that recover open the store read-only, beside a program that writes to it perhaps, and never change
anything in it.`
	return cmd
}
