// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"testing"

	"github.com/holtdb/holt/bench/content/tree"
)

// TestTree has the digest of a small tree, which measurements must share to be compared.
func TestTree(t *testing.T) {
	h := sha256.New()
	c := census{out: h}
	c.node(tree.Root(10))
	const want = "7560ca32aa4259b46b0c63874051dc95825c0856fcb884b089ee837aa93f721b"
	if have := fmt.Sprintf("%x", h.Sum(nil)); have != want {
		t.Errorf("the digest is %s, want %s", have, want)
	}
	if c.nodes != 10_012 || c.properties/c.nodes != 10 {
		t.Errorf("%d nodes, %d properties, want 10,012 and about ten times that", c.nodes, c.properties)
	}
}

type census struct {
	out               io.Writer
	nodes, properties int
}

func (c *census) node(n tree.Node) {
	var d tree.Draft
	n.Properties(&d)
	c.nodes++
	c.properties += len(d.Properties)
	fmt.Fprintf(c.out, "N %q %d\n", n.Name(), n.Children())
	for _, p := range d.Properties {
		fmt.Fprintf(c.out, "P %q %s %q\n", p.Name, p.Type, p.Values)
	}
	for i := range n.Children() {
		c.node(n.Child(i))
	}
}

func BenchmarkProperties(b *testing.B) {
	var d tree.Draft
	n := tree.Root(1).Child(0).Child(0).Child(7).Child(0).Child(3)
	b.ReportAllocs()
	for b.Loop() {
		n.Properties(&d)
	}
}
