// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"time"

	"github.com/holtdb/holt/bench/content/tree"
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
)

// write makes a store with a tree at /root/tree, durable when it returns.
func write(dir string, folders int) (err error) {
	files, err := archive.Open(dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	w, err := segment.NewWriter(segment.Options{Store: content.New(files, content.Options{}), Sink: files})
	if err != nil {
		return err
	}
	head, err := newPlanter(w).root(tree.Root(folders))
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return err
	}
	return files.SetHead(segment.RecordID{}, archive.Revision{ID: head, Time: time.Now()})
}

// planter writes a tree, children first.
type planter struct {
	*segment.Writer
	tree     tree.Draft
	draft    segment.Draft
	values   []segment.RecordID
	children []segment.Child // of the nodes on the way down
}

func newPlanter(w *segment.Writer) *planter { return &planter{Writer: w} }

// root writes the super-root.
func (p *planter) root(n tree.Node) (segment.RecordID, error) {
	id, err := p.node(n)
	for _, name := range []string{"tree", "root"} {
		if err == nil {
			id, err = p.parent(segment.Child{Name: name, Node: id})
		}
	}
	return id, err
}

func (p *planter) parent(c segment.Child) (segment.RecordID, error) {
	children, err := p.Children([]segment.Child{c})
	if err != nil {
		return segment.RecordID{}, err
	}
	return p.Node(&segment.Draft{Children: children})
}

func (p *planter) node(n tree.Node) (segment.RecordID, error) {
	mark := len(p.children)
	defer func() { p.children = p.children[:mark] }()
	for i := range n.Children() {
		c := n.Child(i)
		id, err := p.node(c)
		if err != nil {
			return id, err
		}
		p.children = append(p.children, segment.Child{Name: c.Name(), Node: id})
	}
	children, err := p.Children(p.children[mark:])
	if err != nil {
		return segment.RecordID{}, err
	}
	n.Properties(&p.tree)
	if err := p.properties(); err != nil {
		return segment.RecordID{}, err
	}
	p.draft.Children = children
	return p.Node(&p.draft)
}

// properties writes values and makes fields of them.
func (p *planter) properties() error {
	p.values, p.draft.Fields = p.values[:0], p.draft.Fields[:0]
	for _, from := range p.tree.Properties {
		first := len(p.values)
		for _, v := range from.Values {
			id, err := p.String(v)
			if err != nil {
				return err
			}
			p.values = append(p.values, id)
		}
		p.draft.Fields = append(p.draft.Fields, segment.Field{
			Name: from.Name, Type: from.Type, Values: p.values[first:len(p.values):len(p.values)],
		})
	}
	return nil
}
