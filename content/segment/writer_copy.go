// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"context"
	"math"
)

// maxDepth bounds how deep trees are that can be copied: one that is damaged may have no end.
const maxDepth = 10_000

// Copy returns a node that may be referred to: the node itself, unless it is of an older generation. Then it and all below
// it that is of one is written anew, with the stable id it has; of long binaries only the list of blocks. What the cache
// knows as copied is not copied again.
func (w *Writer) Copy(ctx context.Context, n Node) (RecordID, error) {
	c := copier{w, ctx.Err}
	return c.node(n, 0)
}

// Field is the i-th property of a node, to be written again: of its values those of older generations are copied.
func (w *Writer) Field(n Node, i int) (Field, error) {
	p, err := n.PropertyAt(i)
	if err != nil {
		return Field{}, err
	}
	f := Field{Name: string(p.Name), Type: p.Type}
	c := copier{Writer: w}
	if i -= n.tmpl.special(); i < 0 {
		f.Values, err = c.values(p.values, p.Type)
		return f, err
	}
	values, err := n.values()
	if err != nil {
		return Field{}, err
	}
	id, err := c.property(values, i, p.Type)
	if p.Type.IsArray() {
		f.List = id
	} else {
		f.Values = []RecordID{id}
	}
	return f, err
}

type copier struct {
	*Writer
	stopped func() error
}

func (c copier) node(n Node, depth int) (RecordID, error) {
	if !c.Old(n.seg) {
		return n.ID(), nil
	}
	if depth > maxDepth {
		return RecordID{}, n.corrupt("a node below %d others", maxDepth)
	}
	if err := c.stopped(); err != nil {
		return RecordID{}, err
	}
	stable, err := n.StableID()
	if err != nil {
		return RecordID{}, err
	}
	if id, ok := c.Copied(stable); ok {
		return id, nil
	}
	tmpl, err := c.template(n.tmpl)
	if err != nil {
		return RecordID{}, err
	}
	children, err := c.children(n, depth)
	if err != nil {
		return RecordID{}, err
	}
	mark := len(c.stack)
	defer func() { c.stack = c.stack[:mark] }()
	if err := c.properties(n); err != nil {
		return RecordID{}, err
	}
	return c.Writer.node(stable, tmpl, children, c.stack[mark:])
}

// template copies a template, with properties in the same order.
func (c copier) template(t Template) (RecordID, error) {
	if !c.Old(t.seg) {
		return t.ID(), nil
	}
	if id, ok := c.Copied(t.ID()); ok {
		return id, nil
	}
	d, err := c.draft(t)
	if err != nil {
		return RecordID{}, err
	}
	id, err := c.Template(&d)
	if err != nil {
		return RecordID{}, err
	}
	for i, f := range c.shape.fields {
		if f.Field != &d.Fields[t.special()+i] {
			return RecordID{}, t.corrupt("the properties of a template out of order")
		}
	}
	c.opts.Cache.putCopied(t.ID(), id)
	return id, nil
}

// draft is a node of the template, as far as that matters for it.
func (c copier) draft(t Template) (Draft, error) {
	d := Draft{Fields: make([]Field, t.Count())}
	for i := range d.Fields {
		name, err := t.PropertyName(i)
		if err != nil {
			return d, err
		}
		f := &d.Fields[i]
		f.Name = string(name)
		if f.Type, err = t.PropertyType(i); err != nil {
			return d, err
		}
		if i < t.special() {
			if f.Values, err = c.values(t.specialProperty(i).values, f.Type); err != nil {
				return d, err
			}
		}
	}
	if !t.hasChild() {
		return d, nil
	}
	d.Children.count = 2 // or more
	name, ok, err := t.ChildName()
	if ok {
		d.Children = Children{count: 1, name: string(name)}
	}
	return d, err
}

