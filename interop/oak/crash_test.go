// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package oak

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
)

// TestOakKilled opens what Oak left when it was killed: what it had flushed is there, whoever recovers the archive.
func TestOakKilled(t *testing.T) {
	seed, p := newSeed(t), newPlace(t, false, "")
	victim := start(t)
	victim.do(t, "open %s", p)
	victim.do(t, "fill content %d", seed)
	victim.do(t, "change %d 5", seed)
	victim.do(t, "flush")
	want := p.dump(t, segment.RecordID{})
	victim.do(t, "change %d 5", seed+1) // which need not survive
	victim.kill(t)
	theirs := place{dir: filepath.Join(t.TempDir(), "theirs")}
	must(t, os.CopyFS(theirs.dir, os.DirFS(p.dir)))

	oak := warmed(t)
	compareLines(t, p.dump(t, segment.RecordID{}), want)
	reopen(t, p.dir)
	p.extend(t, oak, seed, want)
	theirs.extend(t, oak, seed, want)
}

// extend has Oak go on with a store, of which this is the dump.
func (p place) extend(t *testing.T, oak *process, seed int64, dump []byte) {
	t.Helper()
	oak.do(t, "open %s", p)
	p.compareOpen(t, oak)
	compareLines(t, p.dump(t, segment.RecordID{}), dump)
	p.change(t, oak, seed, 5)
	oak.do(t, "close")
	p.check(t, oak)
}

// reopen opens a store for writing and closes it.
func reopen(t *testing.T, dir string) {
	t.Helper()
	d, err := archive.Open(dir, nil)
	must(t, err)
	must(t, d.Close())
}

// TestHoltKilled has Oak open a store that we have not closed.
func TestHoltKilled(t *testing.T) {
	seed, oak, p := newSeed(t), warmed(t), newPlace(t, false, "")
	oak.do(t, "open %s", p)
	oak.do(t, "fill content %d", seed)
	oak.do(t, "close")
	in, err := archive.Open(p.dir, &archive.Options{ReadOnly: true})
	must(t, err)
	defer func() { must(t, in.Close()) }()
	ours, left := newPlace(t, false, ""), newPlace(t, false, "")
	out, err := archive.Open(ours.dir, nil)
	must(t, err)
	defer func() { must(t, out.Close()) }()
	copySegments(t, in, out)
	copyLogs(t, in, out)
	must(t, os.CopyFS(left.dir, os.DirFS(ours.dir)))
	left.extend(t, oak, seed, p.dump(t, segment.RecordID{}))
}

// TestLocked has each side keep the other out of a store that it has open.
func TestLocked(t *testing.T) {
	seed, oak, p := newSeed(t), warmed(t), newPlace(t, false, "")
	oak.do(t, "open %s", p)
	oak.do(t, "change %d 1", seed)
	oak.do(t, "flush")
	oak.do(t, "change %d 1", seed+1)
	oak.do(t, "flush")
	if d, err := archive.Open(p.dir, nil); !errors.Is(err, archive.ErrLocked) {
		t.Errorf("opened beside Oak: %v %v", d, err)
	}
	oak.do(t, "close")

	d, err := archive.Open(p.dir, nil)
	must(t, err)
	revisions := backward(t, d.Journal())
	head, _ := d.Head()
	oak.send(t, "open %s", p)
	answer := make(chan error, 1)
	go func() {
		_, err := oak.answer()
		answer <- err
	}()
	select {
	case err := <-answer:
		t.Fatalf("Oak did not wait for the lock: %v", err)
	case <-time.After(300 * time.Millisecond): // enough to see most of a failure; too little is no failure
	}
	// What Oak sees in the end is what we did while we had the lock.
	older := revisions[len(revisions)-2].ID
	must(t, d.SetHead(head, archive.Revision{ID: older, Time: time.Now()}))
	must(t, d.Close())
	must(t, <-answer)
	p.compareOpen(t, oak)
	if now := p.revisions(t)[0]; now != older {
		t.Errorf("head %v, want %v", now, older)
	}
	oak.do(t, "close")
}
