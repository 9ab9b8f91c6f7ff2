// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv"
)

func newKVCheck(o *opener) *cobra.Command {
	var (
		from   uint64
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Check that a database is sound",
		Long: `Looks at every page: keys must ascend, and every page must be either reached once from the root or free. Prints what is
wrong, one finding a line, or OK.

With --from-page, checks only what is under that page.`,
		Example: `  holt kv check my.db
  holt kv check my.db --from-page 5`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			noteMetas(cmd.ErrOrStderr(), args[0])
			return o.view(cmd.Context(), args[0], func(tx *kv.Tx) error {
				bar := progress.New(cmd.ErrOrStderr(), "checking "+args[0]+", pages", 0)
				defer bar.Done()
				print, conclude := printFinding, concludeCheck
				if asJSON {
					print, conclude = printFindingJSON, func(io.Writer, int) {}
				}
				n, err := eachFinding(cmd.Context(), tx, func(finding error) error {
					bar.Done()
					return print(cmd.OutOrStdout(), finding)
				}, kv.WithPageId(from), kv.WithKVStringer(keyTexts{}), kv.WithProgress(bar.Add))
				if err != nil {
					return err
				}
				conclude(cmd.OutOrStdout(), n)
				if n > 0 {
					return fmt.Errorf("invalid value: %s in %s", text.Plural(n, "error"), args[0])
				}
				return nil
			})
		},
	}
	cmd.Flags().Uint64Var(&from, "from-page", 0, "check only this page and what is under it")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// eachFinding calls fn with what is wrong, and returns how often it did. That ctx has ended is an error, and no finding.
func eachFinding(ctx context.Context, tx *kv.Tx, fn func(error) error, options ...kv.CheckOption) (n int, err error) {
	for finding := range tx.CheckContext(ctx, options...) {
		if errors.Is(finding, ctx.Err()) {
			break
		}
		n++
		if err := fn(finding); err != nil {
			return n, err
		}
	}
	return n, ctx.Err()
}

func printFinding(out io.Writer, finding error) error {
	_, err := fmt.Fprintln(out, finding)
	return err
}

func printFindingJSON(out io.Writer, finding error) error {
	return printJSON(out, struct {
		Finding string `json:"finding"`
	}{finding.Error()})
}

// concludeCheck prints the last line.
func concludeCheck(out io.Writer, findings int) {
	if findings == 0 {
		fmt.Fprintln(out, "OK")
		return
	}
	fmt.Fprintf(out, "%d errors found\n", findings)
}

// noteMetas mentions a meta page that is not valid. It is no finding: a crash may leave one, and the database is then that
// of the other.
func noteMetas(stderr io.Writer, path string) {
	file, err := openRaw(path)
	if err != nil {
		return // as opening the database will say
	}
	defer file.Close() //nolint:errcheck // only read from
	if _, ok := file.Active(); !ok {
		return
	}
	for id := range 2 {
		if m, err := file.Meta(id); err == nil && m.Err != nil {
			fmt.Fprintf(stderr, "note: meta page %d is not valid (%v), the other one is in use\n", id, m.Err)
		}
	}
}

// keyTexts has findings show keys as the other commands do.
type keyTexts struct{}

func (keyTexts) KeyToString(key []byte) string     { return text.Auto.Text(key) }
func (keyTexts) ValueToString(value []byte) string { return text.Auto.Text(value) }
