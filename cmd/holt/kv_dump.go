// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newKVDump() *cobra.Command {
	return &cobra.Command{
		Use:   "dump FILE ID...",
		Short: "Print the bytes of pages in hexadecimal",
		Long: `Prints the bytes of pages in hexadecimal, 16 a line behind their address in the file. Lines equal to the one before are
left out, an asterisk standing for them. Pages that continue one are dumped by their own ids.`,
		Example: "  holt kv dump my.db 0 1",
		Args:    cobra.MinimumNArgs(2),
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
			for i, id := range ids {
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout(), pageSeparator)
				}
				page, err := file.Raw(id)
				if err != nil {
					return err
				}
				if err := hexDump(cmd.OutOrStdout(), page, int64(id)*int64(file.PageSize())); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// hexDump prints a page whose first byte is at address. The last line is printed in any case, to show the end.
func hexDump(out io.Writer, page []byte, address int64) error {
	const width = 16
	var last []byte
	collapsed := false
	for off := 0; off < len(page); off += width {
		line := page[off:min(off+width, len(page))]
		same := bytes.Equal(line, last) && off+width < len(page)
		switch {
		case same && !collapsed:
			fmt.Fprintf(out, "%07x *\n", address+int64(off))
		case !same:
			fmt.Fprintf(out, "%07x %s\n", address+int64(off), hexGroups(line))
		}
		last, collapsed = line, same
	}
	_, err := fmt.Fprintln(out)
	return err
}

// hexGroups prints bytes in groups of two.
func hexGroups(line []byte) string {
	var s []byte
	for i, b := range line {
		if i > 0 && i%2 == 0 {
			s = append(s, ' ')
		}
		s = fmt.Appendf(s, "%02x", b)
	}
	return string(s)
}
