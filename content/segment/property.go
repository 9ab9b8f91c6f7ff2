// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

// A Property is a name, a type and values.
type Property struct {
	Name   []byte // a view, or a copy if it is long
	Type   Type
	values List
}

// Count is the number of values: 1 unless the type is an array's.
func (p *Property) Count() int { return p.values.Len() }

// Value is the i-th value. All but those of BINARY are text.
func (p *Property) Value(i int) (Value, error) {
	r, err := p.values.Entry(i)
	if err != nil {
		return Value{}, err
	}
	// Nearly all values are small, and what is small is read alike whatever its type.
	data := r.seg.data[r.at:]
	if n := int(data[0]); n < smallMax && n < len(data) {
		return Value{r.seg, r.at + 1, inline, int64(n)}, nil
	}
	if p.Type.Base() == TypeBinary {
		return r.Value()
	}
	return r.text()
}

// Values is the list of the records of the values.
func (p *Property) Values() List { return p.values }

// Properties goes through the properties of a node: jcr:primaryType and jcr:mixinTypes, unless they have unusual types,
// and the others in the order they are stored in.
//
//	p := node.Properties()
//	for p.Next() {
//		… p.Name, p.Type, p.Count(), p.Value(i) …
//	}
//	return p.Err()
type Properties struct {
	Property
	fields fields
	next   int
	count  int
	err    error
}

// fields is what leads to the properties of a node that are not special.
type fields struct {
	tmpl          Template
	typesAt       uint32
	names, values List
}

// Next moves to the next property, if there is one.
func (p *Properties) Next() bool {
	if p.err != nil || p.next == p.count {
		return false
	}
	p.err = p.fields.get(p.next, &p.Property)
	p.next++
	return p.err == nil
}

// Err is the error that ended the loop.
func (p *Properties) Err() error { return p.err }

// fields reads where names and values are.
func (n Node) fields() (fields, error) {
	f := fields{tmpl: n.tmpl, typesAt: n.tmpl.typesAt()}
	if n.tmpl.count() == 0 {
		return f, nil
	}
	var err error
	if f.names, err = n.tmpl.names(); err == nil {
		f.values, err = n.values()
	}
	return f, err
}

// get sets p to the i-th property.
func (f *fields) get(i int, p *Property) (err error) {
	special := f.tmpl.special()
	if i < special {
		*p = f.tmpl.specialProperty(i)
		return nil
	}
	i -= special
	r, err := f.names.Entry(i)
	if err != nil {
		return err
	}
	if p.Name, err = r.name(); err != nil {
		return err
	}
	if p.Type, err = f.tmpl.seg.propertyType(f.typesAt + uint32(i)); err != nil {
		return err
	}
	if f.values.span == 1 && !p.Type.IsArray() {
		p.values = List{f.values.seg, f.values.at + uint32(i)*ridSize, 1, 1}
		return nil
	}
	p.values, err = f.values.valuesOf(i, p.Type)
	return err
}

// valuesOf is the list of the values of the i-th property, which is the entry itself if there can be one only.
func (l List) valuesOf(i int, typ Type) (List, error) {
	s, at, err := l.locate(i)
	if err != nil {
		return List{}, err
	}
	if !typ.IsArray() {
		return List{s, at, 1, 1}, nil
	}
	r, err := s.record(at)
	if err != nil {
		return List{}, err
	}
	return r.List()
}
