// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package oak

import (
	"bytes"
	"cmp"
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

// TestTurns has both sides write one store in turns, beginning with us.
func TestTurns(t *testing.T) {
	seed, oak := newSeed(t), warmed(t)
	for name, p := range map[string]place{
		"inside": newPlace(t, false, ""), "outside": newPlace(t, true, ""),
		"ids": newPlace(t, true, "inline=100 record=5000"),
	} {
		t.Run(name, func(t *testing.T) {
			for turn := range int64(2) {
				p.write(t, seed+turn, 1+int(turn)) // with two writers the second time
				p.compareClosed(t, oak, segment.RecordID{})
				p.check(t, oak)
				oak.do(t, "open %s", p)
				oak.do(t, "checkpoint")
				p.change(t, oak, seed+turn, 5)
				if turn == 0 {
					p.collect(t, oak, "full", 1, 1)
				} else {
					p.collect(t, oak, "tail", 1, 0)
				}
				oak.do(t, "close")
			}
			p.write(t, seed+2, 2)
			p.afterlife(t, oak)
		})
	}
}

// write adds a random tree to the content, or makes the store with one. So many writers take turns: with several, open
// segments refer to each other.
func (p place) write(t *testing.T, seed int64, writers int) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	p.add(t, r, writers, func(a *author) segment.RecordID { return a.tree(1) })
	s, shut := p.read(t)
	defer shut()
	wantMutual(t, s.Archives()[:1], writers)
}

// wantMutual demands segments that refer to each other if there are several writers.
func wantMutual(t *testing.T, archives []archive.Archive, writers int) {
	t.Helper()
	pairs := 0
	for _, a := range archives {
		pairs += got[int](t)(storetest.Mutual(a))
	}
	if (pairs > 0) != (writers > 1) {
		t.Errorf("%d pairs of segments refer to each other; %d writers", pairs, writers)
	}
}

// add adds a node to the content, or makes the store with one.
func (p place) add(t *testing.T, r *rand.Rand, writers int, write func(a *author) segment.RecordID) {
	t.Helper()
	d, err := archive.Open(p.dir, nil)
	must(t, err)
	store := content.New(d, content.Options{})
	head, _ := store.Head()
	a := &author{t: t, r: r}
	opts := segment.Options{Store: store, Sink: d, Generation: generationAfter(t, store)}
	if p.blobs != "" {
		opts.Outside, opts.Threshold = p.fileStore(t), cmp.Or(p.option(t, "inline", 16512), -1)
	}
	a.w, err = storetest.NewWriter(opts, writers)
	must(t, err)
	super := a.update(store, head, segment.Child{Name: fmt.Sprintf("ours%d", r.Uint32()), Node: write(a)})
	must(t, a.w.Flush())
	must(t, d.SetHead(head, archive.Revision{ID: super, Time: time.Now()}))
	must(t, store.Close())
}

// generationAfter is that of what is written on top of the head.
func generationAfter(t *testing.T, store *content.Store) segment.Generation {
	t.Helper()
	head, ok := store.Head()
	if !ok {
		return segment.Generation{}
	}
	s, err := store.Segment(head.Segment)
	must(t, err)
	g := s.Generation()
	g.Compacted = false
	return g
}

// An author writes random content.
type author struct {
	t *testing.T
	w storetest.Writer
	r *rand.Rand
}

// got unpacks results of the writer.
func got[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		must(t, err)
		return v
	}
}

// update writes the super-root on top of a head, with a child more in the content.
func (a *author) update(store *content.Store, head segment.RecordID, c segment.Child) segment.RecordID {
	if head == (segment.RecordID{}) {
		return a.node(nil, segment.Child{Name: "root", Node: a.node(nil, c)})
	}
	root := a.replace(got[segment.Node](a.t)(store.Find(head, "/root")), c)
	return a.replace(got[segment.Node](a.t)(store.Root(head)), segment.Child{Name: "root", Node: root})
}

// replace writes a node again with another child.
func (a *author) replace(n segment.Node, c segment.Child) segment.RecordID {
	var d segment.Draft
	for i := range n.PropertyCount() {
		d.Fields = append(d.Fields, got[segment.Field](a.t)(a.w.Field(n, i)))
	}
	d.Children = got[segment.Children](a.t)(a.w.UpdateChildren(n, []segment.Child{c}))
	return got[segment.RecordID](a.t)(a.w.Node(&d))
}

func (a *author) node(fields []segment.Field, children ...segment.Child) segment.RecordID {
	c := got[segment.Children](a.t)(a.w.Children(children))
	return got[segment.RecordID](a.t)(a.w.Node(&segment.Draft{Fields: fields, Children: c}))
}

