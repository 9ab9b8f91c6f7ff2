// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/fixture"
)

var fixtures = map[string]string{"tiny": "t1", "base": "g1", "extblobs": "e1", "afterGC": "c2", "rollover": "m1"}

// TestFixtures holds what is read from Oak's stores against what another reader of tar files sees, and every archive
// against its segments.
func TestFixtures(t *testing.T) {
	for name, folder := range fixtures {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(fixture.Untar(t, "oak", name+".tar.xz"), folder)
			d, err := archive.Open(dir, &archive.Options{ReadOnly: true})
			must(t, err)
			defer closing(t, d)
			if head, ok := d.Head(); !ok || head.String() != lastHead(t, dir) {
				t.Errorf("head %v, want %s", head, lastHead(t, dir))
			}
			blobs := 0
			for _, a := range d.Archives() {
				r := a.(*archive.Reader)
				must(t, check(r))
				compareTar(t, r)
				compareScan(t, r)
				refs, err := r.BlobReferences()
				must(t, err)
				for _, g := range refs {
					blobs += len(g.Segments)
				}
			}
			if (name == "extblobs") != (blobs > 0) {
				t.Errorf("%d segments refer to binaries outside", blobs)
			}
		})
	}
}

func lastHead(t testing.TB, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "journal.log"))
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	head, _, _ := strings.Cut(lines[len(lines)-1], " ")
	return head
}

// compareTar demands that the index has exactly the segments of the tar file, with their bytes, and in that order.
func compareTar(t testing.TB, r *archive.Reader) {
	t.Helper()
	f, err := os.Open(r.Path())
	must(t, err)
	defer closing(t, f)
	list := entries(r)
	for tr := tar.NewReader(f); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		text, _, _ := strings.Cut(h.Name, ".")
		id, err := segment.ParseID(text)
		if err != nil {
			continue
		}
		data, err := io.ReadAll(tr)
		must(t, err)
		if len(list) == 0 || list[0].ID != id {
			t.Fatalf("%s: %s is not next in the index", r.Name(), h.Name)
		}
		if got, _ := r.Segment(id); !bytes.Equal(got, data) {
			t.Errorf("%s: %s has other bytes", r.Name(), id)
		}
		must(t, r.Verify(id))
		list = list[1:]
	}
	if len(list) > 0 {
		t.Errorf("%s: the index has %d segments more", r.Name(), len(list))
	}
}

// compareScan demands that a scan finds what the index has, and the graph and binary references that are stored.
func compareScan(t testing.TB, r *archive.Reader) {
	t.Helper()
	b, err := os.ReadFile(r.Path())
	must(t, err)
	s := scanBytes(t, b)
	defer closing(t, s)
	sameEntries(t, entries(s), entries(r))
}

func sameEntries(t testing.TB, got, want []archive.Entry) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d entries, want %d", len(got), len(want))
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("entry %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// TestFixturesRecover takes the trailers away from Oak's archives, and opens the store for writing.
func TestFixturesRecover(t *testing.T) {
	for name, folder := range fixtures {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(fixture.Untar(t, "oak", name+".tar.xz"), folder)
			before := map[string][]archive.Entry{}
			graphs := map[string]int{}
			d, err := archive.Open(dir, &archive.Options{ReadOnly: true})
			must(t, err)
			for _, a := range d.Archives() {
				before[a.Name()[:9]] = entries(a)
				g, err := a.Graph()
				must(t, err)
				graphs[a.Name()[:9]] = len(g)
				must(t, os.Chmod(filepath.Join(dir, a.Name()), 0o600))
				must(t, os.Truncate(filepath.Join(dir, a.Name()), a.Size()-1024))
			}
			must(t, d.Close())

			d, err = archive.Open(dir, nil)
			must(t, err)
			defer closing(t, d)
			if head, ok := d.Head(); !ok || head.String() != lastHead(t, dir) {
				t.Errorf("head %v, want %s", head, lastHead(t, dir))
			}
			if n := len(d.Archives()); n != len(before) {
				t.Errorf("%d archives, want %d", n, len(before))
			}
			for _, a := range d.Archives() {
				r := a.(*archive.Reader)
				if r.Scanned() {
					t.Errorf("%s has no index", r.Name())
				}
				must(t, check(r))
				sameEntries(t, entries(r), before[r.Name()[:9]])
				if g, err := r.Graph(); err != nil || len(g) != graphs[r.Name()[:9]] {
					t.Errorf("a graph of %d segments, %v; want %d", len(g), err, graphs[r.Name()[:9]])
				}
			}
		})
	}
}
