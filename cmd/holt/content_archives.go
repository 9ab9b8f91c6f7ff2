// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
)

func newContentArchives() *cobra.Command {
	o := contentOpener{anyHead: true}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "archives DIR",
		Short: "List the archives, newest first",
		Long: `Lists the archives with their sizes, the numbers of data and bulk segments in them, and the generations of
these. The archive that a program writes to has no index yet.`,
		Example: "  holt content archives segmentstore",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.view(cmd, args[0], "reading", func(s *content.Store, _ segment.RecordID) error {
				for _, a := range s.Archives() {
					j := newArchiveJSON(a)
					if asJSON {
						if err := printJSON(cmd.OutOrStdout(), j); err != nil {
							return err
						}
						continue
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%-16s %10s  %5d data %5d bulk  generation %s%s\n",
						j.Name, text.Size(j.Size), j.Data, j.Bulk, j.generations(), j.note())
				}
				return nil
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// archiveJSON is an archive for programs.
type archiveJSON struct {
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	Data    int    `json:"dataSegments"`
	Bulk    int    `json:"bulkSegments"`
	Bytes   int64  `json:"segmentBytes"`
	First   int32  `json:"firstGeneration"`
	Last    int32  `json:"lastGeneration"`
	Indexed bool   `json:"indexed"`
}

func newArchiveJSON(a archive.Archive) archiveJSON {
	j := archiveJSON{Name: a.Name(), Size: a.Size(), Indexed: true}
	if r, ok := a.(*archive.Reader); ok {
		j.Indexed = !r.Scanned()
	}
	for e := range a.Entries() {
		j.Bytes += int64(e.Len)
		if e.ID.IsBulk() {
			j.Bulk++
			continue
		}
		g := e.Generation.Generation
		if j.Data == 0 {
			j.First, j.Last = g, g
		}
		j.First, j.Last = min(j.First, g), max(j.Last, g)
		j.Data++
	}
	return j
}

func (j archiveJSON) generations() string {
	if j.First == j.Last {
		return fmt.Sprint(j.First)
	}
	return fmt.Sprintf("%d to %d", j.First, j.Last)
}

func (j archiveJSON) note() string {
	if j.Indexed {
		return ""
	}
	return "  without index"
}
