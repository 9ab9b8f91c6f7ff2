// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
)

func newContentRecoverArchive() *cobra.Command {
	var asJSON bool
	opts := archive.RecoverOptions{}
	cmd := &cobra.Command{
		Use:   "recover-archive DIR|FILE...",
		Short: "Bring back what is there of damaged archives",
		Long: `Takes from damaged archives, of a directory all that are, the segments whose bytes have the checksum in the
name of their entry, and writes them to an archive of the next letter, with a new index, graph and binary references.
Says what could not be brought back, and where it was. The originals are kept under names that end in .bak.

An archive is damaged if it has no index, which is also so if a program that wrote to it was killed, or if "holt content
check" would find anything wrong with its bytes. Archives of one number are letters of one archive, and recovered
together.

Something that is lost makes the exit status 1, though all else was recovered, and also with --dry-run. Binaries that it
referred to may be kept outside: "holt content blobs gc" is refused then. What a program had begun to write to the newest
archive when it was killed is called unfinished, and is not lost: no revision refers to it. In an older archive it is, as
that was closed once; if its end is missing nobody knows how much more was there.

No program may have the store open, but for a --dry-run.`,
		Example: `  holt content recover-archive segmentstore --dry-run
  holt content recover-archive segmentstore/data00003a.tar`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dirs, err := archivesByDir(args)
			lost := 0
			for _, d := range dirs {
				opts.Archives = d.names
				if err == nil {
					var n int
					n, err = runRecoverArchive(cmd, d.dir, opts, asJSON)
					lost += n
				}
			}
			if err == nil && lost > 0 {
				err = fmt.Errorf("%s lost", text.Plural(lost, "part"))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&opts.DryRun, "dry-run", false, "say what would be done, and do nothing")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// archiveFiles are archives of one directory; all if there are no names.
type archiveFiles struct {
	dir   string
	names []string
}

func archivesByDir(args []string) ([]archiveFiles, error) {
	var list []archiveFiles
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			list = append(list, archiveFiles{dir: arg})
			continue
		}
		dir, name := filepath.Dir(arg), filepath.Base(arg)
		if _, ok := archive.ParseName(name); !ok {
			return nil, usagef("%s is no archive: these are called data00000a.tar and so on", arg)
		}
		i := slices.IndexFunc(list, func(s archiveFiles) bool { return s.dir == dir && len(s.names) > 0 })
		if i < 0 {
			i = len(list)
			list = append(list, archiveFiles{dir: dir})
		}
		list[i].names = append(list[i].names, name)
	}
	return list, nil
}

// runRecoverArchive returns how many parts are lost.
func runRecoverArchive(cmd *cobra.Command, dir string, opts archive.RecoverOptions, asJSON bool) (lost int, err error) {
	bar := progress.New(cmd.ErrOrStderr(), "recovering "+dir+", bytes", 0)
	defer bar.Done()
	opts.Progress = bar.Add
	list, err := archive.Recover(cmd.Context(), dir, opts)
	bar.Done()
	for _, r := range list {
		lost += len(r.Lost)
		if asJSON {
			err = errors.Join(err, printJSON(cmd.OutOrStdout(), newRecoveryJSON(r, opts.DryRun)))
			continue
		}
		printRecovery(cmd.OutOrStdout(), r, opts.DryRun)
	}
	return lost, err
}

func printRecovery(out io.Writer, r archive.Recovery, dryRun bool) {
	name := strings.Join(r.Files, ", ")
	if r.Damage == nil {
		fmt.Fprintf(out, "%s: whole, %s\n", name, text.Plural(r.Segments, "segment"))
		return
	}
	fmt.Fprintf(out, "%s: %v\n", name, r.Damage)
	printParts(out, "lost", r.Lost)
	printParts(out, "unfinished", r.Unfinished)
	printParts(out, "doubtful", r.Doubtful)
	verb := "recovered"
	switch {
	case dryRun:
		verb = "to be recovered"
	case r.Recovered == "" && r.Segments > 0: // an error says why
		verb = "found, and not recovered"
	}
	fmt.Fprintf(out, "  %s: %s, %s", verb, text.Plural(r.Segments, "segment"), text.Plural(r.Bytes, "byte"))
	if r.Recovered != "" {
		fmt.Fprintf(out, ", in %s", r.Recovered)
	}
	if len(r.Backups) > 0 {
		fmt.Fprintf(out, "; kept: %s", strings.Join(r.Backups, ", "))
	}
	fmt.Fprintln(out)
}

func printParts(out io.Writer, what string, parts []archive.Part) {
	for _, p := range parts {
		fmt.Fprintf(out, "  %s: %s, offset %d, %s%s: %s\n",
			what, p.File, p.Off, text.Plural(p.Len, "byte"), ofSegment(p.Segment), p.Reason)
	}
}

func ofSegment(id segment.ID) string {
	if id == (segment.ID{}) {
		return ""
	}
	return ", segment " + id.String()
}

// recoveryJSON is an archive for programs.
type recoveryJSON struct {
	Files      []string   `json:"files"`
	Damage     string     `json:"damage,omitempty"` // none if it is whole
	Recovered  string     `json:"recovered,omitempty"`
	Segments   int        `json:"segments"`
	Bytes      int64      `json:"bytes"`
	Lost       []partJSON `json:"lost"`
	Unfinished []partJSON `json:"unfinished"`
	Doubtful   []partJSON `json:"doubtful"`
	Backups    []string   `json:"backups"`
	DryRun     bool       `json:"dryRun"`
}

type partJSON struct {
	File    string `json:"file"`
	Offset  int64  `json:"offset"`
	Bytes   int64  `json:"bytes"`
	Segment string `json:"segment,omitempty"`
	Reason  string `json:"reason"`
}

func newRecoveryJSON(r archive.Recovery, dryRun bool) recoveryJSON {
	j := recoveryJSON{
		Files: r.Files, Recovered: r.Recovered, Segments: r.Segments, Bytes: r.Bytes,
		Lost: newPartsJSON(r.Lost), Unfinished: newPartsJSON(r.Unfinished), Doubtful: newPartsJSON(r.Doubtful), Backups: []string{}, DryRun: dryRun,
	}
	if r.Damage != nil {
		j.Damage = r.Damage.Error()
	}
	j.Backups = append(j.Backups, r.Backups...)
	return j
}

func newPartsJSON(parts []archive.Part) []partJSON {
	list := []partJSON{}
	for _, p := range parts {
		id := ""
		if p.Segment != (segment.ID{}) {
			id = p.Segment.String()
		}
		list = append(list, partJSON{p.File, p.Off, p.Len, id, p.Reason})
	}
	return list
}
