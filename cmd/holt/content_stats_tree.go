// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
)

// treeStats is about the nodes that a revision leads to.
type treeStats struct {
	Path       string     `json:"path"`
	Nodes      int64      `json:"nodes"`
	Properties int64      `json:"properties"`
	Values     int64      `json:"values"`
	Bytes      int64      `json:"bytes"`   // of values inside
	Outside    int64      `json:"outside"` // binaries kept outside
	Largest    []nodeSize `json:"largest"`
	Broadest   []nodeSize `json:"broadest"`
}

// nodeSize is what a node has, without those below it.
type nodeSize struct {
	Path       string `json:"path"`
	Bytes      int64  `json:"bytes"`
	Properties int    `json:"properties"`
	Children   int    `json:"children"`
}

const mostNodes = 10 // that are shown

func (st *contentStats) nodes(ctx context.Context, s *content.Store, revision segment.RecordID, path string) error {
	t := &st.Tree
	t.Path, t.Largest, t.Broadest = content.CleanPath(path), []nodeSize{}, []nodeSize{}
	return s.Walk(ctx, revision, path, content.WalkOptions{}, func(v *content.Visit) error {
		if err := t.node(v); err != nil {
			return v.Fail(err)
		}
		return nil
	})
}

func (t *treeStats) node(v *content.Visit) (err error) {
	n := nodeSize{Properties: v.Node.PropertyCount()}
	if n.Children, err = v.Node.ChildCount(); err != nil {
		return err
	}
	p := v.Node.Properties()
	for p.Next() {
		for i := range p.Count() {
			value, err := p.Value(i)
			if err != nil {
				return err
			}
			t.Values++
			if value.IsExternal() {
				t.Outside++
			} else {
				n.Bytes += value.Len()
			}
		}
	}
	t.Nodes++
	t.Properties += int64(n.Properties)
	t.Bytes += n.Bytes
	rank(&t.Largest, n, v.Path, func(n nodeSize) int64 { return n.Bytes })
	rank(&t.Broadest, n, v.Path, func(n nodeSize) int64 { return int64(n.Children) })
	return p.Err()
}

// rank keeps a list of the nodes that have most of something, most first. The path is copied if it is needed.
func rank(list *[]nodeSize, n nodeSize, path []byte, of func(nodeSize) int64) {
	if of(n) == 0 || len(*list) == mostNodes && of((*list)[mostNodes-1]) >= of(n) {
		return
	}
	n.Path = content.CleanPath(string(path))
	i, _ := slices.BinarySearchFunc(*list, n, func(a, b nodeSize) int {
		if of(a) >= of(b) {
			return -1
		}
		return 1
	})
	*list = slices.Insert(*list, i, n)
	*list = (*list)[:min(len(*list), mostNodes)]
}

func (t *treeStats) print(out io.Writer) {
	fmt.Fprintf(out, "Below %s: %s, %s, %s, %s; %s outside\n", t.Path, text.Plural(t.Nodes, "node"),
		properties(int(t.Properties)), text.Plural(t.Values, "value"), text.Size(t.Bytes), binaries(t.Outside))
	table := func(title string, list []nodeSize) {
		if len(list) > 0 {
			fmt.Fprintf(out, "%s:\n", title)
		}
		for _, n := range list {
			fmt.Fprintf(out, "  %10s  %-14s  %-14s  %s\n",
				text.Size(n.Bytes), properties(n.Properties), children(n.Children), n.Path)
		}
	}
	table("Largest nodes", t.Largest)
	table("Nodes with most children", t.Broadest)
}
