// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/file"
)

// TestVector writes the segments of an archive of Oak's, and gets that archive, byte for byte.
func TestVector(t *testing.T) {
	want := tiny(t)["data00000a.tar"]
	r, err := openBytes(t, want)
	must(t, err)
	defer closing(t, r)
	var times []time.Time
	for _, at := range []int{0, 1024, 2048, 3072, 4096} { // where the headers are
		seconds, err := strconv.ParseInt(string(want[at+136:at+147]), 8, 64)
		must(t, err)
		times = append(times, time.Unix(seconds, 0))
	}
	fsys := file.NewMemory()
	w, err := archive.CreateWriter(fsys, "data00000a.tar", func() time.Time {
		now := times[0]
		times = times[1:]
		return now
	})
	must(t, err)
	for e := range r.Entries() {
		data, _ := r.Segment(e.ID)
		s, err := segment.Parse(e.ID, data)
		must(t, err)
		must(t, w.Append(s))
	}
	must(t, errors.Join(w.Close(), w.Unmap()))
	got := readFile(t, fsys, "data00000a.tar")
	if !bytes.Equal(got, want) {
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("%d bytes, want %d; they differ at %d", len(got), len(want), i)
			}
		}
		t.Fatalf("%d bytes, want %d", len(got), len(want))
	}
}

func TestVectorStore(t *testing.T) {
	d, err := archive.Open(filepath.Join("..", "testdata", "tiny"), &archive.Options{ReadOnly: true})
	must(t, err)
	defer closing(t, d)
	head, ok := d.Head()
	if !ok || head.String() != "1f5f0022-09bc-4938-ae1e-e92d8b333d80:8" {
		t.Errorf("head %v, %t", head, ok)
	}
	for r, err := range d.Journal() {
		if err != nil || r.ID != head || r.Time.UnixMilli() != 1796041572123 {
			t.Errorf("journal: %v, %v", r, err)
		}
	}
	list := entries(d.Archives()[0])
	if len(list) != 2 || list[0].Off != 512 || list[0].Len != 192 || list[1].Off != 1536 || list[1].Len != 288 {
		t.Errorf("entries %v", list)
	}
	g, err := d.Archives()[0].Graph()
	if err != nil || len(g) != 1 || g[0].From != list[1].ID || len(g[0].To) != 1 || g[0].To[0] != list[0].ID {
		t.Errorf("graph %v, %v", g, err)
	}
	must(t, check(d.Archives()[0].(*archive.Reader)))
}
