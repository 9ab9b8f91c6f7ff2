// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
)

func newContentArchives() *cobra.Command {
	return newContentListing(&cobra.Command{
		Use:   "archives DIR",
		Short: "List the archives, newest first",
		Long: `Lists the archives with their sizes, the numbers of data and bulk segments in them, and the generations of
these. The archive that a program writes to has no index yet.`,
		Example: "  holt content archives segmentstore",
		Args:    cobra.ExactArgs(1),
	}, func(l listing, s *content.Store, _ []string) error {
		for _, a := range s.Archives() {
			if err := l.print(newArchiveJSON(a)); err != nil {
				return err
			}
		}
		return nil
	})
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

func (j archiveJSON) line() string {
	return fmt.Sprintf("%-16s %10s  %5d data %5d bulk  generation %s%s",
		j.Name, text.Size(j.Size), j.Data, j.Bulk, j.generations(), j.note())
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
