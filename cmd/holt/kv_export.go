// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/folder"
	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/kv"
)

func newKVExport(o *opener) *cobra.Command {
	var skip, asJSON bool
	cmd := &cobra.Command{
		Use:   "export FILE DIR [BUCKET...]",
		Short: "Copy a bucket into a folder",
		Long: `Copies what is in a bucket into a folder: a folder for each bucket in it, a file for each key. Without a bucket, copies
all top-level buckets. The folder must be empty or not exist yet; an interrupted run leaves there what it has copied.

Keys may be anything. Those that are no plain file name are never written, nor is the sequence of a bucket: nothing is
exported when there are any, unless --skip leaves them out.`,
		Example: `  holt kv export my.db all
  holt kv export my.db photos-again photos`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := o.parsePath(args[2:])
			if err != nil {
				return err
			}
			var r folder.Report
			err = o.view(cmd.Context(), args[0], func(tx *kv.Tx) error {
				b, err := path.Find(tx)
				if err != nil {
					return err
				}
				bar := progress.New(cmd.ErrOrStderr(), "exporting "+args[0], 0)
				defer bar.Done()
				opts := folder.Options{Skip: skipper(cmd, skip), Progress: bar.Add}
				r, err = folder.Export(cmd.Context(), b, path, args[1], opts)
				return err
			})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "exported %s\n", r)
			return nil
		},
	}
	skipFlag(cmd, &skip)
	jsonFlag(cmd, &asJSON)
	return cmd
}
