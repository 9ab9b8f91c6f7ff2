// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import "slices"

// A Child is a node to be, or to replace, a child. Among changes the zero id takes the child away.
type Child struct {
	Name string
	Node RecordID
}

// Children writes the children of a node, of different names.
func (w *Writer) Children(children []Child) (Children, error) {
	switch len(children) {
	case 0:
		return Children{}, nil
	case 1:
		return Children{1, children[0].Name, children[0].Node}, nil
	}
	id, err := w.Map(children)
	return Children{len(children), "", id}, err
}

// UpdateChildren writes the children of a node with changes, of different names. The base must not be of an older
// generation.
func (w *Writer) UpdateChildren(base Node, changes []Child) (Children, error) {
	if base.tmpl.hasOneChild() || !base.tmpl.hasChild() {
		kept, err := survivors(base, changes)
		if err != nil {
			return Children{}, err
		}
		return w.Children(kept)
	}
	m, err := base.children()
	if err != nil {
		return Children{}, err
	}
	size := m.Len()
	for _, c := range changes {
		_, there, err := m.Get(cleanText(c.Name))
		if err != nil {
			return Children{}, err
		}
		if there != c.present() {
			size += c.weight()
		}
	}
	if size > 1 {
		id, err := w.UpdateMap(m, changes)
		return Children{size, "", id}, err
	}
	kept, err := survivors(base, changes)
	if err != nil {
		return Children{}, err
	}
	return w.Children(kept)
}

func (c Child) present() bool { return c.Node != RecordID{} }

// weight is by how much a change alters the number of children, if it does.
func (c Child) weight() int {
	if c.present() {
		return 1
	}
	return -1
}

// survivors is the children that there are after changes; it is for few.
func survivors(base Node, changes []Child) ([]Child, error) {
	changed := make(map[string]bool, len(changes))
	kept := slices.DeleteFunc(slices.Clone(changes), func(c Child) bool { return !c.present() })
	for _, c := range changes {
		changed[cleanText(c.Name)] = true
	}
	c := base.Children()
	for c.Next() {
		if name := cleanText(string(c.Name)); !changed[name] {
			kept = append(kept, Child{name, c.Value.ID()})
		}
	}
	return kept, c.Err()
}
