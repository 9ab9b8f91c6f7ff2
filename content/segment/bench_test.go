// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

// BenchmarkListEntry compares the way lists are read with the one that makes a throwaway list per level.
func BenchmarkListEntry(b *testing.B) {
	for _, n := range []int{1, 2, 10, 255, 256, 300, 1000, 65026} {
		l := newBuilder(b).openArray(n)
		for how, entry := range map[string]func(segment.List, int) (segment.Record, error){
			"in place":  segment.List.Entry,
			"throwaway": segment.ThrowawayEntry,
		} {
			b.Run(fmt.Sprintf("%d/%s", n, how), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if _, err := entry(l, i*7919%n); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestThrowaway makes sure that the two that are compared do the same.
func TestThrowaway(t *testing.T) {
	for _, n := range []int{1, 2, 255, 256, 300, 1000, 65026} {
		l := newBuilder(t).openArray(n)
		for i := 0; i < n; i += 1 + n/500 {
			want, err := l.Entry(i)
			must(t, err)
			if have, err := segment.ThrowawayEntry(l, i); err != nil || have != want {
				t.Fatalf("entry %d of %d: %v, want %v: %v", i, n, have.ID(), want.ID(), err)
			}
		}
	}
}

// propertyNames is names of n properties.
func propertyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "property" + strconv.Itoa(i)
	}
	return names
}

// wideNode has n properties of type STRING, whose values are their names.
func (b *builder) wideNode(n int) segment.RecordID {
	var props []property
	for _, name := range propertyNames(n) {
		props = append(props, property{name, segment.TypeString, []string{name}})
	}
	return b.node(props)
}

// BenchmarkProperty reads one of n properties by name and its value.
func BenchmarkProperty(b *testing.B) {
	for _, n := range []int{1, 4, 10, 18, 100, 1000} {
		build := newBuilder(b)
		node := build.openNode(build.wideNode(n))
		names := propertyNames(n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p, ok, err := node.Property(names[i*7%n])
				if !ok || err != nil {
					b.Fatal(ok, err)
				}
				if _, err := p.Value(0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPropertySearch is where the number comes from up to which names are scanned.
func BenchmarkPropertySearch(b *testing.B) {
	for _, n := range []int{2, 4, 8, 12, 16, 24, 32} {
		build := newBuilder(b)
		tmpl := build.openNode(build.wideNode(n)).Template()
		names := propertyNames(n)
		for how, find := range map[string]func(segment.Template, string) (int, bool, error){
			"scan":   segment.Template.Scan,
			"search": segment.Template.Search,
		} {
			b.Run(fmt.Sprintf("%d/%s", n, how), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					if _, ok, err := find(tmpl, names[i*7%n]); !ok || err != nil {
						b.Fatal(ok, err)
					}
				}
			})
		}
	}
}

// BenchmarkChild reads one of n children by name.
func BenchmarkChild(b *testing.B) {
	for _, n := range []int{1, 2, 32, 100, 5000} {
		build := newBuilder(b)
		var children []child
		for _, name := range propertyNames(n) {
			children = append(children, child{name, build.node(nil)})
		}
		node := build.openNode(build.node(nil, children...))
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, ok, err := node.Child(children[i*7%n].name); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

// forest is a tree of 1 + 20 + 400 + 8000 nodes with ten properties of several types each.
func (b *builder) forest() segment.RecordID {
	level := make([]segment.RecordID, 8000)
	for i := range level {
		level[i] = b.node(b.forestProperties(i))
	}
	for len(level) > 1 {
		var above []segment.RecordID
		for at := 0; at < len(level); at += 20 {
			var children []child
			for i, id := range level[at:min(at+20, len(level))] {
				children = append(children, child{"node-" + strconv.Itoa(i), id})
			}
			above = append(above, b.node(b.forestProperties(at), children...))
		}
		level = above
	}
	return level[0]
}

func (b *builder) forestProperties(i int) []property {
	n := strconv.Itoa(i)
	return []property{
		{"jcr:primaryType", segment.TypeName, []string{"nt:unstructured"}},
		{"jcr:mixinTypes", segment.TypeNames, []string{"mix:title", "mix:created"}},
		{"jcr:title", segment.TypeString, []string{"the title of node " + n}},
		{"jcr:created", segment.TypeDate, []string{"2024-10-24T13:55:19.000+01:00"}},
		{"count", segment.TypeLong, []string{n}},
		{"tags", segment.TypeStrings, []string{"tag" + n, "tag", "more"}},
		{"ratio", segment.TypeDouble, []string{"0." + n}},
		{"hidden", segment.TypeBoolean, []string{"false"}},
		{"text", segment.TypeString, []string{"some longer text; node " + n + " has its own; it is in line, as most are"}},
		{"data", segment.TypeBinary, []string{"binary " + n}},
	}
}

// walk counts nodes and properties, and the bytes of all values in line.
type walk struct{ nodes, properties, bytes int }

func (w *walk) node(n segment.Node) error {
	w.nodes++
	p := n.Properties()
	for p.Next() {
		w.properties++
		for i := range p.Count() {
			v, err := p.Value(i)
			if err != nil {
				return err
			}
			if b, ok := v.Bytes(); ok {
				w.bytes += len(b)
			}
		}
	}
	if p.Err() != nil {
		return p.Err()
	}
	c := n.Children()
	for c.Next() {
		child, err := c.Node()
		if err == nil {
			err = w.node(child)
		}
		if err != nil {
			return err
		}
	}
	return c.Err()
}

// BenchmarkTraversal reads every property of every node.
func BenchmarkTraversal(b *testing.B) {
	build := newBuilder(b)
	node := build.openNode(build.forest())
	b.ReportAllocs()
	var w walk
	for b.Loop() {
		w = walk{}
		must(b, w.node(node))
	}
	seconds := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(float64(w.nodes)/seconds, "nodes/s")
	b.ReportMetric(float64(w.properties)/seconds, "properties/s")
}
