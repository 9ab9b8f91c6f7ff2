// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/annot"
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
)

func newContentSegment() *cobra.Command {
	o := contentOpener{anyHead: true}
	p := annot.Printer{}
	cmd := &cobra.Command{
		Use:   "segment DIR ID",
		Short: "Print the bytes of a segment and what they are",
		Long: `Prints all of a segment, piece by piece: header, references, the table of records, and the records, by
where they lie. Each line has the offsets in the segment of the first byte and behind the last, the bytes in
hexadecimal, and what they are. Long pieces are abridged, unless --full is given.

Records are taken for what the table says they are.`,
		Example: "  holt content segment segmentstore 1f5f0022-09bc-4938-ae1e-e92d8b333d80",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := segment.ParseID(args[1])
			if err != nil {
				return usagef("%q is no id of a segment", args[1])
			}
			return o.view(cmd, args[0], "reading", func(s *content.Store, _ segment.RecordID) error {
				seg, err := s.Segment(id)
				if err != nil {
					return err
				}
				p.Out, p.File, p.Size = cmd.OutOrStdout(), bytes.NewReader(seg.Bytes()), int64(len(seg.Bytes()))
				return s.Locate(printFields(&p, segmentFields(seg)))
			})
		},
	}
	annotFlags(cmd, &p)
	return cmd
}

func newContentRecord() *cobra.Command {
	o := contentOpener{anyHead: true}
	p := annot.Printer{}
	cmd := &cobra.Command{
		Use:   "record DIR ID",
		Short: "Print the bytes of a record and what they are",
		Long: `Prints a record, taken for what the table of records of its segment says it is. Offsets are those in the
segment.

An id is that of a segment, a colon and a number, as in the journal, or a full stop and a hexadecimal one.`,
		Example: "  holt content record segmentstore 1f5f0022-09bc-4938-ae1e-e92d8b333d80:8",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := segment.ParseRecordID(args[1])
			if err != nil {
				return usagef("%q is no id of a record", args[1])
			}
			return o.view(cmd, args[0], "reading", func(s *content.Store, _ segment.RecordID) error {
				seg, err := s.Segment(id.Segment)
				if err != nil {
					return err
				}
				p.Out, p.File, p.Size = cmd.OutOrStdout(), bytes.NewReader(seg.Bytes()), int64(len(seg.Bytes()))
				for row := range seg.Records() {
					if row.ID() == id {
						return s.Locate(printFields(&p, recordSection(row)))
					}
				}
				if id.Segment.IsBulk() {
					return fmt.Errorf("segment %s is a bulk segment: it has blocks, and no records", id.Segment)
				}
				_, err = s.Record(id)
				return err
			})
		},
	}
	annotFlags(cmd, &p)
	return cmd
}

func annotFlags(cmd *cobra.Command, p *annot.Printer) {
	cmd.Flags().BoolVar(&p.Full, "full", false, "print all bytes of long pieces")
	jsonFlag(cmd, &p.JSON)
}
