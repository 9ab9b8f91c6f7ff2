// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

// A Node is a node of the tree: properties, and children by name.
type Node struct {
	place
	tmpl Template
}

// stableSize is the size of the block of a stable id: a segment's id and a number.
const stableSize = IDSize + wordSize

// Node takes the record for a NODE.
func (r Record) Node() (Node, error) {
	if !r.fits(2 * ridSize) {
		return Node{}, r.corrupt("a node passes the end")
	}
	t, err := r.seg.record(r.at + ridSize)
	if err != nil {
		return Node{}, err
	}
	tmpl, err := t.Template()
	if err != nil {
		return Node{}, err
	}
	n := Node{r.place, tmpl}
	size := int(n.valuesAt() - r.at)
	if tmpl.count() > 0 {
		size += ridSize
	}
	if !r.fits(size) {
		return Node{}, r.corrupt("a node passes the end")
	}
	return n, nil
}

func (n Node) childAt() uint32 { return n.at + 2*ridSize }

func (n Node) valuesAt() uint32 {
	if n.tmpl.hasChild() {
		return n.childAt() + ridSize
	}
	return n.childAt()
}

// values is the list of the values of the properties that are not special.
func (n Node) values() (List, error) { return n.seg.list(n.valuesAt(), uint32(n.tmpl.count())) }

// Record is where the node is.
func (n Node) Record() Record { return Record{n.place} }

// Template is the shape of the node.
func (n Node) Template() Template { return n.tmpl }

// StableID is the same for all copies of a node that compaction makes: two nodes that have it in common are equal.
func (n Node) StableID() (RecordID, error) {
	id, err := n.seg.recordID(n.at)
	if err != nil || id == n.ID() {
		return id, err
	}
	b, err := n.seg.block(n.at, stableSize)
	if err != nil {
		return RecordID{}, err
	}
	return RecordID{GetID(b), be.Uint32(b[IDSize:])}, nil
}

// PropertyCount is the number of properties.
func (n Node) PropertyCount() int { return n.tmpl.Count() }

// Property finds a property.
func (n Node) Property(name string) (p Property, ok bool, err error) {
	switch name {
	case "jcr:primaryType":
		if p, ok = n.tmpl.PrimaryType(); ok {
			return p, true, nil
		}
	case "jcr:mixinTypes":
		if p, ok = n.tmpl.Mixins(); ok {
			return p, true, nil
		}
	}
	if n.tmpl.count() == 0 {
		return p, false, nil
	}
	i, ok, err := n.tmpl.search(name)
	if !ok {
		return p, false, err
	}
	p, err = n.PropertyAt(n.tmpl.special() + i)
	return p, err == nil, err
}

// PropertyAt is the i-th property, in the order of [Node.Properties].
func (n Node) PropertyAt(i int) (p Property, err error) {
	f, err := n.fields()
	if err == nil {
		err = f.get(i, &p)
	}
	return p, err
}

// Properties goes through the properties.
func (n Node) Properties() Properties {
	p := Properties{count: n.tmpl.Count()}
	p.fields, p.err = n.fields()
	return p
}

// HasChildren says whether there are any.
func (n Node) HasChildren() bool { return n.tmpl.hasChild() }

// ChildCount is the number of children.
func (n Node) ChildCount() (int, error) {
	if n.tmpl.hasOneChild() {
		return 1, nil
	}
	m, err := n.children()
	return m.Len(), err
}

// children is the map of a node that has not one child only.
func (n Node) children() (Map, error) {
	if !n.tmpl.hasChild() {
		return Map{}, nil
	}
	r, err := n.seg.record(n.childAt())
	if err != nil {
		return Map{}, err
	}
	return r.Map()
}

// Child finds a child.
func (n Node) Child(name string) (child Node, ok bool, err error) {
	var r Record
	switch {
	case !n.tmpl.hasChild():
		return child, false, nil
	case n.tmpl.hasOneChild():
		r, ok, err = n.onlyChild(name)
	default:
		var m Map
		if m, err = n.children(); err == nil {
			r, ok, err = m.Get(name)
		}
	}
	if ok && err == nil {
		child, err = r.Node()
	}
	return child, ok && err == nil, err
}

func (n Node) onlyChild(name string) (r Record, ok bool, err error) {
	key, err := n.tmpl.seg.name(n.tmpl.childNameAt())
	if err != nil || compareText(key, name) != 0 {
		return r, false, err
	}
	r, err = n.seg.record(n.childAt())
	return r, err == nil, err
}

// Children goes through the children.
func (n Node) Children() Entries {
	if n.tmpl.hasOneChild() {
		return Entries{leaf: leaf{n.tmpl.seg, n.seg, n.tmpl.childNameAt(), n.childAt(), 0, 1}}
	}
	m, err := n.children()
	if err != nil || m.top.seg == nil {
		return Entries{err: err}
	}
	return m.Entries()
}
