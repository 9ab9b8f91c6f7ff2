// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/invariant"
)

// TestWalkHardlyAllocates reads every value of four thousand nodes: what is allocated is for the call, not for what is
// read.
func TestWalkHardlyAllocates(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the race detector allocates too")
	}
	s := content.New(wideStore(t, 4000), content.Options{})
	defer func() { must(t, s.Close()) }()
	head, _ := s.Head()
	var read census
	walk := func() {
		read = census{}
		must(t, s.Walk(t.Context(), head, "/", content.WalkOptions{}, read.visit))
	}
	walk() // parses the segments
	if allocs := testing.AllocsPerRun(5, walk); allocs > 10 {
		t.Errorf("%v allocations", allocs)
	}
	if read.nodes != 4001 || read.values != 3*4000 {
		t.Errorf("%d nodes, %d values", read.nodes, read.values)
	}
}

// wideStore has a node with n children, of two properties with three values each.
func wideStore(t *testing.T, n int) archive.Store {
	files, err := new(archive.Memory).Open(false)
	must(t, err)
	w, err := segment.NewWriter(segment.Options{Store: content.New(files, content.Options{}), Sink: files})
	must(t, err)
	id := func(id segment.RecordID, err error) segment.RecordID {
		t.Helper()
		must(t, err)
		return id
	}
	var list []segment.Child
	for i := range n {
		name := "node " + strconv.Itoa(i)
		tag := id(w.String("tag"))
		list = append(list, segment.Child{Name: name, Node: id(w.Node(&segment.Draft{Fields: []segment.Field{
			{Name: "name", Type: segment.TypeString, Values: []segment.RecordID{id(w.String(name))}},
			{Name: "tags", Type: segment.TypeStrings, Values: []segment.RecordID{id(w.Long(int64(i))), tag}},
		}}))})
	}
	children, err := w.Children(list)
	must(t, err)
	head := id(w.Node(&segment.Draft{Children: children}))
	must(t, w.Flush())
	must(t, files.SetHead(segment.RecordID{}, archive.Revision{ID: head, Time: time.Now()}))
	return files
}
