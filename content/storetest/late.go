// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
)

// testLateIDs is about ids of binaries that come behind the segments that need them.
func testLateIDs(t *testing.T, f *fixture) {
	for _, c := range []struct {
		name string
		roll bool
	}{{"one archive", false}, {"rolled between", true}} {
		first, second := strings.Repeat("1", 5000)+c.name, strings.Repeat("2", 5000)+c.name
		a := Sample{ID: segment.NewDataID(), Text: first}
		b := Sample{ID: segment.NewDataID(), Text: second}
		user := Sample{
			References: []segment.ID{a.ID, b.ID}, Elsewhere: []int{2, 1, 2}, Blobs: []string{"in line " + c.name},
		}.Segment(t)
		roll := func() {
			if c.roll {
				f.must(f.Roll())
			}
		}
		f.add(user)
		roll()
		f.add(b.Segment(t))
		roll()
		if c.roll { // what is not to be found any more need not be waited for
			lost := Sample{ID: segment.NewDataID(), References: []segment.ID{segment.NewDataID()}, Elsewhere: []int{1}}
			f.add(lost.Segment(t))
			lost.Elsewhere = nil
			f.add(lost.Segment(t))
		}
		f.add(a.Segment(t))
		want := []string{first, second, "in line " + c.name}
		f.wantIDs(user.ID(), want...)
		before := len(f.Archives())
		f.must(f.Roll())
		f.add(Sample{}.Segment(t))
		if n := len(f.Archives()); n != before+1 {
			t.Errorf("%s: %d archives, and then %d", c.name, before, n)
		}
		later := f.add(Sample{References: []segment.ID{a.ID}, Elsewhere: []int{1}}.Segment(t)) // in another archive
		f.wantIDs(later.ID(), first)
		f.must(f.Roll())
		never := f.add(Sample{References: []segment.ID{segment.NewDataID()}, Elsewhere: []int{1}}.Segment(t))
		head, _ := f.Head()
		f.must(f.SetHead(head, at(Root(user), 1)))
		f.reopen()
		f.want(user, later, never)
		f.wantIDs(user.ID(), want...)
		f.wantIDs(later.ID(), first)
		f.wantIDs(never.ID())
		f.wantBlobIDs(append(want, first)...)
	}
}

// wantBlobIDs demands that these ids are among those in use.
func (f *fixture) wantBlobIDs(want ...string) {
	f.Helper()
	var got []string
	for id, err := range archive.BlobIDs(f.Archives()) {
		f.must(err)
		got = append(got, id)
	}
	for _, id := range want {
		i := slices.Index(got, id)
		if i < 0 {
			f.Errorf("in use: %.20q, want %.20q too", got, id)
			continue
		}
		got = slices.Delete(got, i, i+1)
	}
	for _, err := range archive.BlobIDs(f.Archives()) {
		f.must(err)
		break // which must not end in a panic
	}
}

// wantIDs demands the ids of binaries that are recorded of a segment.
func (f *fixture) wantIDs(id segment.ID, want ...string) {
	f.Helper()
	var got []string
	for _, a := range f.Archives() {
		refs, err := a.BlobReferences()
		f.must(err)
		for _, g := range refs {
			for _, s := range g.Segments {
				if s.Segment == id {
					got = append(got, s.IDs...)
				}
			}
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		f.Errorf("ids of binaries of %s: %.20q, want %.20q", id, got, want)
	}
}
