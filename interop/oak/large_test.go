// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package oak

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
)

// TestLargeOurs is TestLarge the other way round: Oak reads, checks and compacts what is large and we wrote, over several
// archives.
func TestLargeOurs(t *testing.T) {
	seed, oak, p := newSeed(t), warmed(t), newPlace(t, false, "")
	d, err := archive.Open(p.dir, &archive.Options{Limit: 16 << 20})
	must(t, err)
	store := content.New(d, content.Options{})
	a := &author{t: t, r: rand.New(rand.NewPCG(uint64(seed), 0))}
	opts := segment.Options{Store: store, Sink: d, Generation: generationAfter(t, store)}
	writers := 1 + int(seed&1)
	t.Logf("%d writers", writers)
	a.w, err = storetest.NewWriter(opts, writers)
	must(t, err)
	super := a.node(nil, segment.Child{Name: "root", Node: a.large()})
	must(t, a.w.Flush())
	must(t, d.SetHead(segment.RecordID{}, archive.Revision{ID: super, Time: time.Now()}))
	if n := len(d.Archives()); n < 3 {
		t.Errorf("%d archives", n)
	}
	wantMutual(t, d.Archives(), writers)
	must(t, store.Close())

	p.compareClosed(t, oak, segment.RecordID{})
	p.check(t, oak)
	oak.do(t, "open %s", p)
	oak.do(t, "checkpoint")
	p.change(t, oak, seed, 5)
	p.collect(t, oak, "full", 1, 1)
	oak.do(t, "close")
	p.check(t, oak)
}

// large writes a node with long arrays, long values, and many children.
func (a *author) large() segment.RecordID {
	var fields []segment.Field
	for _, n := range []int{65024, 65025, 65026, 70000} {
		f := segment.Field{Name: fmt.Sprintf("array%d", n), Type: -segment.TypeLong}
		for range n {
			f.Values = append(f.Values, a.value(segment.TypeLong, 0))
		}
		fields = append(fields, f)
	}
	id := got[segment.RecordID](a.t)
	fields = append(fields,
		segment.Field{
			Name: "text", Type: segment.TypeString,
			Values: []segment.RecordID{id(a.w.String(strings.Repeat("länger ", 1<<20)))},
		},
		segment.Field{Name: "binary", Type: segment.TypeBinary, Values: []segment.RecordID{a.binary(40<<20 + 1)}})
	var children []segment.Child
	for _, n := range []int{5001, 100_000} {
		children = append(children, segment.Child{Name: fmt.Sprintf("children%d", n), Node: a.family(n)})
	}
	return a.node(fields, children...)
}

// family writes a node with so many children.
func (a *author) family(n int) segment.RecordID {
	leaf := a.node(a.fields(1))
	children := make([]segment.Child, n)
	for i := range children {
		children[i] = segment.Child{Name: fmt.Sprintf("child %d", a.r.Int64()), Node: leaf}
	}
	return a.node(nil, children...)
}
