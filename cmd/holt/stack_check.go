// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

func newStackCheck() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Check that a stack is sound",
		Long: `Checks the header and, if an allocator manages the payload, everything that it keeps in the file. Prints
what is wrong, one finding a line, or OK. That a change was interrupted is no damage, but the payload cannot be checked
before it has been recovered, so that this is a finding too; bytes that were never committed are only mentioned.`,
		Example: "  holt stack check my.stack",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			bar := progress.New(cmd.ErrOrStderr(), "checking "+args[0], 0)
			defer bar.Done()
			print, conclude := printFinding, concludeCheck
			if asJSON {
				print, conclude = printFindingJSON, func(io.Writer, int) {}
			}
			n := 0
			err := checkStack(cmd.ErrOrStderr(), args[0], func(finding error) error {
				n++
				bar.Done()
				return print(cmd.OutOrStdout(), finding)
			})
			if err != nil {
				return err
			}
			conclude(cmd.OutOrStdout(), n)
			if n > 0 {
				return fmt.Errorf("%s in %s", text.Plural(n, "error"), args[0])
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// checkStack hands what is wrong with a file to found. Errors in reading it are returned.
func checkStack(stderr io.Writer, path string, found func(error) error) error {
	st, err := inspectStack(path)
	if err != nil {
		return foundDamage(err, found)
	}
	if what := leftover(st); what != "" {
		if st.Journal != nil || st.Unfinished {
			return found(fmt.Errorf("%s: %s: holt stack recover %s", path, what, quoteArg(path)))
		}
		fmt.Fprintf(stderr, "note: %s: %s\n", path, what)
	}
	return viewStack(path, func(s *stack.Stack) error {
		err := withAllocator(func(a alloc.Allocator) error { return checkAllocator(a, found) })(s)
		if isNoAllocator(err) {
			fmt.Fprintf(stderr, "note: %s: no allocator, any payload is fine\n", path)
			return nil
		}
		return foundDamage(err, found)
	})
}

func checkAllocator(a alloc.Allocator, found func(error) error) error {
	for finding := range a.Check() {
		if err := found(finding); err != nil {
			return err
		}
	}
	return nil
}

// foundDamage makes a finding of an error that is one.
func foundDamage(err error, found func(error) error) error {
	if corrupt := (*stack.CorruptError)(nil); errors.As(err, &corrupt) {
		return found(err)
	}
	return err
}
