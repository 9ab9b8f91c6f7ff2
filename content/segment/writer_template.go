// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"cmp"
	"fmt"
	"slices"
)

// shape is what goes into a template, as far as it is not in its draft already.
type shape struct {
	head   uint32
	ids    []RecordID // of the primary type and the mixin types
	fields []shapeField
	child  string // the name of the only child
	key    []byte
}

// shapeField is a field that is not special.
type shapeField struct {
	hash int32
	name string
	*Field
}

const (
	nameOfPrimary = "jcr:primaryType"
	nameOfMixins  = "jcr:mixinTypes"
)

// Template writes the template of nodes like a draft, or finds it in the cache: before children and values of the first
// one are written, if records shall lie in Oak's order. [Writer.Node] does so itself if it has to.
func (w *Writer) Template(d *Draft) (RecordID, error) {
	if err := w.shapeOf(d); err != nil {
		return RecordID{}, err
	}
	return w.template()
}

// shapeOf sets w.shape.
func (w *Writer) shapeOf(d *Draft) error {
	s := &w.shape
	s.ids, s.fields, s.child = s.ids[:0], s.fields[:0], cleanText(d.Children.name)
	s.head = d.Children.head()
	if err := s.special(w, d.Fields); err != nil {
		return err
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		if f.Type == TypeUndefined || !f.Type.known() {
			return fmt.Errorf("%w: property %.80q of type %d", ErrDraft, f.Name, f.Type)
		}
		if !f.isPrimary() && !f.isMixins() {
			name := cleanText(f.Name)
			s.fields = append(s.fields, shapeField{int32(javaHash(name)), name, f})
		}
	}
	if len(s.fields) > propertiesMask {
		return fmt.Errorf("%w: a node with %d properties", ErrTooBig, len(s.fields))
	}
	s.head |= uint32(len(s.fields))
	return s.sort()
}

// special notes the primary type and the mixin types.
func (s *shape) special(w *Writer, fields []Field) error {
	for i := range fields {
		f := &fields[i]
		if f.isPrimary() {
			if len(f.Values) != 1 || s.head&hasPrimary != 0 {
				return fmt.Errorf("%w: %d values of %s, or two of it", ErrDraft, len(f.Values), f.Name)
			}
			s.head |= hasPrimary
			s.ids = slices.Insert(s.ids, 0, f.Values[0])
		}
		if f.isMixins() {
			names, err := f.values(w)
			if err != nil {
				return err
			}
			if len(names) > mixinMask || s.head&hasMixins != 0 {
				return fmt.Errorf("%w: %d values of %s, or two of it", ErrDraft, len(names), f.Name)
			}
			s.head |= hasMixins | uint32(len(names))<<mixinShift
			s.ids = append(s.ids, names...)
		}
	}
	return nil
}

func (s *shape) sort() error {
	slices.SortFunc(s.fields, compareFields)
	for i := range s.fields {
		if i > 0 && compareFields(s.fields[i-1], s.fields[i]) == 0 {
			return fmt.Errorf("%w: two properties %.80q", ErrDraft, s.fields[i].name)
		}
	}
	return nil
}

func compareFields(a, b shapeField) int {
	if a.hash != b.hash {
		return cmp.Compare(a.hash, b.hash)
	}
	return compareText(a.name, b.name)
}

// template writes the template of w.shape.
func (w *Writer) template() (RecordID, error) {
	s := &w.shape
	s.setKey()
	c := w.opts.Cache
	key := c.templates.key(s.key)
	if id, ok := c.text(&c.templates, key); ok {
		return id, nil
	}
	mark := len(w.stack)
	defer func() { w.stack = w.stack[:mark] }()
	w.stack = append(w.stack, s.ids...)
	if s.head&(hasNoChild|hasChildren) == 0 {
		if err := w.push(w.String(s.child)); err != nil {
			return RecordID{}, err
		}
	}
	if len(s.fields) > 0 {
		if err := w.push(w.namesOf(s)); err != nil {
			return RecordID{}, err
		}
	}
	types := make([]byte, len(s.fields))
	for i, f := range s.fields {
		types[i] = byte(f.Type)
	}
	var head [wordSize]byte
	be.PutUint32(head[:], s.head)
	id, err := w.record(RecordTemplate, head[:], w.stack[mark:], types)
	if err == nil {
		c.putText(&c.templates, key, id)
	}
	return id, err
}

func (w *Writer) namesOf(s *shape) (RecordID, error) {
	mark := len(w.stack)
	defer func() { w.stack = w.stack[:mark] }()
	for _, f := range s.fields {
		if err := w.push(w.String(f.name)); err != nil {
			return RecordID{}, err
		}
	}
	return w.list(w.stack[mark:])
}

// push puts an id on the stack.
func (w *Writer) push(id RecordID, err error) error {
	if err == nil {
		w.stack = append(w.stack, id)
	}
	return err
}

// setKey puts together what tells templates apart.
func (s *shape) setKey() {
	k := be.AppendUint32(s.key[:0], s.head)
	for _, id := range s.ids {
		k = be.AppendUint64(k, id.Segment.MSB)
		k = be.AppendUint64(k, id.Segment.LSB)
		k = be.AppendUint32(k, id.Number)
	}
	k = be.AppendUint32(k, uint32(len(s.child)))
	k = append(k, s.child...)
	for _, f := range s.fields {
		k = be.AppendUint32(k, uint32(len(f.name)))
		k = append(k, f.name...)
		k = append(k, byte(f.Type))
	}
	s.key = k
}
