// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/blob"
)

// blobsCollection is a collection of binaries, as the flags say.
type blobsCollection struct {
	stores     []string
	ignoreLost bool
	opts       blob.CollectOptions
	json       bool
}

func (c *blobsCollection) run(cmd *cobra.Command, dir string) error {
	switch {
	case len(c.stores) == 0:
		return usagef("--store is missing: what is not in use can be said of all content stores together only")
	case c.opts.Grace < 0:
		return usagef("--grace is negative")
	}
	s, err := openBlobs(dir)
	if err != nil {
		return err
	}
	if err := c.mustBeAll(dir); err != nil {
		return err
	}
	if err := c.mustHaveAll(); err != nil {
		return err
	}
	state := "deleted"
	if c.opts.DryRun {
		state = "unused"
	}
	c.opts.Deleted = func(e blob.Entry) error { return c.print(cmd, newBlobJSON(e, state)) }
	c.opts.Missing = func(id string) error { return c.print(cmd, blobJSON{ID: id, State: "missing"}) }
	report, err := blob.Collect(cmd.Context(), s, c.used(), c.opts)
	if err != nil {
		return err
	}
	if c.json {
		err = printJSON(cmd.OutOrStdout(), newCollectJSON(report, c.opts.DryRun))
	} else {
		printBlobs(cmd, report, c.opts.DryRun)
	}
	if err == nil && report.Missing > 0 {
		err = fmt.Errorf("%s missing in %s", binaries(report.Missing), dir)
	}
	return err
}

func (c *blobsCollection) print(cmd *cobra.Command, b blobJSON) error {
	if c.json {
		return printJSON(cmd.OutOrStdout(), b)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s  %s\n", b.State, b.ID)
	return err
}

// used looks for ids when it is asked, and not before: a collection relies on it.
func (c *blobsCollection) used() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, dir := range c.stores {
			s, err := content.Open(dir, nil) // a store without a head may be none, and so refer to nothing by mistake
			if err != nil {
				yield("", err)
				return
			}
			more := true
			for id, err := range archive.BlobIDs(s.Archives()) {
				if more = yield(id, err); !more {
					break
				}
			}
			if err := s.Close(); err != nil && more {
				more = yield("", err)
			}
			if !more {
				return
			}
		}
	}
}

// mustBeAll compares the number of content stores with that of the repositories which Oak has noted in the data store.
func (c *blobsCollection) mustBeAll(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var notes []string
	for _, f := range files {
		if strings.HasPrefix(f.Name(), "repository-") {
			notes = append(notes, f.Name())
		}
	}
	if len(notes) > len(c.stores) {
		return fmt.Errorf("%s is shared by %d repositories: name the content store of each with --store, and remove the "+
			"file of one that is no more: %s", dir, len(notes), strings.Join(notes, " "))
	}
	return nil
}

// mustHaveAll refuses content stores of which something is lost: it may have referred to any binary.
func (c *blobsCollection) mustHaveAll() error {
	if c.ignoreLost {
		return nil
	}
	for _, dir := range c.stores {
		lost, err := lostOf(dir)
		if err != nil {
			return err
		}
		if len(lost) > 0 {
			p := lost[0]
			return fmt.Errorf("%s has lost %s, the first of which was in %s, offset %d%s: nobody knows which binaries they "+
				"referred to (--ignore-lost deletes these too; so does removing the .bak files that recovery has left)",
				dir, text.Plural(len(lost), "part"), p.File, p.Off, ofSegment(p.Segment))
		}
	}
	return nil
}

func lostOf(dir string) (lost []archive.Part, err error) {
	d, err := archive.Open(dir, &archive.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.Lost()
}

// collectJSON is the last line of a collection for programs.
type collectJSON struct {
	Used         int64 `json:"used"`
	Missing      int64 `json:"missing"`
	Found        int64 `json:"found"`
	FoundBytes   int64 `json:"foundBytes"`
	Young        int64 `json:"young"`
	YoungBytes   int64 `json:"youngBytes"`
	Deleted      int64 `json:"deleted"`
	DeletedBytes int64 `json:"deletedBytes"`
	Cleaned      int64 `json:"unfinished"`
	CleanedBytes int64 `json:"unfinishedBytes"`
	DryRun       bool  `json:"dryRun"`
}

func newCollectJSON(r blob.CollectReport, dryRun bool) collectJSON {
	return collectJSON{
		r.Used, r.Missing, r.Found.Count, r.Found.Bytes, r.Young.Count, r.Young.Bytes,
		r.Deleted.Count, r.Deleted.Bytes, r.Cleaned.Count, r.Cleaned.Bytes, dryRun,
	}
}
