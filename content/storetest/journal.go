// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
)

// testReplaceJournal is for stores whose journal can be replaced.
func testReplaceJournal(t *testing.T, f *fixture) {
	if _, ok := f.Store.(archive.JournalReplacer); !ok {
		t.Skip("the journal of this store cannot be replaced")
	}
	var all []archive.Revision // in the order of writing
	for i := range int64(4) {
		all = append(all, at(Root(f.add(Sample{}.Segment(t))), i+1))
	}
	f.must(f.replaceJournal(all[3])) // there was none
	f.wantJournal(all[3])
	f.must(f.SetHead(all[3].ID, all[0]))
	f.must(f.replaceJournal(all[2], all[0], all[2], all[1])) // in an order of its own, and one twice
	f.wantJournal(all[2], all[0], all[2], all[1])
	testNoJournals(t, f, all[1:]...)
	f.wantJournal(all[2], all[0], all[2], all[1])
	f.wantErr(f.SetHead(all[0].ID, all[3]), archive.ErrConflict)
	f.must(f.SetHead(all[1].ID, all[3]))
	f.wantJournal(all[2], all[0], all[2], all[1], all[3])
	f.reopen()
	f.wantJournal(all[2], all[0], all[2], all[1], all[3])

	r, err := f.open(true)
	f.must(err)
	_, err = r.(archive.JournalReplacer).ReplaceJournal(slices.Values(all))
	f.wantErr(errors.Join(err, r.Close()), archive.ErrReadOnly)
	closed := f.Store
	f.close()
	_, err = closed.(archive.JournalReplacer).ReplaceJournal(slices.Values(all))
	f.wantErr(err, archive.ErrClosed)
}

// testNoJournals tries what cannot be a journal, behind revisions that can be in one.
func testNoJournals(t *testing.T, f *fixture, good ...archive.Revision) {
	before := slices.Clip(good)
	if f.replaceJournal() == nil {
		t.Error("a journal without revisions")
	}
	lost := Sample{}.Segment(t)
	err := f.replaceJournal(append(before, at(Root(lost), 5))...)
	if e, ok := errors.AsType[*segment.NotFoundError](err); !ok || e.Segment != lost.ID() {
		t.Errorf("a revision that is nowhere: error %v", err)
	}
	info := segment.RecordID{Segment: good[0].ID.Segment}
	f.wantErr(f.replaceJournal(append(before, at(info, 5))...), archive.ErrHead)
	f.wantErr(f.replaceJournal(slices.Insert(before, 1, at(info, 5))...), archive.ErrHead)
}

func (f *fixture) replaceJournal(oldestFirst ...archive.Revision) error {
	_, err := f.Store.(archive.JournalReplacer).ReplaceJournal(slices.Values(oldestFirst))
	return err
}

// wantJournal demands revisions, the oldest first, of which the last one is the head.
func (f *fixture) wantJournal(oldestFirst ...archive.Revision) {
	f.Helper()
	var got []archive.Revision
	for r, err := range f.Journal() {
		f.must(err)
		got = append(got, r)
	}
	slices.Reverse(got)
	same := func(a, b archive.Revision) bool { return a.ID == b.ID && a.Time.Equal(b.Time) }
	if !slices.EqualFunc(got, oldestFirst, same) {
		f.Errorf("journal %v, want %v", got, oldestFirst)
	}
	f.wantHead(oldestFirst[len(oldestFirst)-1].ID)
}
