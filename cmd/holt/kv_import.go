// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/bucket"
	"github.com/holtdb/holt/cmd/holt/internal/folder"
	"github.com/holtdb/holt/cmd/holt/internal/progress"
)

func newKVImport(o *opener) *cobra.Command {
	var skip, asJSON bool
	cmd := &cobra.Command{
		Use:   "import FILE DIR [BUCKET...]",
		Short: "Copy a folder into a bucket",
		Long: `Copies a folder with everything below it into a bucket: a bucket for each folder, a key for each file. The topmost bucket
is BUCKET, or called like the folder. The database and the bucket are made when they are missing; a key that is there
already is replaced by the file of that name. "holt kv export" brings everything back.

Names and contents are all that is kept. Links, devices and files beyond 2 GiB have no place in a database: nothing is
imported when there are any, unless --skip leaves them out. Large folders take several transactions.`,
		Example: `  holt kv import my.db photos
  holt kv import my.db . backups monday --skip`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := o.parsePath(args[2:])
			if err != nil {
				return err
			}
			if len(path) == 0 {
				if path, err = namedLike(args[1]); err != nil {
					return err
				}
			}
			r, err := importFolder(cmd, o, args[0], args[1], path, skip)
			if err != nil {
				return err
			}
			if r.Self {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s lies in the folder and was left out\n", args[0])
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "imported %s\n", r)
			return nil
		},
	}
	skipFlag(cmd, &skip)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// skipFlag adds --skip to import and export.
func skipFlag(cmd *cobra.Command, skip *bool) {
	cmd.Flags().BoolVar(skip, "skip", false, "leave out what cannot be represented, and say so on standard error")
}

// skipper gives what to do with what cannot be represented: say so, or, nil, refuse it.
func skipper(cmd *cobra.Command, skip bool) func(*folder.Problem) {
	if !skip {
		return nil
	}
	return func(p *folder.Problem) { fmt.Fprintln(cmd.ErrOrStderr(), "left out:", p) }
}

// namedLike is the path of a bucket called like a folder.
func namedLike(dir string) (bucket.Path, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(abs)
	if name == string(filepath.Separator) {
		return nil, usagef("%s has no name, say which bucket to import it into", dir)
	}
	return bucket.Path{[]byte(name)}, nil
}

func importFolder(cmd *cobra.Command, o *opener, file, dir string, path bucket.Path, skip bool) (r folder.Report, err error) {
	ctx := cmd.Context()
	total, err := surveyFolder(ctx, cmd, dir, file, skip)
	if err != nil {
		return r, err
	}
	db, err := o.openToWrite(ctx, file, true)
	if err != nil {
		return r, err
	}
	defer closeWith(&err, db)
	bar := progress.New(cmd.ErrOrStderr(), "importing "+dir, total)
	defer bar.Done()
	return folder.Import(ctx, db, path, dir, folder.Options{Skip: skipper(cmd, skip), Progress: bar.Add})
}

// surveyFolder finds problems before anything is written, and the number of bytes to copy.
func surveyFolder(ctx context.Context, cmd *cobra.Command, dir, db string, skip bool) (int64, error) {
	bar := progress.New(cmd.ErrOrStderr(), "looking through "+dir, 0)
	defer bar.Done()
	var o folder.Options
	if skip {
		o.Skip = func(*folder.Problem) {} // the import itself will tell
	}
	r, err := folder.Survey(ctx, dir, db, o)
	return r.Bytes, err
}
