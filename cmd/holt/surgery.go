// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/kv/surgery"
)

// newSurgery makes the commands that edit raw pages.
func newSurgery(o *opener) *cobra.Command {
	cmd := group("surgery", "Repair a damaged database page by page",
		`  holt kv surgery meta validate my.db
  holt kv surgery revert-meta-page my.db --output repaired.db`,
		newRevertMetaPage(), newCopyPage(), newClearPage(), newClearPageElements(),
		group("freelist", "Repair the list of free pages",
			"  holt kv surgery freelist abandon my.db --output repaired.db",
			newFreelistAbandon(), newFreelistRebuild(o)),
		group("meta", "Validate and repair meta pages",
			"  holt kv surgery meta validate my.db",
			newMetaValidate(), newMetaUpdate()))
	cmd.Long = `Repairs a damaged database page by page. Every command that edits copies the database to a new file first, named with
--output, and edits the copy; an existing file is never overwritten. Run "holt kv check" on the result.

  the free list is damaged                freelist abandon
  the last transaction is to be undone    revert-meta-page
  a meta page has wrong fields            meta update
  a leaf or branch page is damaged        clear-page, clear-page-elements: what was in it is lost

Buckets that are whole can be saved one at a time: "holt kv export" with the name of one.`
	return cmd
}

// abandonAdvice is for edits after which a stored free list may be wrong.
const abandonAdvice = "Please consider executing `holt kv surgery freelist abandon ...`"

// operation is one surgery command that edits a copy of a database.
type operation struct {
	src, dst string
	cmd      *cobra.Command
}

// editCommand completes a command that edits a copy: its only argument is the source, and --output names the copy.
func editCommand(cmd *cobra.Command, run func(op operation) error) *cobra.Command {
	op := operation{cmd: cmd}
	cmd.Args = cobra.ExactArgs(1)
	cmd.Use += " FILE --output NEW-FILE"
	cmd.Flags().StringVar(&op.dst, "output", "", "the new file to copy the database to")
	mustMark(cmd, "output")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		op.src = args[0]
		return run(op)
	}
	return cmd
}

// copy copies the source.
func (op operation) copy() error {
	return op.during(func() error { return surgery.Copy(op.src, op.dst) })
}

// edit copies the source and edits the copy.
func (op operation) edit(fn func(*surgery.Editor) error) error {
	return op.during(func() error { return surgery.Edit(op.src, op.dst, fn) })
}

func (op operation) during(fn func() error) error {
	if err := mustExist(op.src); err != nil {
		return err
	}
	bar := progress.Poll(op.cmd.ErrOrStderr(), "copying "+op.src, fileSize(op.src),
		func() int64 { return fileSize(op.dst) })
	defer bar.Done()
	return fn()
}

func (op operation) printf(format string, args ...any) {
	fmt.Fprintf(op.cmd.OutOrStdout(), format+"\n", args...)
}

// warnFreelist prints a warning where a free list is stored in the copy, which an edit may have made wrong.
func (op operation) warnFreelist(e *surgery.Editor, warning string) {
	if m, ok := e.Active(); ok && m.HasFreelist() {
		op.printf("WARNING: %s", warning)
		op.printf("%s", abandonAdvice)
	}
}

// pageIDFlag adds the flag that names the page to operate on.
func pageIDFlag(cmd *cobra.Command, id *uint64) {
	cmd.Flags().Uint64Var(id, "pageId", 0, "the page, 2 or above")
	mustMark(cmd, "pageId")
}

// treePageID refuses the pages that hold no elements whatever the file.
func treePageID(id uint64) error {
	if id < 2 {
		return usagef("the pageId must be at least 2, but got %d", id)
	}
	return nil
}

func newRevertMetaPage() *cobra.Command {
	return editCommand(&cobra.Command{
		Use:   "revert-meta-page",
		Short: "Undo the last transaction",
		Long: `Copies the meta page of the last transaction but one over that of the last, which undoes the latter: the pages it had
replaced are still there.`,
		Example: "  holt kv surgery revert-meta-page my.db --output repaired.db",
	}, func(op operation) error {
		if err := op.edit((*surgery.Editor).RevertMeta); err != nil {
			return err
		}
		op.printf("The meta page is reverted.")
		return nil
	})
}

func newCopyPage() *cobra.Command {
	var from, to uint64
	cmd := &cobra.Command{
		Use:     "copy-page",
		Short:   "Copy a page over another",
		Long:    "Copies a page and the pages that continue it to another place, and puts its new id into its header.",
		Example: "  holt kv surgery copy-page my.db --output repaired.db --from-page 9 --to-page 12",
	}
	cmd.Flags().Uint64Var(&from, "from-page", 0, "the page to copy")
	cmd.Flags().Uint64Var(&to, "to-page", 0, "the page to copy over")
	mustMark(cmd, "from-page", "to-page")
	return editCommand(cmd, func(op operation) error {
		if from == to {
			return usagef("'--from-page' and '--to-page' have the same value: %d", from)
		}
		return op.edit(func(e *surgery.Editor) error {
			if err := e.CopyPage(from, to); err != nil {
				return err
			}
			op.warnFreelist(e, "the free list might have changed.")
			op.printf("The page %d was successfully copied to page %d", from, to)
			return nil
		})
	})
}

// orphaned is the warning of the commands that clear pages.
const orphaned = "The clearing has abandoned some pages that are not yet referenced from free list."

func newClearPage() *cobra.Command {
	var id uint64
	cmd := &cobra.Command{
		Use:     "clear-page",
		Short:   "Drop all elements of a branch or leaf page",
		Example: "  holt kv surgery clear-page my.db --output repaired.db --pageId 9",
	}
	pageIDFlag(cmd, &id)
	return editCommand(cmd, func(op operation) error {
		if err := treePageID(id); err != nil {
			return err
		}
		return op.edit(func(e *surgery.Editor) error {
			orphans, err := e.ClearPage(id)
			if err != nil {
				return err
			}
			if orphans {
				op.warnFreelist(e, orphaned)
			}
			op.printf("The page (%d) was cleared", id)
			return nil
		})
	})
}

func newClearPageElements() *cobra.Command {
	var (
		id         uint64
		start, end int
	)
	cmd := &cobra.Command{
		Use:     "clear-page-elements",
		Short:   "Drop some elements of a branch or leaf page",
		Example: "  holt kv surgery clear-page-elements my.db --output repaired.db --pageId 9 --from-index 3 --to-index -1",
	}
	pageIDFlag(cmd, &id)
	cmd.Flags().IntVar(&start, "from-index", 0, "the first element to drop, counted from 0")
	cmd.Flags().IntVar(&end, "to-index", 0, "the element behind the last to drop, -1 for all that follow")
	mustMark(cmd, "from-index", "to-index")
	return editCommand(cmd, func(op operation) error {
		if err := treePageID(id); err != nil {
			return err
		}
		return op.edit(func(e *surgery.Editor) error {
			orphans, err := e.ClearElements(id, start, end)
			if err != nil {
				return err
			}
			if orphans {
				op.warnFreelist(e, orphaned)
			}
			op.printf("All elements in [%d, %d) in page %d were cleared", start, end, id)
			return nil
		})
	})
}
