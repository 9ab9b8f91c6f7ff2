// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"bytes"
	"slices"

	"github.com/holtdb/holt/content/segment"
)

// child is a child of a node.
type child struct {
	name []byte
	node segment.Node
}

// sortedChildren are the children of a node by name.
func sortedChildren(n segment.Node) ([]child, error) {
	var list []child
	c := n.Children()
	for c.Next() {
		node, err := c.Node()
		if err != nil {
			return nil, err
		}
		list = append(list, child{c.Name, node})
	}
	slices.SortFunc(list, func(a, b child) int { return bytes.Compare(a.name, b.name) })
	return list, c.Err()
}

// sortedProperties are the properties of a node by name.
func sortedProperties(n segment.Node) ([]segment.Property, error) {
	var list []segment.Property
	p := n.Properties()
	for p.Next() {
		list = append(list, p.Property)
	}
	slices.SortFunc(list, func(a, b segment.Property) int { return bytes.Compare(a.Name, b.Name) })
	return list, p.Err()
}
