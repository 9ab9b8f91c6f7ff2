// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/holtdb/holt/stack/alloc"
)

func newStackRealloc() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "realloc FILE REGION N",
		Short: "Make a region longer or shorter",
		Long: `Makes a region N bytes long and prints where it is then. Bytes that it had stay, new ones are zero. N
= 0 gives it back.`,
		Example: "  holt stack realloc my.stack 112+64 100",
		Args:    cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := parseRegion(args[1])
			if err != nil {
				return err
			}
			n, err := parseCount(args[2])
			if err != nil {
				return err
			}
			return changeStack(args[0], withAllocator(func(a alloc.Allocator) error {
				r, err := a.Realloc(r, n)
				if err != nil {
					return err
				}
				return printRegions(cmd.OutOrStdout(), asJSON, r)
			}))
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
