// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
)

func newContentTree() *cobra.Command {
	var o contentOpener
	var asJSON bool
	t := contentTree{}
	cmd := &cobra.Command{
		Use:   "tree DIR [PATH]",
		Short: "Show the nodes with the numbers of their children and properties",
		Long:  "Shows a node, or the whole revision, with all nodes below it, in the order in which they are stored.",
		Example: `  holt content tree segmentstore
  holt content tree segmentstore /root/content --depth 2`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.view(cmd, args[0], "reading", func(s *content.Store, revision segment.RecordID) error {
				t.out, t.asJSON = cmd.OutOrStdout(), asJSON
				return s.Walk(cmd.Context(), revision, pathArg(args, "/"), content.WalkOptions{}, t.node)
			})
		},
	}
	cmd.Flags().IntVar(&t.depth, "depth", -1, "how many levels below the node to show, -1 for all")
	o.revisionFlag(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// contentTree prints nodes as they come: before their children, and these before the next sibling.
type contentTree struct {
	out    io.Writer
	asJSON bool
	depth  int
	left   []int // per level: siblings still to come
}

// treeNode is a node for programs.
type treeNode struct {
	Path       string `json:"path"`
	Depth      int    `json:"depth"`
	Children   int    `json:"children"`
	Properties int    `json:"properties"`
}

func (t *contentTree) node(v *content.Visit) error {
	children, err := v.Node.ChildCount()
	if err != nil {
		return v.Fail(err)
	}
	n := treeNode{content.CleanPath(string(v.Path)), v.Depth, children, v.Node.PropertyCount()}
	if t.asJSON {
		err = printJSON(t.out, n)
	} else {
		err = t.print(n, v.Path)
	}
	t.left = append(t.left[:v.Depth], children)
	if err == nil && t.depth >= 0 && v.Depth >= t.depth {
		return content.ErrSkipChildren
	}
	return err
}

// print draws the branches that lead to the node, and the node.
func (t *contentTree) print(n treeNode, path []byte) error {
	var lead strings.Builder
	for level := range n.Depth {
		last := level == n.Depth-1
		if last {
			t.left[level]--
		}
		switch more := t.left[level] > 0; {
		case last && more:
			lead.WriteString("├── ")
		case last:
			lead.WriteString("└── ")
		case more:
			lead.WriteString("│   ")
		default:
			lead.WriteString("    ")
		}
	}
	name := text.Auto.Text(lastName(path))
	if n.Depth == 0 {
		name = n.Path
	}
	var about []string
	if n.Children > 0 {
		about = append(about, children(n.Children))
	}
	if n.Properties > 0 {
		about = append(about, properties(n.Properties))
	}
	shown := ""
	if len(about) > 0 {
		shown = "  (" + strings.Join(about, ", ") + ")"
	}
	_, err := fmt.Fprintf(t.out, "%s%s%s\n", lead.String(), name, shown)
	return err
}

func children(n int) string {
	if n == 1 {
		return "1 child"
	}
	return fmt.Sprintf("%d children", n)
}

func properties(n int) string {
	if n == 1 {
		return "1 property"
	}
	return fmt.Sprintf("%d properties", n)
}
