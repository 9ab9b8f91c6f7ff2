// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"fmt"
	"log"

	"github.com/holtdb/holt/content/segment"
)

// A tree is read from one of its nodes, which a journal names.
func Example() {
	head, err := segment.ParseRecordID("1f5f0022-09bc-4938-ae1e-e92d8b333d80:8")
	if err != nil {
		log.Fatal(err)
	}
	store, err := smallestStore() // two segments in memory
	if err != nil {
		log.Fatal(err)
	}
	record, err := segment.Find(store, head)
	if err != nil {
		log.Fatal(err)
	}
	node, err := record.Node()
	if err != nil {
		log.Fatal(err)
	}
	if err := list(node, ""); err != nil {
		log.Fatal(err)
	}
	// Output:
	// /root
	// /root/hello
	//   x LONG 42
}

// list prints properties and children.
func list(n segment.Node, path string) error {
	p := n.Properties()
	for p.Next() {
		v, err := p.Value(0)
		if err != nil {
			return err
		}
		text, err := v.Text(1000)
		if err != nil {
			return err
		}
		fmt.Printf("  %s %s %s\n", p.Name, p.Type, text)
	}
	if p.Err() != nil {
		return p.Err()
	}
	c := n.Children()
	for c.Next() {
		child, err := c.Node()
		if err != nil {
			return err
		}
		fmt.Printf("%s/%s\n", path, c.Name)
		if err := list(child, path+"/"+string(c.Name)); err != nil {
			return err
		}
	}
	return c.Err()
}
