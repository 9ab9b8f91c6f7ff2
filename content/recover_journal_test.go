// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
	"github.com/holtdb/holt/internal/file"
)

// TestRecoverUnfound has an old journal that names nodes of which nobody can see that they are super-roots: those newer than
// what is whole are reported.
func TestRecoverUnfound(t *testing.T) {
	var journal []segment.RecordID // the oldest first
	fsys := file.NewMemory()
	a := newScribe(t, fsys)
	set := func(id segment.RecordID) segment.RecordID {
		must(t, a.w.Flush())
		old, _ := a.store.Head()
		must(t, a.store.SetHead(old, archive.Revision{ID: id, Time: time.UnixMilli(int64(len(journal)))}))
		journal = append(journal, id)
		return id
	}
	unreadable := func() segment.RecordID { // its template is none
		s := storetest.Sample{}.Segment(t)
		must(t, a.store.Append(s))
		return set(storetest.Root(s))
	}
	first := set(a.node("root", a.node("a", a.node())))
	unreadable()
	inner := a.node("a", a.node(), "b", a.node())
	second := set(a.node("root", inner))
	newer := []segment.RecordID{unreadable(), set(inner), unreadable()}
	set(newer[0]) // twice
	a.lose()

	for _, tt := range []struct {
		opts          content.RecoverOptions
		left, dropped []segment.RecordID // the newest first
	}{
		{content.RecoverOptions{DryRun: true}, nil, []segment.RecordID{newer[0], newer[2], inner}},
		{
			content.RecoverOptions{Head: first},
			[]segment.RecordID{first},
			[]segment.RecordID{second, newer[0], newer[2], inner, journal[1]},
		},
	} {
		var dropped []segment.RecordID
		reasons := map[segment.RecordID]string{}
		tt.opts.Dropped = func(r archive.Revision, reason error) {
			dropped = append(dropped, r.ID)
			reasons[r.ID] = reason.Error()
		}
		left, err := recoverIn(t, fsys, tt.opts)
		must(t, err)
		if !tt.opts.DryRun && !slices.Equal(left, tt.left) || !slices.Equal(dropped, tt.dropped) {
			t.Errorf("left %v, want %v; dropped %v, want %v", left, tt.left, dropped, tt.dropped)
		}
		for id, want := range map[segment.RecordID]string{newer[0]: "a template passes the end", inner: "no super-root"} {
			if !strings.Contains(reasons[id], want) {
				t.Errorf("%s: %q, want %q", id, reasons[id], want)
			}
		}
	}
}

// TestRecoverNothing has nothing but a node that cannot be read: it is reported all the same.
func TestRecoverNothing(t *testing.T) {
	m := &archive.Memory{}
	files, err := m.Open(false)
	must(t, err)
	s := storetest.Sample{}.Segment(t)
	must(t, errors.Join(files.Append(s), files.SetHead(segment.RecordID{}, archive.Revision{ID: storetest.Root(s)})))
	var dropped []segment.RecordID
	opts := content.RecoverOptions{Dropped: func(r archive.Revision, _ error) { dropped = append(dropped, r.ID) }}
	_, err = content.New(files, content.Options{}).RecoverJournal(t.Context(), opts)
	if !errors.Is(err, content.ErrNoRevision) || !slices.Equal(dropped, []segment.RecordID{storetest.Root(s)}) {
		t.Errorf("dropped %v: %v", dropped, err)
	}
	must(t, files.Close())
}

// TestRecoverMemory recovers the journal of a store without files.
func TestRecoverMemory(t *testing.T) {
	m := &archive.Memory{}
	files, err := m.Open(false)
	must(t, err)
	a, err := newAuthor(files)
	must(t, err)
	leaf := &tree{}
	var want []segment.RecordID // the newest first
	for i := range 3 {
		root := &tree{kids: map[string]*tree{"leaf": leaf, fmt.Sprint("child", i): {}}}
		id, err := a.commit(&tree{kids: map[string]*tree{"root": root}})
		must(t, err)
		want = append([]segment.RecordID{id}, want...)
	}
	must(t, files.SetHead(want[0], archive.Revision{ID: a.known[leaf]}))
	r, err := a.store.RecoverJournal(t.Context(), content.RecoverOptions{})
	must(t, err)
	if r.Head.ID != want[0] || r.Revisions != 3 || r.Dropped != 1 || r.Backup != "" {
		t.Errorf("%+v, want %v", r, want)
	}
	must(t, files.Close())
	files, err = m.Open(true)
	must(t, err)
	var have []segment.RecordID
	for r, err := range files.Journal() {
		must(t, err)
		have = append(have, r.ID)
	}
	if head, _ := files.Head(); head != want[0] || !slices.Equal(have, want) {
		t.Errorf("head %v, journal %v; want %v", head, have, want)
	}
	must(t, files.Close())
}
