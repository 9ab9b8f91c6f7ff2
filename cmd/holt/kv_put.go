// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv"
)

func newKVPut(o *opener) *cobra.Command {
	var (
		keyFormat   text.ParseFormat
		valueFormat text.ParseFormat
		file        string
		create      bool
	)
	cmd := &cobra.Command{
		Use:   "put FILE BUCKET [SUB-BUCKET...] KEY VALUE",
		Short: "Store a value under a key",
		Long: `Stores a value under a key, in place of the one that was there. With --value-file, takes the value from a file instead
of the last argument, or from standard input when the file is "-".`,
		Example: `  holt kv put my.db users alice admin --create
  holt kv put my.db photos cat.jpg --value-file cat.jpg
  date | holt kv put my.db log last --value-file -`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("value-file") {
				return cobra.MinimumNArgs(3)(cmd, args)
			}
			return cobra.MinimumNArgs(4)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var value []byte
			var err error
			if cmd.Flags().Changed("value-file") {
				value, err = readValue(cmd.InOrStdin(), file)
			} else {
				value, err = parseArg(valueFormat, args[len(args)-1])
				args = args[:len(args)-1]
			}
			if err != nil {
				return err
			}
			path, key, err := o.parseKey(args[1:], keyFormat)
			if err != nil {
				return err
			}
			return o.update(cmd.Context(), args[0], create, func(tx *kv.Tx) error {
				find := path.Find
				if create {
					find = path.Create
				}
				b, err := find(tx)
				if err != nil {
					return err
				}
				return storing(key, b.Put(key, value))
			})
		},
	}
	parseFormatFlag(cmd, &keyFormat, "parse-format", "format of the key")
	parseFormatFlag(cmd, &valueFormat, "value-format", "format of the value")
	cmd.Flags().StringVar(&file, "value-file", "", `take the value from this file, "-" for standard input`)
	cmd.Flags().BoolVar(&create, "create", false, "create the file and the buckets that are missing")
	cmd.MarkFlagsMutuallyExclusive("value-file", "value-format")
	return cmd
}

// storing says which key an error of Put is about.
func storing(key []byte, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("storing %s: %w", text.Quote(key), err)
}

// readValue reads a whole file, which must not be longer than a value can be.
func readValue(stdin io.Reader, name string) ([]byte, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // only read from
		in = f
	}
	value, err := io.ReadAll(io.LimitReader(in, kv.MaxValueSize+1))
	if err == nil && len(value) > kv.MaxValueSize {
		err = fmt.Errorf("%s: %w", name, kv.ErrValueTooLarge)
	}
	return value, err
}
