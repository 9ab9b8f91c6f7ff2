// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/surgery"
)

func newFreelistAbandon() *cobra.Command {
	return editCommand(&cobra.Command{
		Use:   "abandon",
		Short: "Forget the stored list of free pages",
		Long: `Makes both meta pages say that no list of free pages is stored. The next program that writes to the database finds them
by walking the whole file.`,
		Example: "  holt kv surgery freelist abandon my.db --output repaired.db",
	}, func(op operation) error {
		if err := op.edit((*surgery.Editor).AbandonFreelist); err != nil {
			return err
		}
		op.printf("The freelist was abandoned in both meta pages.")
		op.printf("It may cause some delay on next write because holt needs to scan the whole db to reconstruct the free list.")
		return nil
	})
}

func newFreelistRebuild(o *opener) *cobra.Command {
	return editCommand(&cobra.Command{
		Use:   "rebuild",
		Short: "Make and store a list of free pages where there is none",
		Long: `Walks the whole file to find the pages that nothing refers to, and stores the list of them. It refuses a database that
has such a list: abandon it first.`,
		Example: "  holt kv surgery freelist rebuild my.db --output repaired.db",
	}, func(op operation) error {
		if err := refuseFreelist(op.src); err != nil {
			return err
		}
		if err := op.copy(); err != nil {
			return err
		}
		if err := storeFreelist(op.cmd.Context(), o, op.dst); err != nil {
			return errors.Join(err, os.Remove(op.dst))
		}
		op.printf("The freelist was successfully rebuilt.")
		return nil
	})
}

// errHasFreelist is the refusal of rebuild.
var errHasFreelist = errors.New(
	"the file already has freelist, please consider to abandon the freelist to forcibly rebuild it")

func refuseFreelist(path string) (err error) {
	file, err := openRaw(path)
	if err != nil {
		return err
	}
	defer closeWith(&err, file)
	m, ok := file.Active()
	switch {
	case !ok:
		return surgery.ErrNoMeta
	case m.HasFreelist():
		return errHasFreelist
	}
	return nil
}

// storeFreelist opens the database for writing and closes it, which stores the free pages that were found.
func storeFreelist(ctx context.Context, o *opener, path string) error {
	db, err := o.open(ctx, path, kv.Options{})
	if err != nil {
		return err
	}
	return db.Close()
}
