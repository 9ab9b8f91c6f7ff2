// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package oak

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
)

// TestRecovered has Oak go on with stores whose journal was lost, with and without checkpoints, or whose newest archive has
// lost its trailer, after we have recovered them.
func TestRecovered(t *testing.T) {
	seed, oak := newSeed(t), warmed(t)
	for name, lose := range map[string]func(t *testing.T, p place){
		"journal": loseJournal,
		"trailer": loseTrailer,
	} {
		for _, checkpoints := range []bool{true, false} {
			what := name
			if !checkpoints {
				what += " without checkpoints"
			}
			t.Run(what, func(t *testing.T) {
				p := newPlace(t, false, "archive=1")
				oak.do(t, "open %s", p)
				oak.do(t, "fill content %d", seed)
				if checkpoints {
					oak.do(t, "checkpoint")
				}
				oak.do(t, "change %d 5", seed)
				oak.do(t, "full")
				oak.do(t, "change %d 5", seed+1)
				oak.do(t, "close")
				want := p.dump(t, segment.RecordID{})
				lose(t, p)
				compareLines(t, p.dump(t, segment.RecordID{}), want)
				p.extend(t, oak, seed, want)
			})
		}
	}
}

func loseJournal(t *testing.T, p place) {
	t.Helper()
	revisions := p.revisions(t)
	must(t, os.Remove(filepath.Join(p.dir, "journal.log")))
	r, err := content.RecoverJournal(t.Context(), p.dir, content.RecoverOptions{})
	must(t, err)
	if r.Dropped > 0 {
		t.Errorf("%+v", r)
	}
	now := p.revisions(t)
	for _, r := range revisions {
		if !slices.Contains(now, r) {
			t.Errorf("revision %v was not found", r)
		}
	}
}

func loseTrailer(t *testing.T, p place) {
	t.Helper()
	s, shut := p.read(t)
	newest := s.Archives()[0]
	name, size := newest.Name(), newest.Size()
	shut()
	must(t, os.Truncate(filepath.Join(p.dir, name), size-1024))
	list, err := archive.Recover(t.Context(), p.dir, archive.RecoverOptions{})
	must(t, err)
	recovered := 0
	for _, r := range list {
		if r.Damage != nil {
			recovered++
		}
		if len(r.Lost) > 0 {
			t.Errorf("%+v", r)
		}
	}
	if recovered != 1 {
		t.Errorf("%d archives of %d were recovered", recovered, len(list))
	}
}

// TestKilledWithoutJournal loses the journal of a store that Oak was writing to when it was killed: the head that is found
// is the last one that was flushed, or a later one.
func TestKilledWithoutJournal(t *testing.T) {
	seed, p := newSeed(t), newPlace(t, false, "")
	victim := start(t)
	victim.do(t, "open %s", p)
	victim.do(t, "fill content %d", seed)
	victim.do(t, "flush")
	victim.do(t, "change %d 5", seed)
	victim.do(t, "flush")
	flushed := p.revisions(t)[0]
	victim.do(t, "change %d 5", seed+1)
	victim.kill(t)
	loseJournal(t, p)
	if !slices.Contains(p.revisions(t), flushed) {
		t.Errorf("revision %v was not found", flushed)
	}
	p.extend(t, warmed(t), seed, p.dump(t, segment.RecordID{}))
}
