// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/freemap"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/stack/alloc"
)

func newStackFreeMap() *cobra.Command {
	var (
		svg    string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "free-map FILE",
		Short: "Draw which parts of a payload are used and free",
		Long: `Draws the payload as rows of characters, and counts free blocks by size. With --svg, draws it into a file
for browsers. With --json, prints the parts of the payload one a line.`,
		Example: `  holt stack free-map my.stack
  holt stack free-map my.stack --svg map.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if svg != "" && sameFile(svg, args[0]) {
				return usagef("%s is the stack itself", svg)
			}
			return viewStack(args[0], withAllocator(func(a alloc.Allocator) error {
				spans, err := a.Layout()
				if err != nil {
					return err
				}
				if svg != "" {
					if err := writeSVG(svg, args[0], spans); err != nil {
						return err
					}
				}
				if asJSON {
					return printSpans(cmd.OutOrStdout(), spans)
				}
				return printFreeMap(cmd.OutOrStdout(), a, spans)
			}))
		},
	}
	cmd.Flags().StringVar(&svg, "svg", "", "write a drawing to this file as well")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func writeSVG(to, title string, spans []alloc.Span) error {
	var b bytes.Buffer
	if err := freemap.New(spans).WriteSVG(&b, title); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o644)
}

func printSpans(out io.Writer, spans []alloc.Span) error {
	for _, sp := range spans {
		err := printJSON(out, struct {
			regionJSON
			Kind string `json:"kind"`
		}{regionJSON{sp.Off, sp.Len}, sp.Kind.String()})
		if err != nil {
			return err
		}
	}
	return nil
}

func printFreeMap(out io.Writer, a alloc.Allocator, spans []alloc.Span) error {
	if err := freemap.New(spans).WriteText(out); err != nil {
		return err
	}
	stats, err := a.Stats()
	if err != nil {
		return err
	}
	used, blocks := text.Plural(stats.Used, "byte"), text.Plural(stats.FreeBlocks, "block")
	fmt.Fprintf(out, "%s used, %d free in %s\n", used, stats.Free, blocks)
	for i, n := range stats.Histogram {
		if n > 0 {
			fmt.Fprintf(out, "  from %d bytes: %s\n", int64(1)<<i, text.Plural(n, "block"))
		}
	}
	return nil
}
