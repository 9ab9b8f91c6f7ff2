// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/progress"
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
can be, and the original is left as it is; shrink makes a database smaller where it is.`,
		Example: "  holt kv compact -o small.db my.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
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
	cmd.Flags().BoolVar(&c.noSync, "no-sync", false, "do not sync after every transaction, only at the end")
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
	if !exists(c.dst) {
		defer func() {
			if err != nil {
				_ = os.Remove(c.dst) // half a copy is of no use
			}
		}()
	}
	bar := progress.Poll(cmd.ErrOrStderr(), "compacting "+c.src, info.Size(), func() int64 { return fileSize(c.dst) })
	defer bar.Done()
	if err := c.copy(cmd.Context(), o, info.Mode().Perm()); err != nil {
		return r, err
	}
	r = compacted{From: info.Size(), To: fileSize(c.dst)}
	if r.To == 0 {
		return r, fmt.Errorf("%s: nothing was written", c.dst)
	}
	return r, nil
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

func (c *compaction) copy(ctx context.Context, o *opener, mode fs.FileMode) (err error) {
	src, err := o.open(ctx, c.src, kv.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer closeWith(&err, src)
	// Room for further growth is not what this file is for.
	dst, err := o.openOrCreate(ctx, c.dst, mode, kv.Options{NoSync: c.noSync, NoGrowSync: true})
	if err != nil {
		return err
	}
	defer closeWith(&err, dst)
	if err := kv.CompactContext(ctx, dst, src, c.txMax); err != nil {
		return err
	}
	return dst.Sync()
}

// fileSize is 0 when there is no such file.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
