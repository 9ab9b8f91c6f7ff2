// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import "fmt"

// A Draft is a node to be written.
type Draft struct {
	Fields   []Field // in any order
	Children Children
	StableID RecordID // of the node that this is a copy of; zero if it is a new one
}

// A Field is a property to be written, whose values are written already.
type Field struct {
	Name   string
	Type   Type
	Values []RecordID // one, unless the type is an array's
	List   RecordID   // of an array, instead of Values: what [Writer.Array] returned
}

func (f *Field) isPrimary() bool { return f.Type == TypeName && f.Name == nameOfPrimary }
func (f *Field) isMixins() bool  { return f.Type == TypeNames && f.Name == nameOfMixins }

// values is those of an array.
func (f *Field) values(w *Writer) ([]RecordID, error) {
	if f.List == (RecordID{}) {
		return f.Values, nil
	}
	r, err := Find(w, f.List)
	if err != nil {
		return nil, err
	}
	l, err := r.List()
	if err != nil {
		return nil, err
	}
	return l.ids()
}

// ids is all entries of a list.
func (l List) ids() ([]RecordID, error) {
	var ids []RecordID
	for i := range l.Len() {
		id, err := l.EntryID(i)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Children is the children of a node to be written: see [Writer.Children]. The zero value is none.
type Children struct {
	count int
	name  string   // of the only one
	id    RecordID // the only one, or the map
}

// Len is the number of children.
func (c Children) Len() int { return c.count }

func (c Children) head() uint32 {
	switch c.count {
	case 0:
		return hasNoChild
	case 1:
		return 0
	}
	return hasChildren
}

func (c Children) kinds() kinds {
	if c.count == 1 {
		return isNode
	}
	return isMap
}

// listKinds is what stands for the list of so many values.
func listKinds(values int) kinds {
	if values == 1 {
		return isValue
	}
	return isBucket
}

// Node writes a node.
func (w *Writer) Node(d *Draft) (RecordID, error) {
	tmpl, err := w.Template(d)
	if err != nil {
		return RecordID{}, err
	}
	mark := len(w.stack)
	defer func() { w.stack = w.stack[:mark] }()
	for _, f := range w.shape.fields {
		if err := w.push(w.value(f.Field)); err != nil {
			return RecordID{}, err
		}
	}
	return w.node(d.StableID, tmpl, d.Children, w.stack[mark:])
}

// value is the record that stands for the values of a property.
func (w *Writer) value(f *Field) (RecordID, error) {
	switch list := f.List != (RecordID{}); {
	case list && (!f.Type.IsArray() || len(f.Values) > 0), !f.Type.IsArray() && len(f.Values) != 1:
		return RecordID{}, fmt.Errorf("%w: property %.80q, %s, of %d values", ErrDraft, f.Name, f.Type, len(f.Values))
	case list:
		return f.List, nil
	case f.Type.IsArray():
		return w.Array(f.Values)
	}
	return f.Values[0], nil
}

// node writes a node of the values of its properties, in the order of its template.
func (w *Writer) node(stable, tmpl RecordID, children Children, values []RecordID) (RecordID, error) {
	ids, of := make([]RecordID, 0, 4), make([]kinds, 0, 4)
	ids, of = append(ids, self, tmpl), append(of, isBlock, isTemplate)
	if stable != (RecordID{}) {
		var b [stableSize]byte
		stable.Segment.Put(b[:])
		be.PutUint32(b[IDSize:], stable.Number)
		var err error
		if ids[0], err = w.record(RecordBlock, b[:], nil, nil); err != nil {
			return RecordID{}, err
		}
	}
	if children.count > 0 {
		ids, of = append(ids, children.id), append(of, children.kinds())
	}
	if len(values) > 0 {
		list, err := w.list(values)
		if err != nil {
			return RecordID{}, err
		}
		ids, of = append(ids, list), append(of, listKinds(len(values)))
	}
	id, err := w.recordOf(RecordNode, nil, ids, of, nil)
	if err == nil && stable != (RecordID{}) {
		w.opts.Cache.putCopied(stable, id)
	}
	return id, err
}

// Copied is the copy of a node, by stable id, that the cache has.
func (w *Writer) Copied(stable RecordID) (RecordID, bool) { return w.opts.Cache.copied(stable) }
