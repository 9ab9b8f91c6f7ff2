// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv"
)

func newKVPages(o *opener) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pages FILE",
		Short: "List the pages with their types",
		Long: `Lists the pages in the order of the file: leaf and branch pages with the number of their elements, the free list with
that of the free pages. OVRFLW is the number of pages that continue one, for keys and values too large for it; those are
not listed themselves. What is not a page of any known type is listed as unknown and counts as damage.

In a file so damaged that its free pages cannot be found out, all pages are listed as what they hold or once held.`,
		Example: "  holt kv pages my.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			list := pageTable(out)
			if asJSON {
				list = func(p kv.PageInfo) error { return printJSON(out, pageJSON(p)) }
			}
			opts := kv.Options{PreLoadFreelist: true}
			err := o.viewWith(cmd.Context(), args[0], opts, func(tx *kv.Tx) error {
				return eachPage(cmd.Context(), tx, list)
			})
			if _, ok := errors.AsType[*kv.CorruptError](err); !ok {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "note: which pages are free cannot be found out; they are listed as what they once held")
			return errors.Join(err, eachRawPage(cmd.Context(), args[0], list))
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// eachPage calls fn with every page that does not continue another. A page that claims to be continued beyond the last
// one is damaged, and the listing goes on with the page behind it.
func eachPage(ctx context.Context, tx *kv.Tx, fn func(kv.PageInfo) error) error {
	damaged := 0
	last := int(tx.Size()/int64(tx.DB().Info().PageSize)) - 1
	for id := 0; id <= last; id++ {
		p, err := tx.Page(id)
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(*p); err != nil {
			return err
		}
		switch p.Type {
		case "free":
			continue
		case "branch", "leaf", "meta", "freelist":
			if p.OverflowCount <= last-id {
				id += p.OverflowCount
				continue
			}
		}
		damaged++
	}
	if damaged > 0 {
		return fmt.Errorf("%s: no version of the format has them", text.Plural(damaged, "damaged page"))
	}
	return nil
}

// eachRawPage calls fn with every page of a file whose free pages nobody knows. Either of a page and one that it claims
// as its continuation may be the free one, so both are listed if both look like pages.
func eachRawPage(ctx context.Context, path string, fn func(kv.PageInfo) error) (err error) {
	file, err := openRaw(path)
	if err != nil {
		return err
	}
	defer closeWith(&err, file)
	continued := uint64(0) // pages before this one continue another, if they do not look like pages
	for id := range file.HWM() {
		if err := ctx.Err(); err != nil {
			return err
		}
		info := kv.PageInfo{ID: int(id), Type: "unknown"}
		switch p, err := file.Page(id); {
		case err == nil:
			info = kv.PageInfo{ID: int(id), Type: p.Type(), Count: p.Count(), OverflowCount: int(p.Overflow())}
			continued = max(continued, id+1+uint64(p.Overflow()))
		case id < continued:
			continue
		}
		if err := fn(info); err != nil {
			return err
		}
	}
	return nil
}

// pageTable prints a table, a row a call.
func pageTable(out io.Writer) func(kv.PageInfo) error {
	const columns = "%-8s %-10s %-6s %-6s\n"
	head := false
	return func(p kv.PageInfo) error {
		if !head {
			head = true
			fmt.Fprintf(out, columns, "ID", "TYPE", "ITEMS", "OVRFLW")
			fmt.Fprintf(out, columns, "========", "==========", "======", "======")
		}
		var items, overflow string
		if p.Type != "free" {
			items = fmt.Sprint(p.Count)
			if p.OverflowCount > 0 {
				overflow = fmt.Sprint(p.OverflowCount)
			}
		}
		_, err := fmt.Fprintf(out, columns, fmt.Sprint(p.ID), p.Type, items, overflow)
		return err
	}
}

// pageJSON leaves the fields of a free page out that mean nothing.
func pageJSON(p kv.PageInfo) any {
	row := struct {
		ID       int    `json:"id"`
		Type     string `json:"type"`
		Count    *int   `json:"count,omitempty"`
		Overflow *int   `json:"overflow,omitempty"`
	}{ID: p.ID, Type: p.Type}
	if p.Type != "free" {
		row.Count, row.Overflow = &p.Count, &p.OverflowCount
	}
	return row
}
