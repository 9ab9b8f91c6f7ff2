// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

func newStackPeek() *cobra.Command {
	var p bytesPrinter
	cmd := &cobra.Command{
		Use:   "peek FILE [OFFSET|REGION]",
		Short: "Print bytes of a payload",
		Long: `Prints the bytes of a region, those from an offset to the end, or all, and a line feed. With --raw,
prints the bytes and nothing else, for files and pipes.`,
		Example: `  holt stack peek my.stack 112+64
  holt stack peek my.stack --raw > payload`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			where, err := parsePlace(args[1:])
			if err != nil {
				return err
			}
			return viewStack(args[0], func(s *stack.Stack) error { return p.print(cmd.OutOrStdout(), s, where(s.Len())) })
		},
	}
	p.addFlags(cmd)
	return cmd
}

// parsePlace parses an optional offset or region. The result gives the region in a payload of a length.
func parsePlace(args []string) (where func(length int64) alloc.Region, err error) {
	var r alloc.Region
	switch {
	case len(args) == 1 && strings.Contains(args[0], "+"):
		r, err = parseRegion(args[0])
		return func(int64) alloc.Region { return r }, err
	case len(args) == 1:
		r.Off, err = parseCount(args[0])
	}
	return func(length int64) alloc.Region { return alloc.Region{Off: r.Off, Len: max(length-r.Off, 0)} }, err
}
