// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
)

func newContentStats() *cobra.Command {
	var o contentOpener
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats DIR [PATH]",
		Short: "Print what takes the space",
		Long: `Prints the bytes of all segments by what they are, by archive and by generation; values that are stored
several times; and of a node and all below it, /root if no path is given, how many nodes, properties and values
there are, and the nodes with the most bytes in their values and with the most children.`,
		Example: `  holt content stats segmentstore
  holt content stats segmentstore /root/content`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.view(cmd, args[0], "reading", func(s *content.Store, revision segment.RecordID) error {
				var stats contentStats
				if err := stats.segments(cmd.Context(), s); err != nil {
					return s.Locate(err)
				}
				if err := stats.nodes(cmd.Context(), s, revision, pathArg(args, "/root")); err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), &stats)
				}
				stats.print(cmd.OutOrStdout())
				return nil
			})
		},
	}
	o.revisionFlag(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// contentStats is what takes the space of a store.
type contentStats struct {
	Bytes       int64         `json:"bytes"` // of all segments
	Kinds       []spaceOf     `json:"kinds"`
	Archives    []spaceOf     `json:"archives"`
	Generations []spaceOf     `json:"generations"`
	Repeated    repeatedStats `json:"repeated"`
	Tree        treeStats     `json:"tree"`
}

// spaceOf is what something takes.
type spaceOf struct {
	Name  string `json:"name"`
	Count int64  `json:"count"` // records or segments
	Bytes int64  `json:"bytes"`
}

// add counts for a name.
func add(list *[]spaceOf, name string, count, bytes int64) {
	i := slices.IndexFunc(*list, func(s spaceOf) bool { return s.Name == name })
	if i < 0 {
		*list = append(*list, spaceOf{Name: name})
		i = len(*list) - 1
	}
	(*list)[i].Count += count
	(*list)[i].Bytes += bytes
}

// segments counts all that is stored, whether a revision leads to it or not.
func (st *contentStats) segments(ctx context.Context, s *content.Store) error {
	seen := newRepeats()
	for _, a := range s.Archives() {
		for e := range a.Entries() {
			if err := ctx.Err(); err != nil {
				return err
			}
			data, _ := a.Segment(e.ID)
			seg, err := segment.ParseIn(s, e.ID, data)
			if err != nil {
				return err
			}
			st.Bytes += int64(e.Len)
			add(&st.Archives, a.Name(), 1, int64(e.Len))
			generation := e.Generation.String()
			if e.ID.IsBulk() {
				generation = "none: bulk"
			}
			add(&st.Generations, generation, 1, int64(e.Len))
			st.records(seg, seen)
		}
	}
	slices.SortStableFunc(st.Kinds, func(a, b spaceOf) int { return cmp.Compare(b.Bytes, a.Bytes) })
	st.Repeated = seen.stats()
	return nil
}

func (st *contentStats) records(s *segment.Segment, seen *repeats) {
	size := int64(len(s.Bytes()))
	if s.ID().IsBulk() {
		add(&st.Kinds, "bulk segments", 1, size)
		return
	}
	rest := size
	for row := range s.Records() {
		add(&st.Kinds, row.Type.String(), 1, int64(len(row.Bytes)))
		rest -= int64(len(row.Bytes))
		if row.Type == segment.RecordValue {
			seen.add(row)
		}
	}
	add(&st.Kinds, "headers and tables", 1, rest)
}

func (st *contentStats) print(out io.Writer) {
	table := func(title string, list []spaceOf) {
		fmt.Fprintf(out, "%s:\n", title)
		for _, s := range list {
			fmt.Fprintf(out, "  %-24s %10d %12s %5.1f%%\n", s.Name, s.Count, text.Size(s.Bytes), percentOf(s.Bytes, st.Bytes))
		}
	}
	fmt.Fprintf(out, "Segments: %s\n", text.Size(st.Bytes))
	table("By kind, records", st.Kinds)
	table("By archive, segments", st.Archives)
	table("By generation, segments", st.Generations)
	st.Repeated.print(out)
	st.Tree.print(out)
}

// percentOf is what share a part is of a whole.
func percentOf(part, of int64) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(part) / float64(of)
}
