// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
)

// TestClosed demands an error from a store that was closed, even for what it has read before: the bytes are gone.
func TestClosed(t *testing.T) {
	s, err := content.Open(filepath.Join("testdata", "tiny"), nil)
	must(t, err)
	head, _ := s.Head()
	_, err = s.Root(head)
	must(t, err)
	must(t, s.Close())
	if _, err := s.Root(head); !errors.Is(err, archive.ErrClosed) {
		t.Errorf("error %v", err)
	}
	if _, err := s.Segment(head.Segment); !errors.Is(err, archive.ErrClosed) {
		t.Errorf("error %v", err)
	}
}

// TestCheckSilently checks without being told what is found.
func TestCheckSilently(t *testing.T) {
	s, err := content.Open(filepath.Join("testdata", "tiny"), nil)
	must(t, err)
	report, err := s.Check(t.Context(), content.CheckOptions{Archives: true, Paths: []string{"/root", "/bye"}})
	if err != nil || report.Revisions != 1 || report.Whole != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	must(t, s.Close())
}

// TestArchiveOf demands that an index is asked, not searched: an error may be one of very many.
func TestArchiveOf(t *testing.T) {
	s, err := content.Open(filepath.Join("testdata", "tiny"), nil)
	must(t, err)
	head, _ := s.Head()
	a, e, ok := s.ArchiveOf(head.Segment)
	if !ok || a.Name() != "data00000a.tar" || e.ID != head.Segment || e.Off != 1536 {
		t.Errorf("%v, %+v", ok, e)
	}
	const few = 4 // a list of the entries takes more
	if n := testing.AllocsPerRun(100, func() { _, _, _ = s.ArchiveOf(head.Segment) }); n > few {
		t.Errorf("%v allocations", n)
	}
	must(t, s.Close())
}
