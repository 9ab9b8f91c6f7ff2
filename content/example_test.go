// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"context"
	"fmt"
	"log"

	"github.com/holtdb/holt/content"
)

// Open a store that Oak wrote, find a node and read a property; then visit all nodes.
func Example() {
	s, err := content.Open("testdata/tiny", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // only read from
	head, _ := s.Head()

	n, err := s.Find(head, "/root/hello")
	if err != nil {
		log.Fatal(err)
	}
	p, ok, err := n.Property("x")
	if err != nil || !ok {
		log.Fatal("no property x: ", err)
	}
	v, err := p.Value(0)
	if err != nil {
		log.Fatal(s.Locate(err))
	}
	text, err := v.Text(1 << 20)
	if err != nil {
		log.Fatal(s.Locate(err))
	}
	fmt.Println("x is", text, "of type", p.Type)

	err = s.Walk(context.Background(), head, "/", content.WalkOptions{}, func(v *content.Visit) error {
		fmt.Printf("%q\n", v.Path)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// x is 42 of type LONG
	// ""
	// "/root"
	// "/root/hello"
}
