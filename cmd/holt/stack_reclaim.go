// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

func newStackReclaim() *cobra.Command {
	var (
		file            string
		rebuild, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "reclaim FILE [REGION...]",
		Short: "Give back everything but the regions in use",
		Long: `Gives back all space that is in none of the regions, and prints how much it was. Give all regions that
are in use: what is not among them is lost. With --live, takes more of them from a file, or from standard input when the
file is "-", one to a line; an empty one gives everything back.

With --rebuild, forgets what a damaged GhostTree says is free, and makes its tree anew.`,
		Example: `  holt stack reclaim my.stack 112+64 48+32
  holt stack reclaim my.stack --live regions.txt`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("live") {
				return cobra.MinimumNArgs(1)(cmd, args)
			}
			if len(args) < 2 {
				return errors.New("requires a file and the regions in use, or --live with a file of them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			words := args[1:]
			if cmd.Flags().Changed("live") {
				more, err := readWords(cmd.InOrStdin(), file)
				if err != nil {
					return err
				}
				words = append(words, more...)
			}
			live, err := parseRegions(words)
			if err != nil {
				return err
			}
			return changeStack(args[0], func(s *stack.Stack) error {
				n, err := reclaim(s, live, rebuild)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), struct {
						Reclaimed int64 `json:"reclaimed"`
					}{n})
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), text.Plural(n, "byte"), "reclaimed")
				return err
			})
		},
	}
	cmd.Flags().StringVar(&file, "live", "", `take regions in use from this file, "-" for standard input`)
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "make the tree of a GhostTree anew, though it is damaged")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// reclaim makes everything free that is not in live, and returns how many bytes that were not free before are now; of a
// tree that is rebuilt, how many are.
func reclaim(s *stack.Stack, live []alloc.Region, rebuild bool) (n int64, err error) {
	if rebuild {
		a, err := alloc.RebuildGhostTree(s, live)
		if err != nil {
			return 0, err
		}
		stats, err := a.Stats()
		return stats.Free, err
	}
	err = withAllocator(func(a alloc.Allocator) error {
		n, err = a.Reclaim(live)
		return err
	})(s)
	return n, err
}

// readWords reads what is divided by white space.
func readWords(stdin io.Reader, name string) ([]string, error) {
	content, err := readInput(stdin, name)
	return strings.Fields(string(content)), err
}
