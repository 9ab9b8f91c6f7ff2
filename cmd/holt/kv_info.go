// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/kv"
)

func newKVInfo(o *opener) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "info FILE",
		Short:   "Print the page size",
		Example: "  holt kv info my.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.view(cmd.Context(), args[0], func(tx *kv.Tx) error {
				out, pageSize := cmd.OutOrStdout(), tx.DB().Info().PageSize
				if asJSON {
					return printJSON(out, struct {
						PageSize int   `json:"pageSize"`
						Size     int64 `json:"size"` // up to the last page in use
						TxID     int   `json:"txid"`
					}{pageSize, tx.Size(), tx.ID()})
				}
				fmt.Fprintf(out, "Page Size: %d\n", pageSize)
				return nil
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
