// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv"
)

func newKVGet(o *opener) *cobra.Command {
	var (
		f      text.Format
		parse  text.ParseFormat
		raw    bool
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "get FILE BUCKET [SUB-BUCKET...] KEY",
		Short: "Print the value of a key",
		Long: `Prints the value of a key and a line feed. With --raw, prints the bytes of the value and nothing else, for files and
pipes. It fails when there is no such key.`,
		Example: `  holt kv get my.db users alice
  holt kv get my.db users 616c696365 --parse-format hex --format hex
  holt kv get my.db photos cat.jpg --raw > cat.jpg`,
		Args: cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, key, err := o.parseKey(args[1:], parse)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			return o.view(cmd.Context(), args[0], func(tx *kv.Tx) error {
				b, err := path.Find(tx)
				if err != nil {
					return err
				}
				value := b.Get(key)
				switch {
				case value == nil:
					return keyNotFound(b, key)
				case asJSON:
					return printJSON(out, struct {
						Key   exact `json:"key"`
						Value exact `json:"value"`
					}{exactly(key, f), exactly(value, f)})
				case raw:
					_, err = out.Write(value)
				default:
					_, err = fmt.Fprintln(out, f.Text(value))
				}
				return err
			})
		},
	}
	formatFlag(cmd, &f, "format", "", "how to print the value")
	parseFormatFlag(cmd, &parse, "parse-format", "format of the key")
	cmd.Flags().BoolVar(&raw, "raw", false, "print the bytes of the value and nothing else")
	jsonFlag(cmd, &asJSON)
	cmd.MarkFlagsMutuallyExclusive("raw", "format")
	cmd.MarkFlagsMutuallyExclusive("raw", "json")
	return cmd
}

// keyNotFound names the key in all the ways it may have been meant.
func keyNotFound(b *kv.Bucket, key []byte) error {
	if b.Bucket(key) != nil {
		return fmt.Errorf("key not found: %q hex: \"%x\" is a bucket", key, key)
	}
	return fmt.Errorf("key not found: %q hex: \"%x\"", key, key)
}
