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

func newKVBuckets(o *opener) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "buckets FILE",
		Short:   "List the top-level buckets",
		Long:    `Lists the names of the top-level buckets, one a line. See "holt kv tree" for nested ones.`,
		Example: "  holt kv buckets my.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, out := cmd.Context(), cmd.OutOrStdout()
			return o.view(ctx, args[0], func(tx *kv.Tx) error {
				return bucket.Each(ctx, bucket.Root(tx), func(name, value []byte) error {
					if value != nil {
						return nil // a plain key beside the buckets
					}
					if asJSON {
						return printJSON(out, exactly(name, text.Auto))
					}
					_, err := fmt.Fprintf(out, "%s\n", name)
					return err
				})
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
