// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"io"
	"strconv"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

func wantNoAllocs(t *testing.T, what string, f func()) {
	t.Helper()
	f() // finds the segments referred to
	if got := testing.AllocsPerRun(20, f); got != 0 {
		t.Errorf("%s: %v allocations", what, got)
	}
}

func TestReadsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too")
	}
	for _, n := range []int{1, 2, 10, 255, 256, 300, 1000, 65026} {
		l := newBuilder(t).openArray(n)
		wantNoAllocs(t, "List.Entry of "+strconv.Itoa(n), func() {
			for i := 0; i < n; i += 1 + n/100 {
				_, err := l.Entry(i)
				must(t, err)
			}
		})
	}
	for _, n := range []int{1, 16, 17, 300, 1000} {
		b := newBuilder(t)
		node := b.openNode(b.wideNode(n))
		names := propertyNames(n)
		wantNoAllocs(t, "Node.Property of "+strconv.Itoa(n), func() {
			for _, name := range names {
				p, ok, err := node.Property(name)
				if !ok || err != nil {
					t.Fatal(ok, err)
				}
				_, err = p.Value(0)
				must(t, err)
			}
			_, _, err := node.Property("é")
			must(t, err)
		})
	}
	for _, n := range []int{1, 2, 33, 3000} {
		b := newBuilder(t)
		names := propertyNames(n)
		node := b.openNode(b.node(nil, b.childrenNamed(names...)...))
		wantNoAllocs(t, "Node.Child of "+strconv.Itoa(n), func() {
			for _, name := range names {
				_, ok, err := node.Child(name)
				if !ok || err != nil {
					t.Fatal(ok, err)
				}
			}
			_, _, err := node.Child("é\U0001F600")
			must(t, err)
		})
	}
}

func TestTraversalDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too")
	}
	b := newBuilder(t)
	node := b.openNode(b.forest())
	wantNoAllocs(t, "a traversal", func() { must(t, new(walk).node(node)) })

	names := propertyNames(100)
	diff := b.diff(names[50], b.node(nil), b.mapOf(b.childrenNamed(names...)))
	m, err := b.open(diff).Map()
	must(t, err)
	wantNoAllocs(t, "Map.Entries", func() {
		c := m.Entries()
		for c.Next() {
		}
		must(t, c.Err())
	})
	v, err := b.open(b.binary(randomBytes(600_000))).Value()
	must(t, err)
	buf := make([]byte, 5000)
	wantNoAllocs(t, "Value.ReadAt", func() {
		_, err := v.ReadAt(buf, 123_456)
		must(t, err)
	})
	wantNoAllocs(t, "Value.WriteTo", func() {
		_, err := v.WriteTo(io.Discard)
		must(t, err)
	})
	stable := b.record(segment.RecordBlock, uint64(1), uint64(2), uint32(3))
	copied := b.openNode(b.record(segment.RecordNode, stable, b.template(nil, nil)))
	wantNoAllocs(t, "Node.StableID", func() {
		_, err := copied.StableID()
		must(t, err)
	})
}
