// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv/surgery"
)

func newKVPageItem() *cobra.Command {
	var (
		f                  text.Format
		keyOnly, valueOnly bool
		asJSON             bool
	)
	cmd := &cobra.Command{
		Use:   "page-item FILE PAGE-ID ITEM-ID",
		Short: "Print key and value of one element of a leaf page",
		Long:  "Prints key and value of one element of a leaf page, counted from 0, as it lies in the file.",
		Example: `  holt kv page-item my.db 5 0
  holt kv page-item my.db 5 0 --value-only --format hex`,
		Args: cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ids, err := parsePageIDs(args[1:2])
			if err != nil {
				return err
			}
			index, err := strconv.ParseUint(args[2], 0, 16)
			if err != nil {
				return usagef("%q is not the index of an item", args[2])
			}
			it, err := leafItem(args[0], ids[0], int(index))
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON {
				return printJSON(out, struct {
					Key   exact `json:"key"`
					Value exact `json:"value"`
				}{exactly(it.Key, f), exactly(it.Value, f)})
			}
			if !valueOnly {
				fmt.Fprintln(out, f.Text(it.Key))
			}
			if !keyOnly {
				fmt.Fprintln(out, f.Text(it.Value))
			}
			return nil
		},
	}
	formatFlag(cmd, &f, "format", "", "how to print key and value")
	cmd.Flags().BoolVar(&keyOnly, "key-only", false, "print only the key")
	cmd.Flags().BoolVar(&valueOnly, "value-only", false, "print only the value")
	jsonFlag(cmd, &asJSON)
	cmd.MarkFlagsMutuallyExclusive("key-only", "value-only", "json")
	return cmd
}

// leafItem reads one element of a leaf page.
func leafItem(path string, id uint64, index int) (it surgery.Item, err error) {
	file, err := openRaw(path)
	if err != nil {
		return it, err
	}
	defer closeWith(&err, file)
	p, err := file.Page(id)
	switch {
	case err != nil:
		return it, err
	case !p.IsLeaf():
		return it, fmt.Errorf("expected page type of 'leaf', but got '%s'", p.Type())
	case index >= p.Count():
		return it, fmt.Errorf("expected item index less than %d, but got %d", p.Count(), index)
	}
	return p.Item(index)
}
