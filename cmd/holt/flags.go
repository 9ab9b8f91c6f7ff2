// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
)

// formatFlag adds a flag for an output format.
func formatFlag(cmd *cobra.Command, f *text.Format, name, shorthand, what string) {
	*f = text.Auto
	cmd.Flags().VarP(f, name, shorthand, what+", one of "+strings.Join(text.Formats, "|"))
	completeWith(cmd, name, text.Formats)
}

// parseFormatFlag adds a flag for the format of an argument.
func parseFormatFlag(cmd *cobra.Command, f *text.ParseFormat, name, what string) {
	*f = text.ParseASCII
	cmd.Flags().Var(f, name, what+", one of "+strings.Join(text.ParseFormats, "|"))
	completeWith(cmd, name, text.ParseFormats)
}

// completeWith offers fixed values for a flag to the shell.
func completeWith(cmd *cobra.Command, flag string, values []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag was added a line above
	}
}
