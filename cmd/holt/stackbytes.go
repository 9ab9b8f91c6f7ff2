// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// bytesPrinter prints bytes of a payload as flags say.
type bytesPrinter struct {
	format text.Format
	raw    bool
	json   bool
}

func (p *bytesPrinter) addFlags(cmd *cobra.Command) {
	formatFlag(cmd, &p.format, "format", "", "how to print the bytes")
	cmd.Flags().BoolVar(&p.raw, "raw", false, "print the bytes and nothing else")
	jsonFlag(cmd, &p.json)
	cmd.MarkFlagsMutuallyExclusive("raw", "format")
	cmd.MarkFlagsMutuallyExclusive("raw", "json")
}

// print prints the bytes of a region.
func (p *bytesPrinter) print(out io.Writer, s *stack.Stack, r alloc.Region) error {
	if p.raw {
		if r.End() > s.Len() {
			return fmt.Errorf("%w: %s of %d bytes", stack.ErrRange, regionText(r), s.Len())
		}
		_, err := io.Copy(out, io.NewSectionReader(s, r.Off, r.Len))
		return err
	}
	b, err := s.Get(r.Off, r.End())
	if err != nil {
		return err
	}
	if p.json {
		return printJSON(out, struct {
			regionJSON
			Bytes exact `json:"bytes"`
		}{regionJSON{r.Off, r.Len}, exactly(b, p.format)})
	}
	_, err = fmt.Fprintln(out, p.format.Text(b))
	return err
}

// mustBePlain makes sure that no allocator manages the payload, which growing and shrinking would damage.
func mustBePlain(s *stack.Stack) error {
	err := withAllocator(func(a alloc.Allocator) error {
		return fmt.Errorf("%s belongs to an allocator (%s): use alloc and free, or --force", s.Path(), alloc.Name(a))
	})(s)
	if isNoAllocator(err) {
		return nil
	}
	return err
}

// readInput reads a file, or standard input where its name is "-".
func readInput(stdin io.Reader, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(name)
}
