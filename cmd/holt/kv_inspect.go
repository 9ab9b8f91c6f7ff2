// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/kv"
)

func newKVInspect(o *opener) *cobra.Command {
	return &cobra.Command{
		Use:     "inspect FILE",
		Short:   "Print the structure of the buckets as JSON",
		Long:    "Prints all buckets, nested as they are, with the number of keys in each that are not buckets, as JSON.",
		Example: "  holt kv inspect my.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.view(cmd.Context(), args[0], func(tx *kv.Tx) error {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "    ")
				return enc.Encode(tx.Inspect())
			})
		},
	}
}
