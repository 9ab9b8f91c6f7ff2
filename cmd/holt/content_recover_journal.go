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
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
)

func newContentRecoverJournal() *cobra.Command {
	var asJSON bool
	var head string
	opts := content.RecoverOptions{}
	cmd := &cobra.Command{
		Use:   "recover-journal DIR",
		Short: "Write the journal anew, from the revisions in the archives",
		Long: `Looks through the archives for revisions, leaves out the newest ones until there is one of which everything
can be read, its checkpoints and the binaries in the store too, and writes the journal anew. What the journal was is
kept, as journal.log.bak.000 or the next number that is free.

No program may have the store open, but for a --dry-run. Archives without an index are recovered, as by every program
that opens the store for writing.`,
		Example: `  holt content recover-journal segmentstore --dry-run
  holt content recover-journal segmentstore`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if head != "" {
				if opts.Head, err = parseRevision(head); err != nil {
					return err
				}
			}
			return runRecoverJournal(cmd, args[0], opts, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&opts.DryRun, "dry-run", false, "say what would be done, and do nothing")
	flags.StringVar(&head, "head", "", "leave out all revisions newer than this one")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func runRecoverJournal(cmd *cobra.Command, dir string, opts content.RecoverOptions, asJSON bool) error {
	out := cmd.OutOrStdout()
	note := func(what any, format string, args ...any) {
		if asJSON {
			_ = printJSON(out, what) // comes up again at the end
			return
		}
		fmt.Fprintf(out, format+"\n", args...)
	}
	opts.Dropped = func(r archive.Revision, reason error) {
		j := droppedJSON{r.ID.String(), timeText(r.Time), reason.Error()}
		note(j, "left out: %s  %s: %s", j.Revision, j.Time, j.Reason)
	}
	opts.Unreadable = func(err error) { note(notSearchedJSON{err.Error()}, "not searched: %v", err) }
	bar := progress.New(cmd.ErrOrStderr(), "searching "+dir+", nodes", 0)
	defer bar.Done()
	opts.Progress = bar.Add
	r, err := content.RecoverJournal(cmd.Context(), dir, opts)
	bar.Done()
	if _, doubt := errors.AsType[*content.AmbiguousError](err); doubt {
		return fmt.Errorf("%w (--head says which)", err)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(out, newRecoveredJournalJSON(r, opts.DryRun))
	}
	printRecoveredJournal(out, r, opts.DryRun)
	return nil
}

func printRecoveredJournal(out io.Writer, r content.JournalRecovery, dryRun bool) {
	if r.Backup != "" {
		fmt.Fprintf(out, "the old journal is %s\n", r.Backup)
	}
	does := "has"
	if dryRun {
		does = "would have"
	}
	fmt.Fprintf(out, "the journal %s %s, %d left out; the head, with %s, is whole:\n%s  %s\n",
		does, text.Plural(r.Revisions, "revision"), r.Dropped, text.Plural(r.Nodes, "node"), r.Head.ID, timeText(r.Head.Time))
}

// droppedJSON is a revision that is left out, for programs.
type droppedJSON struct {
	Revision string `json:"leftOut"`
	Time     string `json:"time,omitempty"`
	Reason   string `json:"reason"`
}

// notSearchedJSON is a segment that cannot be read, for programs.
type notSearchedJSON struct {
	Reason string `json:"notSearched"`
}

// recoveredJournalJSON is the last line for programs.
type recoveredJournalJSON struct {
	Head      string `json:"head"`
	Time      string `json:"time,omitempty"`
	Revisions int    `json:"revisions"`
	LeftOut   int    `json:"leftOut"`
	Nodes     int64  `json:"nodes"`
	Backup    string `json:"backup,omitempty"`
	DryRun    bool   `json:"dryRun"`
}

func newRecoveredJournalJSON(r content.JournalRecovery, dryRun bool) recoveredJournalJSON {
	return recoveredJournalJSON{
		r.Head.ID.String(), timeText(r.Head.Time), r.Revisions, r.Dropped, r.Nodes, r.Backup, dryRun,
	}
}
