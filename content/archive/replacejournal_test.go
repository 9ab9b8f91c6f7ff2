// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
	"github.com/holtdb/holt/internal/file"
)

// journalOf is the journal's text.
func journalOf(revisions []archive.Revision) string {
	var b strings.Builder
	for _, r := range revisions {
		b.WriteString(r.Line())
	}
	return b.String()
}

func TestReplaceJournal(t *testing.T) {
	segments := some(t)
	old := head(segments[3].ID())
	fsys := disk(t, map[string][]byte{
		"data00000a.tar": writeArchive(t, "data00000a.tar", segments...), "manifest": manifest2, "journal.log": []byte(old),
		"journal.log.bak.000": []byte("taken"), "journal.log.tmp": []byte("broken off"), "journal.log.bak.007.tmp": nil,
	})
	d := open(t, fsys, archive.Options{})
	want := []archive.Revision{
		{ID: storetest.Root(segments[2]), Time: time.UnixMilli(17)},
		{ID: storetest.Root(segments[1])},
	}
	backup, err := d.ReplaceJournal(slices.Values(want))
	must(t, err)
	if got := string(readFile(t, fsys, "store/"+backup)); backup != "journal.log.bak.001" || got != old {
		t.Errorf("%s: %q, want %q", backup, got, old)
	}
	if got := string(readFile(t, fsys, "store/journal.log")); got != journalOf(want) {
		t.Errorf("%q, want %q", got, journalOf(want))
	}
	if now, _ := d.Head(); now != want[1].ID {
		t.Errorf("head %v, want %v", now, want[1].ID)
	}
	// The store goes on with it.
	next := archive.Revision{ID: storetest.Root(segments[3]), Time: time.UnixMilli(18)}
	must(t, d.SetHead(want[1].ID, next))
	var got []archive.Revision
	for r, err := range d.Journal() {
		must(t, err)
		got = append([]archive.Revision{r}, got...)
	}
	if journalOf(got) != journalOf(append(want, next)) {
		t.Errorf("journal %q", journalOf(got))
	}
	must(t, d.Close())
	if got := names(t, fsys); got != "data00000a.tar journal.log journal.log.bak.000 journal.log.bak.001 manifest repo.lock" {
		t.Errorf("files %s", got)
	}
	ro := open(t, fsys, archive.Options{ReadOnly: true})
	_, err = ro.ReplaceJournal(slices.Values(want))
	wantErr(t, err, archive.ErrReadOnly)
	must(t, ro.Close())
}

func TestReplaceJournalRefuses(t *testing.T) {
	segments := some(t)
	files := map[string][]byte{
		"data00000a.tar": writeArchive(t, "data00000a.tar", segments...), "manifest": manifest2,
		"journal.log": []byte(head(segments[3].ID())),
	}
	for _, list := range [][]archive.Revision{
		nil,
		{{ID: storetest.Root(segments[1])}, {ID: segment.RecordID{Segment: segment.NewDataID()}}},
		{{ID: storetest.Root(segments[1])}, {ID: segment.RecordID{Segment: segments[1].ID()}}}, // its info
		{{ID: segment.RecordID{Segment: segments[1].ID(), Number: 99}}},
	} {
		fsys := disk(t, files)
		d := open(t, fsys, archive.Options{})
		if _, err := d.ReplaceJournal(slices.Values(list)); err == nil {
			t.Errorf("%v: no error", list)
		}
		must(t, d.Flush())
		if got := string(readFile(t, fsys, "store/journal.log")); got != string(files["journal.log"]) {
			t.Errorf("%v: journal %q", list, got)
		}
		if got := names(t, fsys); got != "data00000a.tar journal.log manifest repo.lock" { // no copy for nothing
			t.Errorf("%v: files %s", list, got)
		}
		// Nothing was touched: the store goes on.
		next := archive.Revision{ID: storetest.Root(segments[1])}
		before, _ := d.Head()
		must(t, d.SetHead(before, next))
		_, err := d.ReplaceJournal(slices.Values([]archive.Revision{next}))
		must(t, errors.Join(err, d.Close()))
	}
	for i := range 1000 {
		files[fmt.Sprintf("journal.log.bak.%03d", i)] = nil
	}
	d := open(t, disk(t, files), archive.Options{})
	_, err := d.ReplaceJournal(slices.Values([]archive.Revision{{ID: storetest.Root(segments[1])}}))
	if err == nil || !strings.Contains(err.Error(), "1000 names") {
		t.Errorf("no name is free: %v", err)
	}
	must(t, errors.Join(d.Flush(), d.Close()))
}

// TestReplaceJournalFails cannot rename the new journal: the old one is closed by then, and nothing more can be added to it.
func TestReplaceJournalFails(t *testing.T) {
	segments := some(t)
	files := map[string][]byte{
		"data00000a.tar": writeArchive(t, "data00000a.tar", segments...), "manifest": manifest2,
		"journal.log": []byte(head(segments[3].ID())),
	}
	d := open(t, stubborn{disk(t, files)}, archive.Options{})
	before, _ := d.Head()
	list := []archive.Revision{{ID: storetest.Root(segments[1])}}
	backup, err := d.ReplaceJournal(slices.Values(list))
	wantErr(t, err, errStubborn)
	if now, _ := d.Head(); backup != "journal.log.bak.000" || now != before {
		t.Errorf("backup %q, head %v", backup, now)
	}
	wantErr(t, d.SetHead(before, list[0]), archive.ErrFailed)
	must(t, d.Close())
}

// stubborn gives no file the name of the journal.
type stubborn struct{ file.FS }

var errStubborn = errors.New("no")

func (s stubborn) Rename(from, to string) error {
	if filepath.Base(to) == "journal.log" {
		return errStubborn
	}
	return s.FS.Rename(from, to)
}

// TestReplaceJournalPowerCut cuts the power at every call: the old journal is there or the new one.
func TestReplaceJournalPowerCut(t *testing.T) {
	segments := some(t)
	var long []archive.Revision
	for i := range 200 { // more than fits into one write
		long = append(long, archive.Revision{ID: storetest.Root(segments[1]), Time: time.UnixMilli(int64(i + 1))})
	}
	for _, old := range []string{"", "rubbish\n", head(segments[3].ID()), journalOf(long)} {
		files := map[string][]byte{
			"data00000a.tar": writeArchive(t, "data00000a.tar", segments...), "manifest": manifest2,
			"journal.log": []byte(old), "repo.lock": nil,
		}
		if old == "" {
			delete(files, "journal.log")
		}
		run := func(fsys file.FS) error {
			d, err := archive.Open("store", &archive.Options{FS: fsys, NoHead: true})
			if err != nil {
				return err
			}
			defer closing(t, d)
			_, err = d.ReplaceJournal(slices.Values(long[1:]))
			return err
		}
		eachCut(t, durable(t, files), run, 5, func(after *file.Crash) {
			got := ""
			if strings.Contains(names(t, after), "journal.log ") {
				got = string(readFile(t, after, "store/journal.log"))
			}
			if got != old && got != journalOf(long[1:]) {
				t.Errorf("journal %q; files: %s", got, names(t, after))
			}
			must(t, run(after))
			if got := string(readFile(t, after, "store/journal.log")); got != journalOf(long[1:]) {
				t.Errorf("journal after another try: %q", got)
			}
		})
	}
}
