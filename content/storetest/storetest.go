// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package storetest has the tests that every place where content can be kept has to pass: every [archive.Store].
package storetest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
)

// Open opens one store, always the same.
type Open func(readOnly bool) (archive.Store, error)

// TestStore runs the suite. fresh makes a new, empty store, and returns how to open it.
func TestStore(t *testing.T, fresh func(t *testing.T) Open) {
	for name, test := range map[string]func(t *testing.T, f *fixture){
		"Empty":       testEmpty,
		"Segments":    testSegments,
		"Head":        testHead,
		"Conflict":    testConflict,
		"Concurrent":  testConcurrent,
		"Archives":    testArchives,
		"Roll":        testRoll,
		"LateIDs":     testLateIDs,
		"Journal":     testReplaceJournal,
		"Collections": testCollections,
		"Lock":        testLock,
		"ReadOnly":    testReadOnly,
		"Closed":      testClosed,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{T: t, open: fresh(t)}
			f.reopen()
			defer f.close()
			test(t, f)
		})
	}
}

// fixture is a test with its store, which is open for writing.
type fixture struct {
	*testing.T
	archive.Store
	open Open
}

func (f *fixture) reopen() {
	f.Helper()
	f.close()
	s, err := f.open(false)
	f.must(err)
	f.Store = s
}

func (f *fixture) close() {
	f.Helper()
	if f.Store != nil {
		f.must(f.Close())
		f.Store = nil
	}
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) wantErr(err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Errorf("error %v, want %v", err, want)
	}
}

func (f *fixture) add(s *segment.Segment) *segment.Segment {
	f.Helper()
	f.must(f.Append(s))
	return s
}

func (f *fixture) want(segments ...*segment.Segment) {
	f.Helper()
	for _, s := range segments {
		if b, ok := f.Segment(s.ID()); !ok || !bytes.Equal(b, s.Bytes()) {
			f.Errorf("segment %s: found %t, %d bytes; want %d", s.ID(), ok, len(b), len(s.Bytes()))
		}
	}
}

func (f *fixture) wantHead(want segment.RecordID) {
	f.Helper()
	if head, ok := f.Head(); head != want || ok != (want != segment.RecordID{}) {
		f.Errorf("head %s, %t; want %s", head, ok, want)
	}
}

func at(id segment.RecordID, seconds int64) archive.Revision {
	return archive.Revision{ID: id, Time: time.Unix(seconds, 0)}
}

var none segment.RecordID

func testEmpty(t *testing.T, f *fixture) {
	check := func() {
		f.wantHead(none)
		if _, ok := f.Segment(segment.NewDataID()); ok {
			t.Error("a segment that nobody wrote")
		}
		for r, err := range f.Journal() {
			t.Errorf("journal: %v, %v", r, err)
		}
		for c, err := range f.Collections() {
			t.Errorf("garbage collections: %v, %v", c, err)
		}
		if n := len(f.Archives()); n != 0 || f.Version() != 2 {
			t.Errorf("%d archives, version %d", n, f.Version())
		}
	}
	check()
	f.must(f.Flush())
	f.must(f.Roll())
	f.reopen()
	check()
	f.close()
	_, err := f.open(true)
	f.wantErr(err, archive.ErrNoHead)
}

func testSegments(t *testing.T, f *fixture) {
	bulk := f.add(Bulk(t, 5000))
	first := f.add(Sample{References: []segment.ID{bulk.ID()}}.Segment(t))
	full := f.add(Bulk(t, segment.MaxSize))
	tiny := f.add(Bulk(t, 1))
	f.want(bulk, first, full, tiny)
	f.must(f.Flush())
	f.must(f.SetHead(none, at(Root(first), 1)))
	again := Sample{ID: first.ID(), Blobs: []string{"x"}}.Segment(t)
	f.must(f.Append(again)) // replaces it
	f.want(bulk, again, full, tiny)
	f.reopen()
	f.want(bulk, again, full, tiny)
	newest := Sample{ID: first.ID(), Blobs: []string{"another"}}.Segment(t)
	f.must(f.Append(newest)) // the newest archive counts
	f.want(newest)
	f.reopen()
	f.want(newest)
}

func testHead(t *testing.T, f *fixture) {
	var want []archive.Revision
	head := none
	for i := range 5 {
		s := f.add(Sample{}.Segment(t))
		r := at(Root(s), int64(i))
		f.must(f.SetHead(head, r))
		f.must(f.SetHead(r.ID, r)) // the same again is no change
		want = append(want, r)
		head = r.ID
		f.wantHead(head)
		if i%2 == 1 {
			f.reopen()
			f.wantHead(head)
		}
	}
	slices.Reverse(want)
	var got []archive.Revision
	for r, err := range f.Journal() {
		f.must(err)
		got = append(got, r)
	}
	same := func(a, b archive.Revision) bool { return a.ID == b.ID && a.Time.Equal(b.Time) }
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("journal %v, want %v", got, want)
	}
}

