// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/annot"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

func newStackDump() *cobra.Command {
	d := &stackDump{}
	cmd := &cobra.Command{
		Use:   "dump FILE [REGION]",
		Short: "Print the bytes of a file and what they are",
		Long: `Prints all of a file, piece by piece: its header, an interrupted change, and the payload, with the
allocator's header, the nodes or marks in its free and used blocks, and what lies between. Each line has the offsets in
the file of the first byte and behind the last, the bytes in hexadecimal, and what they are. Long pieces are abridged,
unless --full is given.

With a region, prints what overlaps that part of the payload.`,
		Example: `  holt stack dump my.stack
  holt stack dump my.stack 112+64 --full`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) == 2 {
				if d.part, err = parseRegion(args[1]); err != nil {
					return err
				}
				d.all = false
			}
			d.printer.Out = cmd.OutOrStdout()
			return d.run(args[0])
		},
	}
	d.all = true
	cmd.Flags().BoolVar(&d.printer.Full, "full", false, "print all bytes of long pieces")
	jsonFlag(cmd, &d.printer.JSON)
	return cmd
}

// stackDump is one run of holt stack dump.
type stackDump struct {
	all     bool
	part    alloc.Region // of the payload, unless all is to be printed
	printer annot.Printer
	state   *stack.State
}

func (d *stackDump) run(path string) (err error) {
	if d.state, err = inspectStack(path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer closeWith(&err, f)
	d.printer.File, d.printer.Size = f, d.state.Size
	if err := d.fields("header", 0, d.state.HeaderSize); err != nil {
		return err
	}
	if err := d.payload(path); err != nil {
		return err
	}
	return d.behind()
}

// fields prints those fields of the file that lie between two offsets.
func (d *stackDump) fields(section string, from, to int64) error {
	d.printer.Section(section)
	for _, f := range d.state.Fields {
		if !d.all || f.Off < from || f.Off >= to {
			continue
		}
		if err := d.printer.Print(annot.Piece{Off: f.Off, Len: f.Len, Name: f.Name, Value: f.Value}); err != nil {
			return err
		}
	}
	return nil
}

// payload prints the payload, as the allocator sees it if there is one that can be opened. If there is one that cannot,
// that is the error, and the payload is printed all the same.
func (d *stackDump) payload(path string) error {
	err := alloc.ErrFormat // as if there were no allocator
	if d.state.Journal == nil && !d.state.Unfinished {
		err = viewStack(path, withAllocator(d.spans))
	}
	if err == nil {
		return nil
	}
	d.printer.Section("payload")
	plain := d.piece(0, d.state.Payload, "data", "")
	if isNoAllocator(err) {
		err = nil
	}
	return errors.Join(err, plain)
}

// spans prints the payload span by span.
func (d *stackDump) spans(a alloc.Allocator) error {
	spans, err := a.Layout()
	if err != nil {
		return err
	}
	for _, sp := range spans {
		if !d.wants(sp.Off, sp.Len) {
			continue
		}
		title := fmt.Sprintf("%s %d+%d", sp.Kind, sp.Off, sp.Len)
		if sp.Kind == alloc.Header {
			title = alloc.Name(a)
		}
		d.printer.Section(title)
		if err := d.span(a, sp); err != nil {
			return err
		}
	}
	return nil
}

// span prints the fields of a span and what lies between them.
func (d *stackDump) span(a alloc.Allocator, sp alloc.Span) error {
	fields, err := alloc.Fields(a, sp)
	if err != nil {
		return err
	}
	at := sp.Off
	for _, f := range fields {
		if err := d.piece(at, f.Off-at, "data", ""); err != nil {
			return err
		}
		if err := d.piece(f.Off, f.Len, f.Name, f.Value); err != nil {
			return err
		}
		at = f.Off + f.Len
	}
	return d.piece(at, sp.Off+sp.Len-at, "data", "")
}

// piece prints bytes at an offset of the payload.
func (d *stackDump) piece(off, n int64, name, value string) error {
	if n <= 0 || !d.wants(off, n) {
		return nil
	}
	return d.printer.Print(annot.Piece{Off: d.state.HeaderSize + off, Len: n, Name: name, Value: value})
}

// wants says whether a part of the payload is to be printed.
func (d *stackDump) wants(off, n int64) bool {
	return d.all || off < d.part.End() && d.part.Off < off+n
}

// behind prints what follows the payload.
func (d *stackDump) behind() error {
	end := d.state.HeaderSize + d.state.Payload
	switch {
	case !d.all || d.state.Behind == 0:
		return nil
	case d.state.Journal != nil:
		return d.fields("journal", end, d.state.Size)
	}
	d.printer.Section("never committed")
	return d.printer.Print(annot.Piece{Off: end, Len: d.state.Behind, Name: "data"})
}
