// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
	"github.com/holtdb/holt/internal/file"
)

// wantLost demands that segments are lost for ever, whose parts are in the given files.
func wantLost(t *testing.T, fsys file.FS, what string, want ...archive.Part) {
	t.Helper()
	d := open(t, fsys, archive.Options{ReadOnly: true, NoHead: true})
	got, err := d.Lost()
	must(t, err)
	same := func(a, b archive.Part) bool { return a.File == b.File && a.Off == b.Off && a.Segment == b.Segment }
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("%s: lost %+v, want %+v", what, got, want)
	}
	must(t, d.Close())
	_, err = d.Lost()
	wantErr(t, err, archive.ErrClosed)
}

func TestLost(t *testing.T) {
	a, b, c := storetest.Sample{}.Segment(t), storetest.Bulk(t, 3000), storetest.Sample{}.Segment(t)
	whole := writeArchive(t, "data00000a.tar", a, b, c)
	for what, test := range map[string]struct {
		damage func(tar []byte) []byte
		lost   segment.ID
		parts  int
	}{
		"with index":    {func(tar []byte) []byte { tar[2000] ^= 1; return tar }, b.ID(), 1},
		"without index": {func(tar []byte) []byte { tar[2000] ^= 1; return tar[:len(tar)-1024] }, b.ID(), 1},
		"zeros":         {func(tar []byte) []byte { clear(tar[1024:4608]); return tar[:len(tar)-1024] }, segment.ID{}, 1},
		"no end":        {func(tar []byte) []byte { return tar[:len(tar)-1024] }, segment.ID{}, 0},
		"cut off":       {func(tar []byte) []byte { return tar[:3000] }, segment.ID{}, 0}, // as by a crash
	} {
		fsys := disk(t, map[string][]byte{
			"data00000a.tar": test.damage(bytes.Clone(whole)), "data00001a.tar": writeArchive(t, "data00001a.tar", some(t)...),
			"manifest": manifest2, "data.tar.bak": nil, "data00000a.tar.bak": whole, "data00000a.tar.ro.bak": whole,
		})
		wantLost(t, fsys, what)
		recoverAll(t, fsys, archive.RecoverOptions{})
		want := archive.Part{File: "data00000a.tar.2.bak", Off: 1024, Segment: test.lost}
		wantLost(t, fsys, what, slices.Repeat([]archive.Part{want}, test.parts)...)
		if test.lost != (segment.ID{}) { // it turns up again
			writeFile(t, fsys, "store/data00002a.tar", writeArchive(t, "data00002a.tar", b))
			wantLost(t, fsys, what)
		}
	}
}
