// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/bucket"
	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/kv"
)

func newKVStats(o *opener) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats FILE [PREFIX]",
		Short: "Print statistics of pages, trees and buckets",
		Long: `Walks all pages of the top-level buckets whose names begin with PREFIX, of all of them without it, and prints how many
pages there are and how well they are filled. The names of nested buckets are counted as keys.`,
		Example: `  holt kv stats my.db
  holt kv stats my.db user`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var prefix []byte
			if len(args) == 2 {
				prefix = []byte(args[1])
			}
			return o.view(cmd.Context(), args[0], func(tx *kv.Tx) error {
				bar := progress.New(cmd.ErrOrStderr(), "walking "+args[0], 0)
				defer bar.Done()
				s := databaseStats{}
				err := bucket.Each(cmd.Context(), bucket.Root(tx), func(name, value []byte) error {
					if value != nil || !bytes.HasPrefix(name, prefix) {
						return nil
					}
					b, err := bucket.Listed(bucket.Root(tx), name)
					if err != nil {
						return err
					}
					s.Buckets++
					s.Add(b.Stats())
					return nil
				})
				if err != nil {
					return err
				}
				bar.Done()
				if asJSON {
					return printJSON(cmd.OutOrStdout(), s)
				}
				s.print(cmd.OutOrStdout())
				return nil
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// databaseStats sums up the statistics of several top-level buckets.
type databaseStats struct {
	Buckets int // top-level ones
	kv.BucketStats
}

func (s *databaseStats) print(out io.Writer) {
	fmt.Fprintf(out, "Aggregate statistics for %d buckets\n\n", s.Buckets)

	fmt.Fprintln(out, "Page count statistics")
	fmt.Fprintf(out, "\tNumber of logical branch pages: %d\n", s.BranchPageN)
	fmt.Fprintf(out, "\tNumber of physical branch overflow pages: %d\n", s.BranchOverflowN)
	fmt.Fprintf(out, "\tNumber of logical leaf pages: %d\n", s.LeafPageN)
	fmt.Fprintf(out, "\tNumber of physical leaf overflow pages: %d\n", s.LeafOverflowN)

	fmt.Fprintln(out, "Tree statistics")
	fmt.Fprintf(out, "\tNumber of keys/value pairs: %d\n", s.KeyN)
	fmt.Fprintf(out, "\tNumber of levels in B+tree: %d\n", s.Depth)

	fmt.Fprintln(out, "Page size utilization")
	fmt.Fprintf(out, "\tBytes allocated for physical branch pages: %d\n", s.BranchAlloc)
	fmt.Fprintf(out, "\tBytes actually used for branch data: %d (%d%%)\n", s.BranchInuse, percent(s.BranchInuse, s.BranchAlloc))
	fmt.Fprintf(out, "\tBytes allocated for physical leaf pages: %d\n", s.LeafAlloc)
	fmt.Fprintf(out, "\tBytes actually used for leaf data: %d (%d%%)\n", s.LeafInuse, percent(s.LeafInuse, s.LeafAlloc))

	fmt.Fprintln(out, "Bucket statistics")
	fmt.Fprintf(out, "\tTotal number of buckets: %d\n", s.BucketN)
	fmt.Fprintf(out, "\tTotal number on inlined buckets: %d (%d%%)\n", s.InlineBucketN, percent(s.InlineBucketN, s.BucketN))
	fmt.Fprintf(out, "\tBytes used for inlined buckets: %d (%d%%)\n", s.InlineBucketInuse, percent(s.InlineBucketInuse, s.LeafInuse))
}

// percent is the share of part in whole, rounded down; 0 of nothing.
func percent(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return int(float64(part) / float64(whole) * 100)
}
