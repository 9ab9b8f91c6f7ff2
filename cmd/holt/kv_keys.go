// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/bucket"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv"
)

func newKVKeys(o *opener) *cobra.Command {
	var (
		f      text.Format
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "keys FILE BUCKET [SUB-BUCKET...]",
		Short: "List the keys of a bucket",
		Long:  "Lists the keys of a bucket in order, one a line, the names of buckets in it included.",
		Example: `  holt kv keys my.db users
  holt kv keys my.db users alice --format hex`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := o.parsePath(args[1:])
			if err != nil {
				return err
			}
			ctx, out := cmd.Context(), cmd.OutOrStdout()
			return o.view(ctx, args[0], func(tx *kv.Tx) error {
				b, err := path.Find(tx)
				if err != nil {
					return err
				}
				return bucket.Each(ctx, b, func(key, _ []byte) error {
					if asJSON {
						return printJSON(out, exactly(key, f))
					}
					_, err := fmt.Fprintln(out, f.Text(key))
					return err
				})
			})
		},
	}
	formatFlag(cmd, &f, "format", "f", "how to print keys")
	jsonFlag(cmd, &asJSON)
	return cmd
}
