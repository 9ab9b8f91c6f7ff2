// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

func newStackPop() *cobra.Command {
	var (
		p     bytesPrinter
		force bool
	)
	cmd := &cobra.Command{
		Use:   "pop FILE N",
		Short: "Print the last bytes of a stack and cut them off",
		Long:  `Prints the last N bytes, as peek does, and then cuts them off. If they cannot be printed they stay.`,
		Example: `  holt stack pop my.stack 5
  holt stack pop my.stack 4096 --raw > last`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := parseCount(args[1])
			if err != nil {
				return err
			}
			return changeStack(args[0], func(s *stack.Stack) error {
				if !force {
					if err := mustBePlain(s); err != nil {
						return err
					}
				}
				if n > s.Len() {
					return fmt.Errorf("%w: taking %d of %d bytes", stack.ErrRange, n, s.Len())
				}
				if err := p.print(cmd.OutOrStdout(), s, alloc.Region{Off: s.Len() - n, Len: n}); err != nil {
					return err
				}
				if err := flush(cmd); err != nil {
					return err
				}
				return s.Discard(n)
			})
		},
	}
	p.addFlags(cmd)
	forceFlag(cmd, &force)
	return cmd
}