func testConflict(t *testing.T, f *fixture) {
	a, b := f.add(Sample{}.Segment(t)), f.add(Sample{}.Segment(t))
	f.must(f.SetHead(none, at(Root(a), 1)))
	f.wantErr(f.SetHead(none, at(Root(b), 2)), archive.ErrConflict)
	f.wantErr(f.SetHead(Root(b), at(Root(b), 2)), archive.ErrConflict)
	testNoHeads(t, f, Root(a))
	f.wantHead(Root(a))
	f.reopen()
	f.wantHead(Root(a))
	f.must(f.SetHead(Root(a), at(Root(b), 4)))
}

// testNoHeads sets as head what cannot be one: errors name it.
func testNoHeads(t *testing.T, f *fixture, head segment.RecordID) {
	lost, bulk := Sample{}.Segment(t), f.add(Bulk(t, 500))
	err := f.SetHead(head, at(Root(lost), 3))
	if e, ok := errors.AsType[*segment.NotFoundError](err); !ok || e.Segment != lost.ID() {
		t.Errorf("a head that is nowhere: error %v", err)
	}
	err = f.SetHead(head, at(segment.RecordID{Segment: head.Segment}, 3))
	f.wantErr(err, archive.ErrHead)
	if want := "record 0 of segment " + head.Segment.String() + " is a VALUE"; err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("a head that is no node: error %v, want %s", err, want)
	}
	for _, s := range []segment.ID{head.Segment, bulk.ID()} {
		err = f.SetHead(head, at(segment.RecordID{Segment: s, Number: 1000}, 3))
		if e, ok := errors.AsType[*segment.CorruptError](err); !ok || e.Segment != s || e.Record != 1000 {
			t.Errorf("a head whose record is not there: error %v", err)
		}
	}
}

// testConcurrent lets several goroutines move the head, each trying until it succeeds.
func testConcurrent(t *testing.T, f *fixture) {
	const writers, each = 4, 10
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				s := Sample{}.Segment(t)
				if err := f.Append(s); err != nil {
					t.Error(err)
					return
				}
				for {
					head, _ := f.Head()
					err := f.SetHead(head, at(Root(s), 1))
					if err == nil {
						break
					}
					if !errors.Is(err, archive.ErrConflict) {
						t.Error(err)
						return
					}
				}
				if b, ok := f.Segment(s.ID()); !ok || !bytes.Equal(b, s.Bytes()) {
					t.Errorf("segment %s is not there", s.ID())
				}
			}
		})
	}
	wg.Wait()
	f.reopen()
	n := 0
	for r, err := range f.Journal() {
		f.must(err)
		if _, ok := f.Segment(r.ID.Segment); !ok {
			t.Errorf("%v is in the journal and not there", r)
		}
		n++
	}
	if n != writers*each {
		t.Errorf("%d lines of the journal, want %d", n, writers*each)
	}
}

func testArchives(t *testing.T, f *fixture) {
	bulk := f.add(Bulk(t, 100))
	old := segment.Generation{Generation: 1, Full: 1, Compacted: true}
	later := segment.Generation{Generation: 2, Full: 1}
	a := f.add(Sample{Generation: later, References: []segment.ID{bulk.ID()}, Blobs: []string{"q", "p", "q"}}.Segment(t))
	b := f.add(Sample{Generation: old, Blobs: []string{"r#5"}}.Segment(t))
	check := func() {
		list := f.Archives()
		if len(list) != 1 {
			t.Fatalf("%d archives", len(list))
		}
		var ids []segment.ID
		for e := range list[0].Entries() {
			ids = append(ids, e.ID)
			if data, ok := list[0].Segment(e.ID); !ok || len(data) != e.Len {
				t.Errorf("%d bytes of segment %s, want %d", len(data), e.ID, e.Len)
			}
			if want := map[segment.ID]segment.Generation{a.ID(): later, b.ID(): old}[e.ID]; e.Generation != want {
				t.Errorf("generation %v, want %v", e.Generation, want)
			}
		}
		if want := []segment.ID{bulk.ID(), a.ID(), b.ID()}; !slices.Equal(ids, want) {
			t.Errorf("segments %v, want %v", ids, want)
		}
		g, err := list[0].Graph()
		if err != nil || len(g) != 1 || g[0].From != a.ID() || !slices.Equal(g[0].To, []segment.ID{bulk.ID()}) {
			t.Errorf("graph %v, %v", g, err)
		}
		refs, err := list[0].BlobReferences()
		if err != nil || len(refs) != 2 || refs[0].Generation != old || refs[1].Generation != later ||
			refs[0].Segments[0].Segment != b.ID() || !slices.Equal(refs[1].Segments[0].IDs, []string{"p", "q"}) {
			t.Errorf("binary references %v, %v", refs, err)
		}
	}
	check()
	f.must(f.SetHead(none, at(Root(b), 1)))
	f.reopen()
	check()
}

