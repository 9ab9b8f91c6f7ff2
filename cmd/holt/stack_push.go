// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/stack"
)

func newStackPush() *cobra.Command {
	var (
		parse                 text.ParseFormat
		file                  string
		create, force, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "push FILE [DATA]",
		Short: "Append bytes to a stack",
		Long: `Appends bytes and prints the offset at which they begin. With --data-file, takes them from a file instead
of the last argument, or from standard input when the file is "-".`,
		Example: `  holt stack push my.stack hello --create
  holt stack push my.stack 00ff --parse-format hex
  date | holt stack push my.stack --data-file -`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("data-file") {
				return cobra.ExactArgs(1)(cmd, args)
			}
			return cobra.ExactArgs(2)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var data []byte
			var err error
			if len(args) == 1 {
				data, err = readInput(cmd.InOrStdin(), file)
			} else {
				data, err = parseArg(parse, args[1])
			}
			if err != nil {
				return err
			}
			change := changeStack
			if create && !exists(args[0]) {
				change = createStack
			}
			return change(args[0], func(s *stack.Stack) error {
				if !force {
					if err := mustBePlain(s); err != nil {
						return err
					}
				}
				off, err := s.Push(data)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), regionJSON{off, int64(len(data))})
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), off)
				return err
			})
		},
	}
	parseFormatFlag(cmd, &parse, "parse-format", "format of the bytes")
	cmd.Flags().StringVar(&file, "data-file", "", `take the bytes from this file, "-" for standard input`)
	cmd.Flags().BoolVar(&create, "create", false, "create the file if it is missing")
	forceFlag(cmd, &force)
	jsonFlag(cmd, &asJSON)
	cmd.MarkFlagsMutuallyExclusive("data-file", "parse-format")
	return cmd
}

// forceFlag adds --force.
func forceFlag(cmd *cobra.Command, force *bool) {
	cmd.Flags().BoolVar(force, "force", false, "do it even if an allocator manages the payload, which damages that")
}