var (
	childCounts    = []int{0, 1, 2, 3, 32, 33, 64, 300}
	propertyCounts = []int{0, 1, 2, 5, 20, 255, 256, 511}
	valueCounts    = []int{0, 1, 2, 254, 255, 256, 257, 511}
	lengths        = []int{0, 100, 127, 128, 2046, 4096, 5000, 16511, 16512, 33024, 262144}
	oddNames       = []string{"a\x00b", " ", "\U0001F600", "\uFFFD", "\uFFFF", ":hidden", "jcr:x", "é", "..", `"`, "\n"}
)

// tree writes a node with children, of which one is of each kind there is.
func (a *author) tree(depth int) segment.RecordID {
	var children []segment.Child
	for i := range pick(a.r, childCounts) {
		c := segment.Child{Name: fmt.Sprintf("%s%d", pick(a.r, oddNames), i), Node: a.node(a.fields(a.r.IntN(3)))}
		if i == 0 {
			c = segment.Child{Name: pick(a.r, oddNames), Node: a.colliding()}
		}
		children = append(children, c)
	}
	if depth > 0 {
		for i := range 3 {
			children = append(children, segment.Child{Name: fmt.Sprintf("tree%d", i), Node: a.tree(depth - 1)})
		}
	}
	return a.node(a.fields(pick(a.r, propertyCounts)), children...)
}

// colliding writes a node with children whose names have one hash.
func (a *author) colliding() segment.RecordID {
	leaf := a.node(nil)
	var children []segment.Child
	for bits := range 1 << (2 + a.r.IntN(5)) {
		name := strings.NewReplacer("0", "Aa", "1", "BB").Replace(fmt.Sprintf("%06b", bits))
		children = append(children, segment.Child{Name: name, Node: leaf})
	}
	return a.node(nil, children...)
}

// fields writes the values of properties.
func (a *author) fields(count int) []segment.Field {
	var fields []segment.Field
	for i := range count {
		f := segment.Field{Name: fmt.Sprintf("%s%d", pick(a.r, oddNames), i), Type: segment.Type(1 + a.r.IntN(12))}
		f.Values = []segment.RecordID{a.value(f.Type, a.length(count))}
		if a.r.IntN(8) == 0 {
			f.Values = nil
			for range pick(a.r, valueCounts) {
				f.Values = append(f.Values, a.value(f.Type, a.r.IntN(30)))
			}
			f.Type = -f.Type
		}
		fields = append(fields, f)
	}
	if a.r.IntN(2) == 0 {
		fields = append(fields, segment.Field{
			Name: "jcr:primaryType", Type: segment.TypeName,
			Values: []segment.RecordID{got[segment.RecordID](a.t)(a.w.String("nt:unstructured"))},
		})
	}
	return fields
}

// length is small mostly, and if there are few properties otherwise about one where something changes.
func (a *author) length(properties int) int {
	if properties > 20 || a.r.IntN(4) > 0 {
		return a.r.IntN(40)
	}
	return max(0, pick(a.r, lengths)-1+a.r.IntN(3))
}

func (a *author) value(typ segment.Type, length int) segment.RecordID {
	value := got[segment.RecordID](a.t)
	switch typ {
	case segment.TypeBinary:
		return a.binary(length)
	case segment.TypeLong:
		return value(a.w.Long(a.r.Int64() >> a.r.IntN(64)))
	case segment.TypeDouble:
		return value(a.w.Double(float64(a.r.IntN(1e6)) / 8)) // of the others, Java 17 prints some with more digits
	case segment.TypeBoolean:
		return value(a.w.Boolean(a.r.IntN(2) == 0))
	case segment.TypeDecimal: // as Java prints it: Oak's compaction writes the text of others anew
		return value(a.w.String(fmt.Sprintf("%d.%d", a.r.Int64(), a.r.Uint32())))
	case segment.TypeDate:
		return value(a.w.String(time.UnixMilli(a.r.Int64N(1 << 42)).UTC().Format("2006-01-02T15:04:05.000Z07:00")))
	}
	return value(a.w.String(strings.Repeat(string(rune('a'+a.r.IntN(26))), length)))
}

// binary writes a binary: outside if there is a place for it and Oak would do so too.
func (a *author) binary(length int) segment.RecordID {
	b := make([]byte, length)
	for i := range b {
		b[i] = byte(a.r.Uint32())
	}
	return got[segment.RecordID](a.t)(a.w.Binary(bytes.NewReader(b)))
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