func (c copier) children(n Node, depth int) (Children, error) {
	if n.tmpl.hasChild() && !n.tmpl.hasOneChild() {
		r, err := n.seg.record(n.childAt())
		if err != nil {
			return Children{}, err
		}
		if !c.Old(r.seg) {
			return Children{count: 2, id: r.ID()}, nil
		}
	}
	var children []Child
	e := n.Children()
	for e.Next() {
		child, err := e.Node()
		if err != nil {
			return Children{}, err
		}
		id, err := c.node(child, depth+1)
		if err != nil {
			return Children{}, err
		}
		children = append(children, Child{string(e.Name), id})
	}
	if err := e.Err(); err != nil {
		return Children{}, err
	}
	if n.tmpl.hasOneChild() || !n.tmpl.hasChild() {
		return c.Children(children)
	}
	id, err := c.Map(children) // whatever their number, as the template has it
	return Children{count: 2, id: id}, err
}

// properties puts the copies of the values on the stack.
func (c copier) properties(n Node) error {
	if n.tmpl.count() == 0 {
		return nil
	}
	values, err := n.values()
	if err != nil {
		return err
	}
	for i := range values.Len() {
		typ, err := n.tmpl.typeAt(i)
		if err != nil {
			return err
		}
		if err := c.push(c.property(values, i, typ)); err != nil {
			return err
		}
	}
	return nil
}

// property copies what the i-th entry of the list of values stands for.
func (c copier) property(values List, i int, typ Type) (RecordID, error) {
	r, err := values.Entry(i)
	switch {
	case err != nil:
		return RecordID{}, err
	case !c.Old(r.seg):
		return r.ID(), nil
	case !typ.IsArray():
		return c.value(r, typ)
	}
	list, err := r.List()
	if err != nil {
		return RecordID{}, err
	}
	ids, err := c.values(list, typ)
	if err != nil {
		return RecordID{}, err
	}
	return c.Array(ids)
}

func (c copier) values(l List, typ Type) ([]RecordID, error) {
	var ids []RecordID
	for i := range l.Len() {
		r, err := l.Entry(i)
		if err != nil {
			return nil, err
		}
		id, err := c.value(r, typ)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (c copier) value(r Record, typ Type) (RecordID, error) {
	if !c.Old(r.seg) {
		return r.ID(), nil
	}
	if typ.Base() != TypeBinary {
		v, err := r.text()
		if err != nil {
			return RecordID{}, err
		}
		return c.copyText(v)
	}
	v, err := r.Value()
	if err != nil {
		return RecordID{}, err
	}
	return c.binary(v)
}

func (c copier) copyText(v Value) (RecordID, error) {
	b, ok := v.Bytes()
	if !ok {
		var err error
		if b, err = v.AppendTo(nil, math.MaxInt32); err != nil {
			return RecordID{}, err
		}
	}
	c.text = AppendText(c.text[:0], b)
	return c.string(c.text)
}

func (c copier) binary(v Value) (RecordID, error) {
	if v.IsExternal() {
		id, err := v.BlobID()
		if err != nil {
			return RecordID{}, err
		}
		text, err := id.Text(math.MaxInt32)
		if err != nil {
			return RecordID{}, err
		}
		return c.BlobID(text)
	}
	if b, ok := v.Bytes(); ok {
		return c.inline(b)
	}
	return c.longBinary(v)
}

// longBinary refers to the blocks of a long binary that are in bulk segments, as all should be.
func (c copier) longBinary(v Value) (RecordID, error) {
	list, err := v.blocks()
	if err != nil {
		return RecordID{}, err
	}
	blocks := listBuilder{w: c.Writer}
	for i := range list.Len() {
		id, err := list.EntryID(i)
		if err != nil {
			return RecordID{}, err
		}
		if !id.Segment.IsBulk() {
			return c.Binary(v.Reader())
		}
		if err := blocks.add(id); err != nil {
			return RecordID{}, err
		}
	}
	return c.long(v.size, &blocks)
}
