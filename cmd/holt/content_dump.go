// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
)

func newContentDump() *cobra.Command {
	var o contentOpener
	var path string
	cmd := &cobra.Command{
		Use:   "dump DIR",
		Short: "Print all nodes and properties as lines that can be compared",
		Long: `Prints a revision, sorted by name, so that two dumps are equal if the contents are:

  HEAD <record id>
  N <hex of the path> <stable id>
  P <hex of the name> <type> <number of values> <value> ...

A value is the hex of its text, a binary its length, a colon and its SHA-256. If all values of a property, each with a
blank in front, are longer than 200 bytes, H, the length of that text, a colon and its SHA-256 stand in their place.

The digest of a binary that is kept outside is taken from its id, or if that has none, from the binary.`,
		Example: `  holt content dump segmentstore
  holt content dump segmentstore --path /root/hello --revision 1f5f0022-09bc-4938-ae1e-e92d8b333d80:8`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.view(cmd, args[0], "dumping", func(s *content.Store, revision segment.RecordID) error {
				return s.Dump(cmd.Context(), cmd.OutOrStdout(), revision, path)
			})
		},
	}
	cmd.Flags().StringVar(&path, "path", "/", "node to begin at")
	o.revisionFlag(cmd)
	o.blobFlag(cmd)
	return cmd
}
