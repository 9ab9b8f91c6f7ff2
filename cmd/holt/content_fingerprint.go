// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/hex"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
)

func newContentFingerprint() *cobra.Command {
	var o contentOpener
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "fingerprint DIR [PATH]",
		Short: "Print one digest of all content",
		Long: `Prints a digest of a node and all below it, /root if no path is given. It is the same for equal trees,
however they are stored: before and after a compaction, in one store or another, with binaries inside or outside.`,
		Example: `  holt content fingerprint segmentstore
  holt content fingerprint segmentstore /root/hello`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.view(cmd, args[0], "reading", func(s *content.Store, revision segment.RecordID) error {
				path := content.CleanPath(pathArg(args, "/root"))
				sum, err := s.Fingerprint(cmd.Context(), revision, path)
				if err != nil {
					return err
				}
				if !asJSON {
					_, err := fmt.Fprintf(cmd.OutOrStdout(), "%x\n", sum)
					return err
				}
				return printJSON(cmd.OutOrStdout(), struct {
					Revision    string `json:"revision"`
					Path        string `json:"path"`
					Fingerprint string `json:"fingerprint"`
				}{revision.String(), path, hex.EncodeToString(sum[:])})
			})
		},
	}
	o.revisionFlag(cmd)
	o.blobFlag(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}
