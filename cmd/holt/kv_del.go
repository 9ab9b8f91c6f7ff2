// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv"
)

func newKVDel(o *opener) *cobra.Command {
	var (
		parse    text.ParseFormat
		isBucket bool
	)
	cmd := &cobra.Command{
		Use:   "del FILE BUCKET [SUB-BUCKET...] KEY",
		Short: "Delete a key, or a bucket with all it holds",
		Long: `Deletes a key. With --bucket, the last argument names a bucket, which is deleted with everything in it. It fails when
there is no such key or bucket.`,
		Example: `  holt kv del my.db users alice
  holt kv del my.db users --bucket`,
		Args: func(cmd *cobra.Command, args []string) error {
			if isBucket {
				return cobra.MinimumNArgs(2)(cmd, args)
			}
			return cobra.MinimumNArgs(3)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if isBucket {
				parse = o.names
			}
			path, key, err := o.parseKey(args[1:], parse)
			if err != nil {
				return err
			}
			return o.update(cmd.Context(), args[0], false, func(tx *kv.Tx) error {
				b, err := path.Find(tx)
				if err != nil {
					return err
				}
				if isBucket {
					return deleting(key, b.DeleteBucket(key))
				}
				if b.Get(key) == nil {
					return keyNotFound(b, key)
				}
				return deleting(key, b.Delete(key))
			})
		},
	}
	parseFormatFlag(cmd, &parse, "parse-format", "format of the key")
	cmd.Flags().BoolVar(&isBucket, "bucket", false, "delete the bucket that the last argument names")
	cmd.MarkFlagsMutuallyExclusive("bucket", "parse-format")
	return cmd
}

// deleting says which key or bucket an error is about.
func deleting(name []byte, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("deleting %s: %w", text.Quote(name), err)
}
