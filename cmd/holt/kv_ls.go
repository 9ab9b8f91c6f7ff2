// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/bucket"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv"
)

func newKVLs(o *opener) *cobra.Command {
	var (
		f      text.Format
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "ls FILE [BUCKET...]",
		Short: "List the entries of a bucket with their sizes",
		Long: `Lists the entries of a bucket in key order: their kind, the size of the value in bytes, and the key. Without a bucket,
lists the top level of the database.`,
		Example: `  holt kv ls my.db
  holt kv ls my.db users --json`,
		Args: cobra.MinimumNArgs(1),
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
				return bucket.Each(ctx, b, func(key, value []byte) error {
					if asJSON {
						return printJSON(out, listed(key, value, f))
					}
					return printEntry(out, key, value, f)
				})
			})
		},
	}
	formatFlag(cmd, &f, "format", "f", "how to print keys")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func printEntry(out io.Writer, key, value []byte, f text.Format) error {
	kind, bytes := "key", fmt.Sprint(len(value))
	if value == nil {
		kind, bytes = "bucket", "-"
	}
	_, err := fmt.Fprintf(out, "%-6s %12s  %s\n", kind, bytes, f.Text(key))
	return err
}

// entry is one line of a listing in JSON.
type entry struct {
	Kind string `json:"kind"` // key or bucket
	Key  exact  `json:"key"`
	Size *int   `json:"size,omitempty"` // of the value
}

func listed(key, value []byte, f text.Format) entry {
	if value == nil {
		return entry{Kind: "bucket", Key: exactly(key, f)}
	}
	n := len(value)
	return entry{Kind: "key", Key: exactly(key, f), Size: &n}
}
