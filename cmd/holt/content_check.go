// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
)

func newContentCheck() *cobra.Command {
	o := contentOpener{anyHead: true}
	var asJSON, quick bool
	var revisions []string
	opts := content.CheckOptions{}
	cmd := &cobra.Command{
		Use:   "check DIR",
		Short: "Check that a content store is sound",
		Long: `Checks every byte of the archives, unless --quick is given, and reads every node and every value of the
head and its checkpoints, or of the revisions that are asked for. Prints what is wrong, one finding a line, and for
each path the newest revision in which everything there can be read, which may be older than those.

With --all, revisions of which the garbage collection has removed something are not whole either.

What is found, and the order in which it is printed, does not depend on the number of workers.`,
		Example: `  holt content check segmentstore
  holt content check segmentstore --binaries --datastore datastore
  holt content check segmentstore --all --path /root/content`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opts.All && len(revisions) > 0 {
				return usagef("--all and --revision exclude each other")
			}
			if opts.Workers < 0 {
				return usagef("%d workers", opts.Workers)
			}
			if opts.Workers == 0 {
				opts.Workers = runtime.GOMAXPROCS(0)
			}
			for _, text := range revisions {
				id, err := parseRevision(text)
				if err != nil {
					return err
				}
				opts.Revisions = append(opts.Revisions, id)
			}
			opts.Archives = !quick
			return runContentCheck(cmd, &o, args[0], opts, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&revisions, "revision", nil, "revision to check instead of the head; may be repeated")
	flags.BoolVar(&opts.All, "all", false, "check all revisions of the journal")
	flags.StringArrayVar(&opts.Paths, "path", nil,
		"node to check, with all below it, instead of content and checkpoints; may be repeated")
	flags.BoolVar(&opts.Binaries, "binaries", false, "read all binaries too")
	flags.BoolVar(&quick, "quick", false, "do not check the archives, only what the revisions lead to")
	flags.IntVar(&opts.Workers, "workers", 0, "number of goroutines; 0 is one for each core")
	o.blobFlag(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func runContentCheck(cmd *cobra.Command, o *contentOpener, dir string, opts content.CheckOptions, asJSON bool) error {
	out, n := cmd.OutOrStdout(), 0
	print := printFinding
	if asJSON {
		print = printFindingJSON
	}
	opts.Found = func(finding error) error {
		n++
		return print(out, finding)
	}
	var report content.CheckReport
	err := o.view(cmd, dir, "checking", func(s *content.Store, _ segment.RecordID) (err error) {
		report, err = s.Check(cmd.Context(), opts)
		return err
	})
	if err != nil {
		return err
	}
	if report.Outside > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s outside not looked at: --datastore says where they are\n",
			binaries(report.Outside))
	}
	if asJSON {
		err = printJSON(out, newCheckJSON(report))
	} else {
		printCheck(out, report, n)
	}
	if err == nil && n > 0 {
		err = fmt.Errorf("%s in %s", text.Plural(n, "error"), dir)
	}
	return err
}

func printCheck(out io.Writer, r content.CheckReport, findings int) {
	for _, p := range r.Paths {
		if p.Good.ID == (segment.RecordID{}) {
			fmt.Fprintf(out, "%s: no revision is good\n", p.Path)
			continue
		}
		fmt.Fprintf(out, "%s: good in %s  %s\n", p.Path, p.Good.ID, timeText(p.Good.Time))
	}
	fmt.Fprintf(out, "%d of %s whole: %s, %s, %s\n", r.Whole, text.Plural(r.Revisions, "revision"),
		text.Plural(r.Nodes, "node"), text.Plural(r.Values, "value"), binaries(r.Binaries))
	concludeCheck(out, findings)
}

func binaries(n int64) string {
	if n == 1 {
		return "1 binary"
	}
	return fmt.Sprintf("%d binaries", n)
}

// checkJSON is the last line of a check for programs.
type checkJSON struct {
	Revisions int        `json:"revisions"`
	Whole     int        `json:"whole"`
	Nodes     int64      `json:"nodes"`
	Values    int64      `json:"values"`
	Binaries  int64      `json:"binaries"`
	Outside   int64      `json:"outside"` // uses of binaries that were not looked at
	Paths     []goodJSON `json:"paths"`
}

// goodJSON is a path and the newest revision in which it is whole.
type goodJSON struct {
	Path     string `json:"path"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
}

func newCheckJSON(r content.CheckReport) checkJSON {
	j := checkJSON{r.Revisions, r.Whole, r.Nodes, r.Values, r.Binaries, r.Outside, []goodJSON{}}
	for _, p := range r.Paths {
		g := goodJSON{Path: p.Path}
		if p.Good.ID != (segment.RecordID{}) {
			g.Revision, g.Time = p.Good.ID.String(), timeText(p.Good.Time)
		}
		j.Paths = append(j.Paths, g)
	}
	return j
}
