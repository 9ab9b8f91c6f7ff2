// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/kv"
)

func newKVShrink(o *opener) *cobra.Command {
	var (
		with   kv.ShrinkOptions
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "shrink FILE",
		Short: "Make a database smaller where it is",
		Long: `Puts sparse pages together, moves pages from the end of the file into free ones before them, and cuts the file, in many
small transactions. Unlike compact it needs no room for a second copy. It may be interrupted at any moment: what was
done until then stays, and the next run goes on from there. The database must not be open in another process.

Prints the length of the file before and after, and how much of it is in use.`,
		Example: "  holt kv shrink my.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if with.StepBytes < 0 {
				return usagef("--step-bytes is %d: there are no fewer than 0 bytes", with.StepBytes)
			}
			r, err := shrink(cmd, o, args[0], with)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "%d -> %d bytes (%d in use)\n", r.From, r.To, r.Used)
			if with.PunchHoles {
				fmt.Fprintf(out, "%d bytes in the middle given back\n", r.Punched)
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&with.StepBytes, "step-bytes", 1<<20, "bytes that one transaction rewrites, about; small steps leave the file larger")
	cmd.Flags().BoolVar(&with.PunchHoles, "punch-holes", false,
		"give what stays free in the middle, 16 KiB or more in a row, back to the file system; fails where that cannot be done")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// shrunk is what holt kv shrink reports, in bytes.
type shrunk struct {
	From    int64 `json:"from"`
	To      int64 `json:"to"`
	Used    int64 `json:"used"`
	Written int64 `json:"written"`
	Punched int64 `json:"punched,omitempty"`
}

func shrink(cmd *cobra.Command, o *opener, path string, with kv.ShrinkOptions) (r shrunk, err error) {
	db, err := o.open(cmd.Context(), path, kv.Options{})
	if err != nil {
		return r, err
	}
	defer closeWith(&err, db)
	db.AllocSize = 0 // no room for further growth
	stats := db.Stats()
	total := fileSize(path) - int64(stats.FreeAlloc)
	bar := progress.New(cmd.ErrOrStderr(), "shrinking "+path, total)
	defer bar.Done()
	looked := int64(0)
	with.Progress = func(r kv.ShrinkReport) {
		bar.Add(r.Looked - looked)
		looked = r.Looked
	}
	report, err := db.Shrink(cmd.Context(), with)
	return shrunk{report.Before, report.After, report.Used, report.Written, report.Punched}, err
}