func testRoll(t *testing.T, f *fixture) {
	var segments []*segment.Segment
	for range 3 {
		segments = append(segments, f.add(Sample{}.Segment(t)), f.add(Bulk(t, 1000)))
		views := map[segment.ID][]byte{}
		for _, s := range segments {
			views[s.ID()], _ = f.Segment(s.ID())
		}
		before := f.Archives()[0]
		f.must(f.Roll())
		f.must(f.Roll()) // nothing to do
		for _, s := range segments[len(segments)-2:] {
			if b, ok := before.Segment(s.ID()); !ok || !bytes.Equal(b, s.Bytes()) {
				t.Errorf("segment %s, in the archive as it was before: %t, %d bytes", s.ID(), ok, len(b))
			}
		}
		f.want(segments...)
		for _, s := range segments {
			if !bytes.Equal(views[s.ID()], s.Bytes()) {
				t.Errorf("segment %s, as it was read before", s.ID())
			}
		}
	}
	f.must(f.SetHead(none, at(Root(segments[0]), 1)))
	f.reopen()
	f.want(segments...)
	list := f.Archives()
	if len(list) != 3 || list[0].Name() <= list[2].Name() {
		t.Fatalf("archives %v", list)
	}
	if _, ok := list[0].Segment(segments[5].ID()); !ok {
		t.Error("the newest archive does not come first")
	}
	for _, a := range list {
		if a.Size() < 2*1024 {
			t.Errorf("%s: %d bytes", a.Name(), a.Size())
		}
	}
}

func testCollections(t *testing.T, f *fixture) {
	a := archive.Collection{
		Size: 5, Reclaimed: 4, Time: time.UnixMilli(3), Generation: 2, Full: 1, Nodes: 7,
		Root: segment.RecordID{Segment: segment.NewDataID(), Number: 8},
	}
	b := archive.Collection{Size: -1, Reclaimed: -1, Generation: 3, Full: 1, Nodes: -1}
	f.must(f.AddCollection(a))
	f.must(f.AddCollection(b))
	check := func() {
		var got []archive.Collection
		for c, err := range f.Collections() {
			f.must(err)
			got = append(got, c)
		}
		if want := []archive.Collection{b, a}; !slices.Equal(got, want) {
			t.Errorf("garbage collections %+v, want %+v", got, want)
		}
	}
	check()
	f.reopen()
	check()
}

func testLock(t *testing.T, f *fixture) {
	_, err := f.open(false)
	f.wantErr(err, archive.ErrLocked)
	_, err = f.open(false) // the attempt took nothing away
	f.wantErr(err, archive.ErrLocked)
	f.reopen()
}

func testReadOnly(t *testing.T, f *fixture) {
	s := f.add(Sample{}.Segment(t))
	f.must(f.SetHead(none, at(Root(s), 1)))
	r, err := f.open(true) // beside the writer
	f.must(err)
	defer func() { f.must(r.Close()) }()
	if b, ok := r.Segment(s.ID()); !ok || !bytes.Equal(b, s.Bytes()) {
		t.Errorf("segment %s: found %t, %d bytes", s.ID(), ok, len(b))
	}
	if head, ok := r.Head(); !ok || head != Root(s) {
		t.Errorf("head %v, %t", head, ok)
	}
	f.wantErr(r.Append(s), archive.ErrReadOnly)
	f.wantErr(r.Flush(), archive.ErrReadOnly)
	f.wantErr(r.Roll(), archive.ErrReadOnly)
	f.wantErr(r.SetHead(Root(s), at(Root(s), 2)), archive.ErrReadOnly)
	f.wantErr(r.AddCollection(archive.Collection{}), archive.ErrReadOnly)
	f.add(Sample{}.Segment(t)) // the writer does not mind
}

func testClosed(t *testing.T, f *fixture) {
	s := f.add(Sample{}.Segment(t))
	f.must(f.SetHead(none, at(Root(s), 1)))
	closed := f.Store
	f.close()
	f.wantErr(closed.Close(), archive.ErrClosed)
	f.wantErr(closed.Append(s), archive.ErrClosed)
	f.wantErr(closed.Flush(), archive.ErrClosed)
	f.wantErr(closed.Roll(), archive.ErrClosed)
	f.wantErr(closed.SetHead(Root(s), at(Root(s), 2)), archive.ErrClosed)
	f.wantErr(closed.AddCollection(archive.Collection{}), archive.ErrClosed)
	if _, ok := closed.Segment(s.ID()); ok || len(closed.Archives()) != 0 {
		t.Error("segments of a closed store")
	}
	for _, err := range closed.Journal() {
		f.wantErr(err, archive.ErrClosed)
	}
	for _, err := range closed.Collections() {
		f.wantErr(err, archive.ErrClosed)
	}
}
