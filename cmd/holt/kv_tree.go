// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/bucket"
	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv"
)

func newKVTree(o *opener) *cobra.Command {
	var (
		depth  int
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "tree FILE [BUCKET...]",
		Short: "Show the nested buckets with their counts and sizes",
		Long: `Shows a bucket, or the whole database, with all buckets below it. The numbers are those of everything in a bucket and
below: buckets, keys, and the bytes of keys and values.`,
		Example: `  holt kv tree my.db
  holt kv tree my.db users --depth 1`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := o.parsePath(args[1:])
			if err != nil {
				return err
			}
			return o.view(cmd.Context(), args[0], func(tx *kv.Tx) error {
				b, err := path.Find(tx)
				if err != nil {
					return err
				}
				name := []byte(args[0])
				if len(path) > 0 {
					name = path[len(path)-1]
				}
				bar := progress.New(cmd.ErrOrStderr(), "counting keys", 0)
				defer bar.Done()
				g := grower{ctx: cmd.Context(), walker: bucket.NewWalker(), depth: depth, bar: bar}
				t, err := g.grow(b, name)
				if err != nil {
					return err
				}
				bar.Done()
				if asJSON {
					return printJSON(cmd.OutOrStdout(), t)
				}
				return t.print(cmd.OutOrStdout(), "", "")
			})
		},
	}
	cmd.Flags().IntVar(&depth, "depth", -1, "how many levels of buckets to show, -1 for all")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// bucketTree describes a bucket. The numbers include what is below it.
type bucketTree struct {
	Name     exact         `json:"name"`
	BucketN  int64         `json:"bucketN"` // below it
	KeyN     int64         `json:"keyN"`
	Bytes    int64         `json:"bytes"` // of keys, values and names
	Children []*bucketTree `json:"buckets,omitempty"`
}

// grower makes bucketTrees.
type grower struct {
	ctx    context.Context
	walker *bucket.Walker
	depth  int // levels to keep; the numbers are complete in any case
	bar    *progress.Bar
}

func (g *grower) grow(b *kv.Bucket, name []byte) (*bucketTree, error) {
	t := &bucketTree{Name: exactly(name, text.Auto)}
	err := bucket.Each(g.ctx, b, func(k, v []byte) error {
		t.Bytes += int64(len(k) + len(v))
		if v != nil {
			t.KeyN++
			g.bar.Add(1)
			return nil
		}
		sub, err := g.walker.Enter(b, k)
		if err != nil {
			return err
		}
		defer g.walker.Leave()
		child, err := g.grow(sub, k)
		if err != nil {
			return err
		}
		t.add(child, g.depth < 0 || g.walker.Depth() <= g.depth)
		return nil
	})
	return t, err
}

func (t *bucketTree) add(child *bucketTree, keep bool) {
	t.BucketN += 1 + child.BucketN
	t.KeyN += child.KeyN
	t.Bytes += child.Bytes
	if keep {
		t.Children = append(t.Children, child)
	}
}

// print draws the tree. lead goes before the name, below before the names of the children.
func (t *bucketTree) print(out io.Writer, lead, below string) error {
	counts := text.Plural(t.KeyN, "key")
	if t.BucketN > 0 {
		counts = text.Plural(t.BucketN, "bucket") + ", " + counts
	}
	if _, err := fmt.Fprintf(out, "%s%s  (%s, %s)\n", lead, t.Name.Text, counts, text.Size(t.Bytes)); err != nil {
		return err
	}
	for i, child := range t.Children {
		branch, next := "├── ", "│   "
		if i == len(t.Children)-1 {
			branch, next = "└── ", "    "
		}
		if err := child.print(out, below+branch, below+next); err != nil {
			return err
		}
	}
	return nil
}
