// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

func newStackRecover() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "recover FILE",
		Short: "Complete or drop what a crash interrupted",
		Long: `Opens the file for writing, and the allocator in it, which completes or drops what a crash interrupted,
as every command that changes the file does. Prints what there was, and checks the file.`,
		Example: "  holt stack recover my.stack",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			bar := progress.New(cmd.ErrOrStderr(), "recovering "+args[0], 0)
			defer bar.Done()
			r, err := recoverStack(args[0])
			bar.Done()
			if asJSON {
				err = errors.Join(err, printJSON(cmd.OutOrStdout(), r))
			} else {
				r.print(cmd)
			}
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// recovered is what has been done, and what is wrong all the same.
type recovered struct {
	Recovered []string `json:"recovered"`
	Findings  []string `json:"findings"`
}

func recoverStack(path string) (r recovered, err error) {
	r = recovered{[]string{}, []string{}}
	st, err := inspectStack(path)
	if err != nil {
		return r, err
	}
	err = changeStack(path, func(s *stack.Stack) error {
		if what := leftover(st); what != "" {
			r.Recovered = append(r.Recovered, what)
		}
		err := withAllocator(r.checkAllocator)(s)
		if isNoAllocator(err) {
			return nil
		}
		return err
	})
	if n := len(r.Findings); err == nil && n > 0 {
		err = fmt.Errorf("%s in %s", text.Plural(n, "error"), path)
	}
	return r, err
}

func (r *recovered) checkAllocator(a alloc.Allocator) error {
	r.Recovered = append(r.Recovered, a.Repaired()...)
	return checkAllocator(a, func(finding error) error {
		r.Findings = append(r.Findings, finding.Error())
		return nil
	})
}

func (r *recovered) print(cmd *cobra.Command) {
	out := cmd.OutOrStdout()
	for _, what := range r.Recovered {
		fmt.Fprintln(out, "recovered:", what)
	}
	for _, what := range r.Findings {
		fmt.Fprintln(out, what)
	}
	if len(r.Recovered)+len(r.Findings) == 0 {
		fmt.Fprintln(out, "nothing to recover")
	}
}
