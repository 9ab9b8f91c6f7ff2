// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
)

func newContentSegments() *cobra.Command {
	return newContentListing(&cobra.Command{
		Use:   "segments DIR [ARCHIVE]",
		Short: "List the segments, in the order in which they were written",
		Long: `Lists the segments of all archives, newest archive first, or of one: where each lies, its length and
generation, how many records it has and other segments it refers to, and who wrote it when.`,
		Example: `  holt content segments segmentstore
  holt content segments segmentstore data00000a.tar`,
		Args: cobra.RangeArgs(1, 2),
	}, func(l listing, s *content.Store, args []string) error {
		archives := s.Archives()
		if len(args) == 2 {
			archives = slices.DeleteFunc(archives, func(a archive.Archive) bool { return a.Name() != args[1] })
			if len(archives) == 0 {
				return fmt.Errorf("there is no archive %s", text.Quote([]byte(args[1])))
			}
		}
		var bad error
		for _, a := range archives {
			l.heading(a.Name())
			for e := range a.Entries() {
				j := newSegmentJSON(s, a, e)
				if j.err != nil {
					bad = j.err
				}
				if err := l.print(j); err != nil {
					return err
				}
			}
		}
		return bad
	})
}

// segmentJSON is a segment for programs.
type segmentJSON struct {
	ID         string `json:"id"`
	Archive    string `json:"archive"`
	Off        int64  `json:"offset"`
	Len        int    `json:"length"`
	Bulk       bool   `json:"bulk"`
	Generation int32  `json:"generation"`
	Full       int32  `json:"fullGeneration"`
	Compacted  bool   `json:"compacted"`
	Records    int    `json:"records"`
	References int    `json:"references"`
	Writer     string `json:"writer,omitempty"`
	Time       string `json:"time,omitempty"`
	Error      string `json:"error,omitempty"`

	err error
}

func newSegmentJSON(s *content.Store, a archive.Archive, e archive.Entry) segmentJSON {
	g := e.Generation
	j := segmentJSON{
		ID: e.ID.String(), Archive: a.Name(), Off: e.Off, Len: e.Len, Bulk: e.ID.IsBulk(),
		Generation: g.Generation, Full: g.Full, Compacted: g.Compacted,
	}
	var data []byte
	data, _ = a.Segment(e.ID) // it may be in a newer archive too
	seg, err := segment.ParseIn(s, e.ID, data)
	if err == nil {
		j.Records, j.References = seg.Count(), seg.References()
		if !j.Bulk {
			var info segment.Info
			if info, err = seg.Info(); err == nil {
				j.Writer, j.Time = info.Writer, timeText(info.Time)
			}
		}
	}
	if err = s.Locate(err); err != nil {
		j.err, j.Error = err, err.Error()
	}
	return j
}

func (j segmentJSON) line() string {
	head := fmt.Sprintf("%s  %9d+%-6d", j.ID, j.Off, j.Len)
	switch {
	case j.err != nil:
		return head + "  " + j.Error
	case j.Bulk:
		return head + "  bulk"
	}
	g := segment.Generation{Generation: j.Generation, Full: j.Full, Compacted: j.Compacted}
	return fmt.Sprintf("%s  %-8s %5d records %3d references  %s %s", head, g, j.Records, j.References, j.Writer, j.Time)
}
