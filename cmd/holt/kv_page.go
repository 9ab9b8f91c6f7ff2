// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv/surgery"
)

func newKVPage() *cobra.Command {
	var (
		f      text.Format
		all    bool
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "page FILE [ID...]",
		Short: "Print what is in pages",
		Long: `Prints the header and the contents of pages as they lie in the file, whether they are in use or not, also of a file too
damaged to be opened. A page that cannot be understood prints a notice in its place. It fails when that was one of the
pages asked for; with --all it does not, as free pages may hold anything.`,
		Example: `  holt kv page my.db 0 1
  holt kv page my.db --all --format-value redacted`,
		Args: func(_ *cobra.Command, args []string) error {
			switch ids := len(args) - 1; {
			case ids < 0:
				return errors.New("requires a file")
			case all && ids > 0:
				return errors.New("invalid args: either use '--all' or 'ID...'")
			case !all && ids == 0:
				return errors.New("page id required")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ids, err := parsePageIDs(args[1:])
			if err != nil {
				return err
			}
			file, err := openRaw(args[0])
			if err != nil {
				return err
			}
			defer closeWith(&err, file)
			p := pagePrinter{out: cmd.OutOrStdout(), file: file, format: f, json: asJSON}
			if all {
				return p.printAll(cmd.Context())
			}
			return p.print(ids)
		},
	}
	formatFlag(cmd, &f, "format-value", "", "how to print values")
	cmd.Flags().BoolVar(&all, "all", false, "print all pages")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// openRaw opens a file for reading raw pages.
func openRaw(path string) (*surgery.File, error) {
	if err := mustExist(path); err != nil {
		return nil, err
	}
	return surgery.Open(path)
}

// parsePageIDs parses decimal, hexadecimal (0x…) and octal (0…) page ids.
func parsePageIDs(args []string) ([]uint64, error) {
	ids := make([]uint64, len(args))
	for i, arg := range args {
		id, err := strconv.ParseUint(arg, 0, 64)
		if err != nil {
			return nil, usagef("%q is not a page id", arg)
		}
		ids[i] = id
	}
	return ids, nil
}

// pagePrinter prints pages of one file.
type pagePrinter struct {
	out    io.Writer
	file   *surgery.File
	format text.Format
	json   bool
	n      int // pages printed so far
}

func (p *pagePrinter) printAll(ctx context.Context) error {
	for id := uint64(0); id < p.file.HWM(); id++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if pg, err := p.printPage(id); err == nil {
			id += uint64(pg.Overflow())
		}
	}
	return nil
}

func (p *pagePrinter) print(ids []uint64) error {
	failed := 0
	for _, id := range ids {
		if _, err := p.printPage(id); err != nil {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%s could not be printed", text.Plural(failed, "page"))
	}
	return nil
}

// printPage prints a page, or a notice in its place. A page that turns out damaged halfway is left out as a whole.
func (p *pagePrinter) printPage(id uint64) (*surgery.Page, error) {
	if p.n++; p.n > 1 && !p.json {
		fmt.Fprintln(p.out, pageSeparator)
	}
	pg, err := p.file.Page(id)
	var buf bytes.Buffer
	if err == nil {
		if p.json {
			err = p.writeJSON(&buf, pg)
		} else {
			err = p.writeText(&buf, pg)
		}
	}
	switch {
	case err == nil:
		_, err = buf.WriteTo(p.out)
	case p.json:
		err = errors.Join(err, printJSON(p.out, struct {
			ID    uint64 `json:"id"`
			Error string `json:"error"`
		}{id, err.Error()}))
	default:
		fmt.Fprintf(p.out, "Printing page %d failed: %v. Continuing...\n", id, err)
	}
	return pg, err
}

func (p *pagePrinter) writeText(out io.Writer, pg *surgery.Page) error {
	fmt.Fprintf(out, "Page ID:    %d\n", pg.ID())
	fmt.Fprintf(out, "Page Type:  %s\n", pg.Type())
	fmt.Fprintf(out, "Total Size: %d bytes\n", pg.Size())
	fmt.Fprintf(out, "Overflow pages: %d\n", pg.Overflow())
	switch {
	case pg.IsMeta():
		return p.writeMeta(out, pg)
	case pg.IsFreelist():
		return p.writeFreelist(out, pg)
	}
	fmt.Fprintf(out, "Item Count: %d\n\n", pg.Count())
	for i := range pg.Count() {
		it, err := pg.Item(i)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %s\n", text.Quote(it.Key), p.itemText(pg, it))
	}
	fmt.Fprintln(out)
	return nil
}

func (p *pagePrinter) itemText(pg *surgery.Page, it surgery.Item) string {
	switch {
	case pg.IsBranch():
		return fmt.Sprintf("<pgid=%d>", it.Child)
	case it.IsBucket:
		return fmt.Sprintf("<pgid=%d,seq=%d>", it.Root, it.Sequence)
	}
	return p.format.Text(it.Value)
}

func (p *pagePrinter) writeMeta(out io.Writer, pg *surgery.Page) error {
	m, err := pg.Meta()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Version:    %d\n", m.Version)
	fmt.Fprintf(out, "Page Size:  %d bytes\n", m.PageSize)
	fmt.Fprintf(out, "Flags:      %08x\n", m.Flags)
	fmt.Fprintf(out, "Root:       <pgid=%d>\n", m.Root)
	fmt.Fprintf(out, "Freelist:   <pgid=%d>\n", m.Freelist)
	fmt.Fprintf(out, "HWM:        <pgid=%d>\n", m.HWM)
	fmt.Fprintf(out, "Txn ID:     %d\n", m.TxID)
	fmt.Fprintf(out, "Checksum:   %016x\n", m.Checksum)
	if m.Err != nil {
		fmt.Fprintf(out, "Not valid:  %v\n", m.Err)
	}
	fmt.Fprintln(out)
	return nil
}

func (p *pagePrinter) writeFreelist(out io.Writer, pg *surgery.Page) error {
	n, err := pg.FreelistLen()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Item Count: %d\n", n)
	fmt.Fprintf(out, "Overflow: %d\n\n", pg.Overflow())
	for id, err := range pg.FreelistIDs() {
		if err != nil {
			return err
		}
		fmt.Fprintln(out, id)
	}
	fmt.Fprintln(out)
	return nil
}
