// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// demoSection shows one engine. It runs in the current folder, and leaves what it makes in the folder of the demo.
type demoSection struct {
	title string
	run   func(ctx context.Context, d *demo) error
}

// demoSections are shown one after the other.
var demoSections = []demoSection{
	{"kv: an ordered key/value store in one file, in the format of bbolt", demoKV},
	{"stack: a durable stack of bytes in one file, in the format of bstack, with an allocator", demoStack},
	{"content: a versioned tree of nodes, in the format of Apache Jackrabbit Oak's segment store", demoContent},
}

func newDemo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See what Holt can do, in a few seconds",
		Long: `Opens a database that etcd wrote, shows what is in it and checks it. Then copies the current folder into
a new database in a temporary folder, reads all of it back and compares it with the files. Nothing in the current folder
is changed; large files, and what is more than a few seconds' work, are left out.

Then it stores the files in regions of a stack, frees some and resizes others, has another process change the file and
kills it in the middle, opens the file again and verifies that everything that was acknowledged is there.

Last it opens a content store that Oak wrote, and shows and checks what is in it.

The new files stay where they are, for the commands that the demo ends with.`,
		Example: "  holt demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.MkdirTemp("", "holt-demo-")
			if err != nil {
				return err
			}
			d := &demo{cmd: cmd, dir: dir}
			err = d.run(cmd.Context())
			if errors.Is(err, context.Canceled) {
				return errors.Join(err, os.RemoveAll(dir))
			}
			return err // the files stay, also as evidence
		},
	}
}

// demo is one run of holt demo.
type demo struct {
	cmd  *cobra.Command
	dir  string // temporary, for the files of the sections
	next [][]string
}

func (d *demo) run(ctx context.Context) error {
	for i, s := range demoSections {
		if i > 0 {
			d.printf("")
		}
		d.printf("%s\n", s.title)
		if err := s.run(ctx, d); err != nil {
			return err
		}
	}
	holt := self()
	d.printf("\nThe files stay in %s. Try next:", d.dir)
	for _, args := range d.next {
		d.printf("  %s %s", holt, shellCommand(args))
	}
	return nil
}

func (d *demo) printf(format string, args ...any) {
	fmt.Fprintf(d.cmd.OutOrStdout(), format+"\n", args...)
	_ = flush(d.cmd) // the error comes up again at the end
}

// step prints what a part of the demo did and how long it took.
func (d *demo) step(what string, fn func() (result string, err error)) error {
	start := time.Now()
	result, err := fn()
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	d.printf("  %-8s %-58s %9s", what, result, duration(time.Since(start)))
	return nil
}

// suggest adds a command of holt to those to try next.
func (d *demo) suggest(args ...string) { d.next = append(d.next, args) }

// duration rounds to what a reader takes in.
func duration(t time.Duration) string {
	switch {
	case t < time.Millisecond:
		return t.Round(time.Microsecond).String()
	case t < time.Second:
		return t.Round(100 * time.Microsecond).String()
	}
	return t.Round(10 * time.Millisecond).String()
}
