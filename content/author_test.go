// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
)

// author writes trees into a store.
type author struct {
	files  archive.Store
	store  *content.Store
	writer storetest.Writer
	known  map[*tree]segment.RecordID // those that are in the store
	pause  func() error               // is called between nodes
}

func newAuthor(files archive.Store) (*author, error) { return newAuthorOf(files, nil, 1) }

// newAuthorOf is newAuthor with a choice of ids, and with several writers that take turns perhaps.
func newAuthorOf(files archive.Store, ids *segment.IDs, writers int) (*author, error) {
	s := content.New(files, content.Options{Blobs: blobs{}})
	w, err := storetest.NewWriter(segment.Options{Store: s, Sink: files, Name: "init", IDs: ids}, writers)
	return &author{files, s, w, map[*tree]segment.RecordID{}, func() error { return nil }}, err
}

// seededIDs are the same for the same seed.
func seededIDs(seed uint64) *segment.IDs {
	r := rand.New(rand.NewPCG(seed, 0))
	return &segment.IDs{New: func(bulk bool) segment.ID {
		kind := uint64(0xA)
		if bulk {
			kind = 0xB
		}
		return segment.ID{MSB: r.Uint64()&^0xF000 | 0x4000, LSB: r.Uint64()>>4 | kind<<60}
	}}
}

// commit makes a tree the content of the head.
func (a *author) commit(n *tree) (segment.RecordID, error) {
	id, err := a.write(n)
	if err != nil {
		return id, err
	}
	if err := a.writer.Flush(); err != nil {
		return id, err
	}
	old, _ := a.files.Head()
	return id, a.files.SetHead(old, archive.Revision{ID: id})
}

// write writes what is new in a tree.
func (a *author) write(n *tree) (segment.RecordID, error) {
	if id, ok := a.known[n]; ok {
		return id, nil
	}
	d := segment.Draft{}
	var err error
	if d.Children, err = a.children(n); err != nil {
		return segment.RecordID{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(n.props)) {
		f, err := a.field(name, n.props[name])
		if err != nil {
			return segment.RecordID{}, err
		}
		d.Fields = append(d.Fields, f)
	}
	id, err := a.writer.Node(&d)
	if err == nil {
		a.known[n] = id
		err = a.pause()
	}
	return id, err
}

// children writes all children, or those that are not what they were before.
func (a *author) children(n *tree) (segment.Children, error) {
	before := map[string]*tree{}
	base, update := segment.RecordID{}, false
	if n.from != nil {
		if base, update = a.known[n.from]; update {
			before = n.from.kids
		}
	}
	var changes []segment.Child
	for _, name := range slices.Sorted(maps.Keys(n.kids)) {
		if n.kids[name] == before[name] {
			continue
		}
		id, err := a.write(n.kids[name])
		if err != nil {
			return segment.Children{}, err
		}
		changes = append(changes, segment.Child{Name: name, Node: id})
	}
	for name := range before {
		if n.kids[name] == nil {
			changes = append(changes, segment.Child{Name: name})
		}
	}
	if !update {
		return a.writer.Children(changes)
	}
	node, err := a.node(base)
	if err != nil {
		return segment.Children{}, err
	}
	return a.writer.UpdateChildren(node, changes)
}

func (a *author) node(id segment.RecordID) (segment.Node, error) {
	r, err := segment.Find(a.writer, id)
	if err != nil {
		return segment.Node{}, err
	}
	return r.Node()
}

func (a *author) field(name string, p property) (segment.Field, error) {
	f := segment.Field{Name: name, Type: p.typ}
	for _, text := range p.values {
		var id segment.RecordID
		var err error
		switch {
		case p.outside:
			id, err = a.writer.BlobID(text)
		case p.typ.Base() == segment.TypeBinary:
			id, err = a.writer.Binary(strings.NewReader(text))
		default:
			id, err = a.writer.String(text)
		}
		if err != nil {
			return f, err
		}
		f.Values = append(f.Values, id)
	}
	return f, nil
}

// learn notes that a tree is in the store.
func (a *author) learn(t testing.TB, n *tree, node segment.Node) {
	t.Helper()
	if _, ok := a.known[n]; ok {
		return
	}
	a.known[n] = node.ID()
	for name, kid := range n.kids {
		child, ok, err := node.Child(name)
		if !ok || err != nil {
			t.Fatalf("child %q: %t, %v", name, ok, err)
		}
		a.learn(t, kid, child)
	}
}

// compare demands that a node is the tree: by all ways there are to read it.
func (n *tree) compare(t testing.TB, s *content.Store, revision segment.RecordID, workers int) {
	t.Helper()
	want := n.paths("", map[string]*tree{})
	seen := make(chan visited, 64)
	done := make(chan error, 1)
	go func() {
		opts := content.WalkOptions{Workers: workers, Sorted: workers%2 == 1}
		done <- s.Walk(t.Context(), revision, "/", opts, func(v *content.Visit) error {
			seen <- visited{string(v.Path), v.Node}
			return nil
		})
		close(seen)
	}()
	count := 0
	compared := map[segment.RecordID]*tree{} // those that are in several places need it once
	var errs []error
	for v := range seen {
		count++
		model := want[v.path]
		if model == nil {
			errs = append(errs, errors.New("node "+v.path+" should not be there"))
			continue
		}
		if compared[v.node.ID()] != model {
			compared[v.node.ID()] = model
			errs = append(errs, model.equal(s, v.node))
		}
		found, err := s.Find(revision, v.path)
		if err != nil || found.ID() != v.node.ID() {
			errs = append(errs, errors.Join(errors.New("find "+v.path+" finds another node"), err))
		}
	}
	if err := errors.Join(append(errs, <-done)...); err != nil || count != len(want) {
		t.Fatalf("revision %s: %d nodes, want %d: %.2000v", revision, count, len(want), err)
	}
}

type visited struct {
	path string
	node segment.Node
}
