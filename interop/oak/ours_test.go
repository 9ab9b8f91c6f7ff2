// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package oak

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/fixture"
)

// TestCopied has Oak go on with what we wrote: a store with the segments and logs of another, in archives of ours.
func TestCopied(t *testing.T) {
	seed, oak, p := newSeed(t), warmed(t), newPlace(t, true, "inline=100 record=5000") // with long ids
	oak.do(t, "open %s", p)
	oak.do(t, "fill content %d", seed)
	oak.do(t, "checkpoint")
	oak.do(t, "full")
	oak.do(t, "change %d 10", seed)
	oak.do(t, "tail")
	oak.do(t, "change %d 10", seed+1)
	oak.do(t, "close")
	ours := newPlace(t, false, p.more)
	ours.blobs = p.blobs
	copyStore(t, p.dir, ours.dir, 1<<20)
	compareLines(t, ours.dump(t, segment.RecordID{}), p.dump(t, segment.RecordID{}))
	ours.exercise(t, oak, seed)
}

// copyStore writes a store with the content of another.
func copyStore(t *testing.T, from, to string, limit int64) {
	t.Helper()
	in, err := archive.Open(from, &archive.Options{ReadOnly: true})
	must(t, err)
	out, err := archive.Open(to, &archive.Options{Limit: limit})
	must(t, err)
	copySegments(t, in, out)
	copyLogs(t, in, out)
	must(t, out.Close())
	must(t, in.Close())
}

func copySegments(t *testing.T, from *archive.Dir, to archive.Store) {
	t.Helper()
	for _, a := range slices.Backward(from.Archives()) {
		for e := range a.Entries() {
			data, _ := a.Segment(e.ID)
			s, err := segment.Parse(e.ID, data)
			must(t, err)
			must(t, to.Append(s))
		}
	}
}

func copyLogs(t *testing.T, from, to archive.Store) {
	t.Helper()
	for _, r := range backward(t, from.Journal()) {
		if _, ok := to.Segment(r.ID.Segment); ok { // not collected
			head, _ := to.Head()
			must(t, to.SetHead(head, r))
		}
	}
	for _, c := range backward(t, from.Collections()) {
		must(t, to.AddCollection(c))
	}
}

// backward collects what goes from the newest to the oldest, oldest first.
func backward[T any](t *testing.T, newestFirst func(yield func(T, error) bool)) []T {
	t.Helper()
	var list []T
	for v, err := range newestFirst {
		must(t, err)
		list = append(list, v)
	}
	slices.Reverse(list)
	return list
}

// TestTiny begins with the smallest store.
func TestTiny(t *testing.T) {
	p := place{dir: filepath.Join(t.TempDir(), "store")}
	must(t, os.CopyFS(p.dir, os.DirFS(filepath.Join("..", "..", "content", "testdata", "tiny"))))
	p.exercise(t, warmed(t), newSeed(t))
}

// TestFixtures has this version of Oak go on with stores of another.
func TestFixtures(t *testing.T) {
	seed, oak := newSeed(t), warmed(t)
	for _, f := range []struct{ name, folder, blobs string }{{"extblobs", "e1", "e1-ds"}, {"afterGC", "c2", ""}} {
		t.Run(f.name, func(t *testing.T) {
			dir := fixture.Untar(t, "oak", f.name+".tar.xz")
			p := place{dir: filepath.Join(dir, f.folder)}
			if f.blobs != "" {
				p.blobs = filepath.Join(dir, f.blobs)
			}
			if os.Getenv("HOLT_LONG") == "1" {
				p.exercise(t, oak, seed)
				return
			}
			p.compareClosed(t, oak, segment.RecordID{})
			p.check(t, oak)
		})
	}
}
