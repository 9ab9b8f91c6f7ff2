// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/testdata"
)

// demoContent opens a content store that Oak wrote.
func demoContent(ctx context.Context, d *demo) (err error) {
	dir := filepath.Join(d.dir, "segmentstore")
	d.printf("A content store that Apache Jackrabbit Oak wrote:")
	if err := d.step("unpack", func() (string, error) { return unpackTiny(dir) }); err != nil {
		return err
	}
	var s *content.Store
	err = d.step("open", func() (result string, err error) {
		if s, err = content.Open(dir, nil); err != nil {
			return "", err
		}
		head, _ := s.Head()
		return "head " + head.String(), nil
	})
	if err != nil {
		return err
	}
	defer closeWith(&err, s)
	c := contentDemo{demo: d, store: s}
	c.head, _ = s.Head()
	for _, step := range []struct {
		what string
		fn   func(context.Context) (string, error)
	}{{"tree", c.tree}, {"segments", c.segments}, {"check", c.check}} {
		if err := d.step(step.what, func() (string, error) { return step.fn(ctx) }); err != nil {
			return err
		}
	}
	d.suggest("content", "tree", dir)
	d.suggest("content", "segment", dir, c.head.Segment.String())
	d.suggest("content", "check", dir)
	return nil
}

// contentDemo is the part of the demo about content stores.
type contentDemo struct {
	*demo
	store *content.Store
	head  segment.RecordID
}

// unpackTiny writes the store that comes with this program to a folder.
func unpackTiny(dir string) (string, error) {
	files, err := fs.Sub(testdata.Tiny, "tiny")
	if err != nil {
		return "", err
	}
	return "to " + dir, os.CopyFS(dir, files)
}

// tree prints every node with its properties.
func (c *contentDemo) tree(ctx context.Context) (string, error) {
	nodes := int64(0)
	err := c.store.Walk(ctx, c.head, "/", content.WalkOptions{}, func(v *content.Visit) error {
		nodes++
		c.printf("           %s", content.CleanPath(string(v.Path)))
		p := v.Node.Properties()
		for p.Next() {
			value, err := p.Value(0)
			if err != nil {
				return err
			}
			shown, err := shortValue(c.store, p.Type, value, shownBytes)
			if err != nil {
				return err
			}
			c.printf("             %s %s = %s", p.Name, p.Type, shown)
		}
		return p.Err()
	})
	return text.Plural(nodes, "node"), c.store.Locate(err)
}

// segments prints what the archives consist of.
func (c *contentDemo) segments(context.Context) (string, error) {
	n, size := 0, int64(0)
	for _, a := range c.store.Archives() {
		for e := range a.Entries() {
			j := newSegmentJSON(c.store, a, e)
			if j.err != nil {
				return "", j.err
			}
			n, size = n+1, size+int64(j.Len)
			c.printf("           %s  %s, %s", j.ID, text.Plural(j.Len, "byte"), text.Plural(j.Records, "record"))
		}
	}
	return fmt.Sprintf("%s, %s, in %s", text.Plural(n, "segment"), text.Size(size),
		text.Plural(len(c.store.Archives()), "archive")), nil
}

func (c *contentDemo) check(ctx context.Context) (string, error) {
	r, err := c.store.Check(ctx, content.CheckOptions{
		All: true, Binaries: true, Archives: true,
		Found: func(finding error) error { return finding }, // the first is enough to end the demo
	})
	return fmt.Sprintf("every byte is in order; %s, %s whole", text.Plural(r.Revisions, "revision"),
		text.Plural(r.Nodes, "node")), err
}
