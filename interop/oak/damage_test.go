// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package oak

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
)

// TestDamaged demands that both checks see when the segment of the head is no segment any more: that a check of theirs
// passes means something.
func TestDamaged(t *testing.T) {
	seed, oak, p := newSeed(t), warmed(t), newPlace(t, false, "")
	oak.do(t, "open %s", p)
	oak.do(t, "change %d 5", seed)
	oak.do(t, "close")
	p.check(t, oak)
	damageHead(t, p)
	oak.send(t, "check %s", p.dir)
	if said, err := oak.answer(); err == nil {
		t.Errorf("Oak sees no damage: %s", said)
	}
	s, shut := p.read(t)
	defer shut()
	found := 0
	report, err := s.Check(t.Context(), content.CheckOptions{Found: func(error) error { found++; return nil }})
	must(t, err)
	if report.Whole != 0 || found == 0 {
		t.Errorf("%+v, %d findings", report, found)
	}
}

const header = 32 // bytes of a segment

// damageHead writes zeros over all but the header of the head's segment.
func damageHead(t *testing.T, p place) {
	t.Helper()
	s, shut := p.read(t)
	head, _ := s.Head()
	a, e, ok := s.ArchiveOf(head.Segment)
	if !ok {
		t.Fatal("no head")
	}
	name := a.(*archive.Reader).Name()
	shut()
	f, err := os.OpenFile(filepath.Join(p.dir, name), os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt(make([]byte, e.Len-header), e.Off+header)
	must(t, err)
	must(t, f.Close())
}
