// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

func newKVCompact(o *opener) *cobra.Command {
	var (
		c      compaction
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "compact -o NEW-FILE FILE",
		Short: "Copy a database into a new file without its free space",
		Long: `Copies all buckets and keys in order into another database, full page after full page. The copy is as small as it
can be, and the original is left as it is; shrink makes a database smaller where it is.

A new file gets its name when it is complete and on the disk: an interrupted run leaves none. If the other database
exists, the buckets are added to it, transaction by transaction.`,
		Example: "  holt kv compact -o small.db my.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.txMax < 0 {
				return usagef("--tx-max-size is %d: there are no fewer than 0 bytes", c.txMax)
			}
			c.src = args[0]
			r, err := c.run(cmd, o)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d -> %d bytes (gain=%.2fx)\n", r.From, r.To, float64(r.From)/float64(r.To))
			return nil
		},
	}
	cmd.Flags().StringVarP(&c.dst, "output", "o", "", "the database to copy to, usually a new file")
	cmd.Flags().Int64Var(&c.txMax, "tx-max-size", 65536, "bytes of keys and values per transaction, 0 for no limit")
	cmd.Flags().BoolVar(&c.noSync, "no-sync", false, "do not sync after every transaction, only at the end; as with a new file")
	jsonFlag(cmd, &asJSON)
	mustMark(cmd, "output")
	return cmd
}

// mustMark makes a flag required.
func mustMark(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		if err := cmd.MarkFlagRequired(flag); err != nil {
			panic(err) // no such flag
		}
	}
}

// compaction is one run of holt kv compact.
type compaction struct {
	src, dst string
	txMax    int64
	noSync   bool
}

// compacted are the sizes of the two files.
type compacted struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

func (c *compaction) run(cmd *cobra.Command, o *opener) (r compacted, err error) {
	info, err := c.checkFiles()
	if err != nil {
		return r, err
	}
	bar := progress.New(cmd.ErrOrStderr(), "compacting "+c.src, info.Size())
	defer bar.Done()
	if exists(c.dst) {
		err = c.copy(cmd.Context(), o, c.dst, c.noSync, bar)
	} else {
		err = c.copyNew(cmd.Context(), o, info.Mode().Perm(), bar)
	}
	if err != nil {
		return r, err
	}
	return compacted{From: info.Size(), To: fileSize(c.dst)}, nil
}

// copyNew copies into a file that gets its name when it is complete. Nobody misses it if it does not become so, and it
// need not be in order on the disk before.
func (c *compaction) copyNew(ctx context.Context, o *opener, mode fs.FileMode, bar *progress.Bar) error {
	dir := filepath.Dir(c.dst)
	f, err := os.CreateTemp(dir, filepath.Base(c.dst)+".*.tmp")
	if err != nil {
		return fmt.Errorf("no file can be made in %s: %w", dir, errors.Unwrap(err)) // without the temporary name
	}
	part := f.Name()
	if err = f.Close(); err == nil {
		err = c.copy(ctx, o, part, true, bar)
	}
	if err == nil {
		err = os.Chmod(part, mode) // which may be one that nobody can write to
	}
	if err == nil {
		err = rename(part, c.dst)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return file.OS.SyncDir(dir)
}

// rename gives a file another name, unless that has come into use.
func rename(from, to string) error {
	if exists(to) {
		return fmt.Errorf("%s has come into being meanwhile", to)
	}
	return os.Rename(from, to)
}

func (c *compaction) checkFiles() (fs.FileInfo, error) {
	if err := mustExist(c.src); err != nil {
		return nil, err
	}
	info, err := os.Stat(c.src)
	if err != nil {
		return nil, err
	}
	if out, err := os.Stat(c.dst); err == nil && os.SameFile(info, out) {
		return nil, usagef("%s and %s are the same file", c.src, c.dst)
	}
	return info, nil
}

// copy copies into a file that exists, and makes it durable.
func (c *compaction) copy(ctx context.Context, o *opener, to string, noSync bool, bar *progress.Bar) error {
	if err := c.copyInto(ctx, o, to, noSync, bar); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close()) // after the last that closing the database writes
}

func (c *compaction) copyInto(ctx context.Context, o *opener, to string, noSync bool, bar *progress.Bar) (err error) {
	src, err := o.open(ctx, c.src, kv.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer closeWith(&err, src)
	// Room for further growth is not what this file is for.
	dst, err := o.open(ctx, to, kv.Options{NoSync: noSync, NoGrowSync: true})
	if err != nil {
		return err
	}
	defer closeWith(&err, dst)
	err = kv.CompactContext(ctx, dst, src, c.txMax, kv.CompactProgress(bar.Add))
	if errors.Is(err, kv.ErrBucketExists) {
		return fmt.Errorf("%s has a bucket, too, that %s has: %w", to, c.src, err)
	}
	return err
}

// fileSize is 0 when there is no such file.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
