// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

func newStackAlloc() *cobra.Command {
	var (
		kind   kindFlags
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "alloc FILE N...",
		Short: "Allocate regions of N bytes",
		Long: `Allocates regions of so many bytes, all of them or none, and prints each as OFFSET+LENGTH. Their bytes
are zero.

With --allocator, the file may be missing or empty, and is then created with an allocator of that kind; one that has an
allocator must have that one.`,
		Example: `  holt stack alloc my.stack 100 --allocator ghosttree
  holt stack alloc my.stack 64 1 40`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			lens := make([]int64, len(args)-1)
			for i, arg := range args[1:] {
				var err error
				if lens[i], err = parseCount(arg); err != nil {
					return err
				}
			}
			return kind.change(args[0], func(a alloc.Allocator) error {
				rs, err := a.AllocBulk(lens)
				if err != nil {
					return err
				}
				return printRegions(cmd.OutOrStdout(), asJSON, rs...)
			})
		},
	}
	kind.addFlags(cmd, "", "the kind of allocator, for a file that is missing or empty")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// change runs fn with the allocator of a file, which is created if the flags say what to create.
func (k *kindFlags) change(path string, fn func(a alloc.Allocator) error) error {
	if k.name == "" {
		if k.blockSize != 0 {
			return usagef("--block-size needs --allocator")
		}
		return changeStack(path, withAllocator(fn))
	}
	create := !exists(path)
	if _, err := k.kind(create); err != nil {
		return err
	}
	change := changeStack
	if create {
		change = createStack
	}
	return change(path, func(s *stack.Stack) error {
		a, err := k.open(s)
		if err != nil {
			return err
		}
		return fn(a)
	})
}

func printRegions(out io.Writer, asJSON bool, rs ...alloc.Region) error {
	for _, r := range rs {
		var err error
		if asJSON {
			err = printJSON(out, regionJSON{r.Off, r.Len})
		} else {
			_, err = fmt.Fprintln(out, regionText(r))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
