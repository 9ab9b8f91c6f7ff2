// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/content"
)

func newContentJournal() *cobra.Command {
	return newContentListing(&cobra.Command{
		Use:   "journal DIR",
		Short: "List the revisions, newest first",
		Long: `Lists what was the head at some time: the revision, since when it was, and whether it is the head or gone.
Garbage collection removes what only old revisions need.`,
		Example: "  holt content journal segmentstore",
		Args:    cobra.ExactArgs(1),
	}, func(l listing, s *content.Store, _ []string) error {
		head, _ := s.Head()
		for r, err := range s.Journal() {
			if err != nil {
				return err
			}
			j := revisionJSON{r.ID.String(), timeText(r.Time), ""}
			if _, err := s.Segment(r.ID.Segment); err != nil {
				j.State = "gone"
			}
			if r.ID == head {
				j.State = "head"
			}
			if err := l.print(j); err != nil {
				return err
			}
		}
		return nil
	})
}

// revisionJSON is a line of the journal for programs.
type revisionJSON struct {
	Revision string `json:"revision"`
	Time     string `json:"time,omitempty"`
	State    string `json:"state,omitempty"`
}

func (j revisionJSON) line() string {
	return fmt.Sprintf("%-48s  %-24s  %s", j.Revision, j.Time, j.State)
}

// timeText is empty for a time that is not known.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
