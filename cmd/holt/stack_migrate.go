// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/stack"
)

func newStackMigrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate FILE",
		Short: "Turn a file of format 0.1 into one of 0.4",
		Long: `Turns a file of bstack 0.1 or 0.2, whose format is 0.1, into one of 0.4. A copy is made beside it and
takes its place when it is durable. Allocators in it stay valid.`,
		Example: "  holt stack migrate old.stack",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := args[0]
			if err := mustBeFile("stack file", path); err != nil {
				return err
			}
			done := func() int64 { return fileSize(path + ".migrating") }
			bar := progress.Poll(cmd.ErrOrStderr(), "migrating "+path, fileSize(path), done)
			defer bar.Done()
			if err := stack.Migrate(cmd.Context(), path, nil); err != nil {
				return inUse(path, err)
			}
			st, err := inspectStack(path)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: format %s, %s\n", path, st.Version, text.Plural(st.Payload, "byte"))
			return err
		},
	}
}
