// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/holtdb/holt/stack/alloc"
)

func newStackFree() *cobra.Command {
	return &cobra.Command{
		Use:   "free FILE REGION...",
		Short: "Give regions back",
		Long: `Gives regions back, all of them or none. They must be whole, as alloc and realloc printed them. Regions
that cannot have been allocated are refused; not every allocator keeps enough in the file to notice every mistake.`,
		Example: "  holt stack free my.stack 112+64 48+32",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			rs, err := parseRegions(args[1:])
			if err != nil {
				return err
			}
			return changeStack(args[0], withAllocator(func(a alloc.Allocator) error { return a.FreeBulk(rs) }))
		},
	}
}
