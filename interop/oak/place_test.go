// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package oak

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/blob"
	"github.com/holtdb/holt/content/segment"
)

// A place is where a store is.
type place struct {
	dir   string
	blobs string // where binaries are kept outside; empty if they are not
	more  string // options of Oak's
}

// newPlace is a place without a store as yet.
func newPlace(t *testing.T, outside bool, more string) place {
	t.Helper()
	dir := t.TempDir()
	p := place{dir: filepath.Join(dir, "store"), more: more}
	if outside {
		p.blobs = filepath.Join(dir, "blobs")
	}
	return p
}

// String is what a command of the driver needs to know.
func (p place) String() string {
	s := p.dir
	if p.blobs != "" {
		s += " blobs=" + p.blobs
	}
	if p.more != "" {
		s += " " + p.more
	}
	return s
}

// option is one of Oak's.
func (p place) option(t *testing.T, name string, otherwise int) int {
	t.Helper()
	for word := range strings.FieldsSeq(p.more) {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return got[int](t)(strconv.Atoi(value))
		}
	}
	return otherwise
}

// fileStore is the binaries outside in our way, with the options that Oak has.
func (p place) fileStore(t *testing.T) *blob.FileStore {
	t.Helper()
	return &blob.FileStore{Dir: p.blobs, Inline: cmp.Or(p.option(t, "record", 4096), -1)} // as zero is the default
}

// read opens the store in our way, until the test ends or close is called.
func (p place) read(t *testing.T) (s *content.Store, shut func()) {
	t.Helper()
	s, err := content.Open(p.dir, &content.Options{Blobs: &blob.FileStore{Dir: p.blobs}})
	must(t, err)
	return s, func() { must(t, s.Close()) }
}

// dump is what we read of a revision; the zero id stands for the head.
func (p place) dump(t *testing.T, revision segment.RecordID) []byte {
	t.Helper()
	s, shut := p.read(t)
	defer shut()
	if revision == (segment.RecordID{}) {
		revision, _ = s.Head()
	}
	var out bytes.Buffer
	must(t, s.Dump(t.Context(), &out, revision, "/"))
	return out.Bytes()
}

// fingerprint is the same for the same content, in whatever segments it is.
func (p place) fingerprint(t *testing.T) string {
	t.Helper()
	s, shut := p.read(t)
	defer shut()
	head, _ := s.Head()
	sum, err := s.Fingerprint(t.Context(), head, "/")
	must(t, err)
	return fmt.Sprintf("%x", sum)
}

// compareOpen demands that we read what Oak does of the store it has open, which must be flushed.
func (p place) compareOpen(t *testing.T, oak *process) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "dump")
	oak.do(t, "dump %s", file)
	p.compare(t, file, segment.RecordID{})
}

// compareClosed demands that we read what Oak does of a store that nobody has open.
func (p place) compareClosed(t *testing.T, oak *process, revision segment.RecordID) {
	t.Helper()
	file, name := filepath.Join(t.TempDir(), "dump"), "head"
	if revision != (segment.RecordID{}) {
		name = revision.String()
	}
	oak.do(t, "dumpdir %s %s %s", file, name, p)
	p.compare(t, file, revision)
}

func (p place) compare(t *testing.T, file string, revision segment.RecordID) {
	t.Helper()
	want, err := os.ReadFile(file)
	must(t, err)
	have := p.dump(t, revision)
	if bytes.Count(want, []byte("\n")) < 3 {
		t.Fatalf("Oak's dump is empty: %s", want)
	}
	compareLines(t, have, want)
}

func compareLines(t *testing.T, have, want []byte) {
	t.Helper()
	haveLines, wantLines := bytes.Split(have, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(haveLines), len(wantLines)) {
		if !bytes.Equal(haveLines[i], wantLines[i]) {
			t.Fatalf("line %d of the dump:\nhave %s\nwant %s", i+1, haveLines[i], wantLines[i])
		}
	}
	if len(haveLines) != len(wantLines) {
		t.Fatalf("%d lines in the dump, want %d", len(haveLines), len(wantLines))
	}
}

// check has Oak and us check a store that nobody has open.
func (p place) check(t *testing.T, oak *process) {
	t.Helper()
	oak.do(t, "check %s", p.dir)
	p.checkOurs(t)
}

// checkOurs reads everything in the archives, and of the head and the checkpoints, with binaries.
func (p place) checkOurs(t *testing.T) {
	t.Helper()
	s, shut := p.read(t)
	defer shut()
	found := func(err error) error {
		t.Errorf("check: %v", err)
		return nil
	}
	for _, a := range s.Archives() {
		for err := range a.(*archive.Reader).Check() {
			t.Errorf("check: %v", err)
		}
	}
	report, err := s.Check(t.Context(), content.CheckOptions{Binaries: true, Found: found})
	must(t, err)
	if report.Revisions != 1 || report.Whole != 1 || report.Nodes == 0 || report.Outside != 0 {
		t.Errorf("check: %+v", report)
	}
}

// revisions are those of the journal that are still there, newest first.
func (p place) revisions(t *testing.T) []segment.RecordID {
	t.Helper()
	s, shut := p.read(t)
	defer shut()
	var list []segment.RecordID
	for r, err := range s.Journal() {
		must(t, err)
		if _, err := s.Segment(r.ID.Segment); err == nil {
			list = append(list, r.ID)
		}
	}
	return list
}
