// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content/blob"
)

// newContentBlobs makes the commands for binaries that are kept outside of content stores.
func newContentBlobs() *cobra.Command {
	cmd := group("blobs", "List and collect the binaries that are kept outside of content stores",
		`  holt content blobs ls datastore
  holt content blobs gc datastore --store segmentstore --dry-run`,
		newContentBlobsList(), newContentBlobsCollect())
	cmd.Long = `Commands for data stores: directories with binaries, in the layout of Oak's FileDataStore. The file of the
binary with the SHA-256 abcdef… is ab/cd/ef/abcdef…. What else is in the directory is left alone.`
	return cmd
}

// openBlobs opens a data store that must be there.
func openBlobs(dir string) (*blob.FileStore, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no directory", dir)
	}
	return &blob.FileStore{Dir: dir}, err
}

func newContentBlobsList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls DATASTORE",
		Short: "List the binaries in a data store",
		Long: `Lists the binaries in order of their digests: when each was last written, its size in bytes, and its id. A
binary that was written again, or was there already when it was to be written, counts as written then.`,
		Example: "  holt content blobs ls datastore",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := openBlobs(args[0])
			if err != nil {
				return err
			}
			for e, err := range s.All() {
				if err != nil {
					return err
				}
				if asJSON {
					err = printJSON(cmd.OutOrStdout(), newBlobJSON(e, ""))
				} else {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %12d  %s\n", timeText(e.Modified), e.Size, e.ID)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// blobJSON is a binary for programs.
type blobJSON struct {
	ID    string `json:"id"`
	Size  int64  `json:"size,omitempty"`
	Time  string `json:"time,omitempty"`
	State string `json:"state,omitempty"` // of a collection: deleted, missing, or in a dry run unused
}

func newBlobJSON(e blob.Entry, state string) blobJSON {
	return blobJSON{e.ID, e.Size, timeText(e.Modified), state}
}

func newContentBlobsCollect() *cobra.Command {
	var c blobsCollection
	cmd := &cobra.Command{
		Use:   "gc DATASTORE --store DIR",
		Short: "Delete the binaries that no content store refers to",
		Long: `Deletes the binaries that no archive of the content stores refers to, if they were last written longer ago
than the grace time, and what programs left behind that were stopped while they wrote. Prints the id of each.

All content stores that use the data store must be named: binaries of others are lost. They may be in use. The grace
time must be longer than programs take from writing a binary until it is in an archive.

A content store is refused that has lost something: of which there are archives that recovery has put aside, under names
that end in .bak, with parts that it could not bring back and no archive has. These may have referred to binaries.

Binaries that are referred to and not there are printed too, and make the exit status 1.`,
		Example: `  holt content blobs gc datastore --store segmentstore --dry-run
  holt content blobs gc datastore --store author/segmentstore --store publish/segmentstore --grace 48h`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&c.stores, "store", nil, "content store that uses the data store; may be repeated")
	flags.BoolVar(&c.ignoreLost, "ignore-lost", false, "go on though a content store has lost something that may have "+
		"referred to binaries")
	flags.DurationVar(&c.opts.Grace, "grace", 24*time.Hour, "for how long what was written is spared")
	flags.BoolVar(&c.opts.DryRun, "dry-run", false, "delete nothing, only print what would be")
	jsonFlag(cmd, &c.json)
	return cmd
}

// printBlobs prints what a collection came upon.
func printBlobs(cmd *cobra.Command, r blob.CollectReport, dryRun bool) {
	verb := "deleted"
	if dryRun {
		verb = "would delete"
	}
	tally := func(t blob.Tally) string { return binaries(t.Count) + ", " + text.Size(t.Bytes) }
	fmt.Fprintf(cmd.OutOrStdout(), "found %s; %d in use, %d of these missing\n", tally(r.Found), r.Used, r.Missing)
	fmt.Fprintf(cmd.OutOrStdout(), "spared %s, not in use and young\n", tally(r.Young))
	fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", verb, tally(r.Deleted))
	fmt.Fprintf(cmd.OutOrStdout(), "%s %s, unfinished\n", verb, tally(r.Cleaned))
}
