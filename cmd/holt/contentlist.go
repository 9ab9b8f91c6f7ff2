// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
)

// listing prints objects, one a line.
type listing struct {
	out    io.Writer
	asJSON bool
}

// listable is an object, which is one of JSON for programs.
type listable interface {
	line() string // for people
}

func (l listing) print(o listable) error {
	if l.asJSON {
		return printJSON(l.out, o)
	}
	_, err := fmt.Fprintln(l.out, o.line())
	return err
}

// heading is for people alone.
func (l listing) heading(name string) {
	if !l.asJSON {
		fmt.Fprintf(l.out, "# %s\n", name)
	}
}

// newContentListing makes a command of one that lists what a store consists of, whether its journal leads anywhere or
// not.
func newContentListing(
	cmd *cobra.Command, list func(l listing, s *content.Store, args []string) error,
) *cobra.Command {
	o := contentOpener{anyHead: true}
	var l listing
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l.out = cmd.OutOrStdout()
		return o.view(cmd, args[0], "reading", func(s *content.Store, _ segment.RecordID) error {
			return list(l, s, args)
		})
	}
	jsonFlag(cmd, &l.asJSON)
	return cmd
}
