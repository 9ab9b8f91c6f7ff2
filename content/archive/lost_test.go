// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
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
	damaged := func(n int) []byte { tar := bytes.Clone(whole[:n]); tar[2000] ^= 1; return tar }
	zeros := bytes.Clone(whole[:len(whole)-1024])
	clear(zeros[1024:4608])
	part := func(off int, id segment.ID) archive.Part { return archive.Part{Off: int64(off), Segment: id} }
	none := segment.ID{}
	for what, test := range map[string]struct {
		tar           []byte
		older, newest []archive.Part // if there is a newer archive, or not
	}{
		"with index":    {damaged(len(whole)), []archive.Part{part(1024, b.ID())}, []archive.Part{part(1024, b.ID())}},
		"without index": {damaged(len(whole) - 1024), []archive.Part{part(1024, b.ID())}, []archive.Part{part(1024, b.ID())}},
		"zeros": { // an entry of the trailer may belong to what is damaged
			zeros, []archive.Part{part(1024, none), part(len(zeros), none)}, []archive.Part{part(1024, none)},
		},
		"no end":        {whole[:len(whole)-1024], nil, nil},
		"trailer":       {whole[:1024+3584+1024+600], nil, nil},
		"cut off":       {whole[:3000], []archive.Part{part(1024, b.ID()), part(3000, none)}, nil},
		"between":       {whole[:1024], []archive.Part{part(1024, none)}, nil},
		"in a header":   {whole[:1024+100], []archive.Part{part(1024, none), part(1124, none)}, nil},
		"ahead of it":   {whole[:1024+3584+1024], []archive.Part{part(1024+3584+1024, none)}, nil},
		"all but a bit": {whole[:100], []archive.Part{part(0, none), part(100, none)}, nil},
	} {
		for _, newest := range []bool{false, true} {
			files := map[string][]byte{
				"data00000a.tar": test.tar, "manifest": manifest2,
				"data.tar.bak": nil, "data00000a.tar.bak": whole, "data00000a.tar.ro.bak": whole,
			}
			want, backup := test.newest, "data00000a.tar.stopped.bak"
			if !newest {
				files["data00001a.tar"] = writeArchive(t, "data00001a.tar", some(t)...)
				want, backup = test.older, "data00000a.tar.2.bak"
			}
			want = slices.Clone(want)
			for i := range want {
				want[i].File = backup
			}
			for how, run := range map[string]func(fsys file.FS) (lost int){
				"recovery": func(fsys file.FS) int { return len(recoverAll(t, fsys, archive.RecoverOptions{})[0].Lost) },
				"opening": func(fsys file.FS) int {
					must(t, open(t, fsys, archive.Options{NoHead: true}).Close())
					return len(want)
				},
			} {
				if what == "with index" && how == "opening" {
					continue // has nothing to do
				}
				fsys := disk(t, files)
				wantLost(t, fsys, what)
				if n := run(fsys); n != len(want) {
					t.Errorf("%s, newest %t: recovery has lost %d parts, want %d", what, newest, n, len(want))
				}
				wantLost(t, fsys, what+" "+how, want...)
				// Newer archives follow: one has what was lost.
				writeFile(t, fsys, "store/data00002a.tar", writeArchive(t, "data00002a.tar", b))
				wantLost(t, fsys, what+" "+how+", then", slices.DeleteFunc(slices.Clone(want), func(p archive.Part) bool {
					return p.Segment == b.ID()
				})...)
			}
		}
	}
}

// TestLostInCopies has archives of an older number that a cleanup was about to replace when it was stopped: nothing is lost.
// What another program has put aside may have lost its end.
func TestLostInCopies(t *testing.T) {
	whole, newer := writeArchive(t, "data00000a.tar", some(t)...), writeArchive(t, "data00001a.tar", some(t)[1:]...)
	fsys := disk(t, map[string][]byte{
		"data00000a.tar": whole, "data00000b.tar": whole[:600], "data00001a.tar": newer, "manifest": manifest2,
	})
	must(t, open(t, fsys, archive.Options{NoHead: true}).Close())
	wantLost(t, fsys, names(t, fsys))
	writeFile(t, fsys, "store/data00000a.tar.ro.bak", whole[:1536])
	writeFile(t, fsys, "store/data00000a.tar.bak", whole[:1536])
	wantLost(t, fsys, "another's", archive.Part{File: "data00000a.tar.bak", Off: 1536})
}

// TestLostAlone recovers the newest archive, of which nothing is left, and then another one that had been closed.
func TestLostAlone(t *testing.T) {
	whole := writeArchive(t, "data00000a.tar", some(t)...)
	fsys := disk(t, map[string][]byte{
		"data00000a.tar": whole[:1536], "data00001a.tar": whole[:100], "manifest": manifest2,
	})
	recoverAll(t, fsys, archive.RecoverOptions{Archives: []string{"data00001a.tar"}})
	if r := recoverAll(t, fsys, archive.RecoverOptions{}); len(r) != 1 || len(r[0].Lost) != 1 {
		t.Errorf("%+v", r)
	}
	wantLost(t, fsys, "alone", archive.Part{File: "data00000a.tar.bak", Off: 1536})
}

// TestLostPowerCut demands that a recovery which was broken off does not forget what is lost, nor takes the end of a stopped
// writer for a loss.
func TestLostPowerCut(t *testing.T) {
	segments := some(t)
	whole := writeArchive(t, "data00000a.tar", segments...)
	files := map[string][]byte{"data00000a.tar": whole[:1536], "data00001a.tar": whole[:3500], "manifest": manifest2}
	for what, run := range map[string]func(fsys file.FS) error{
		"recovery": func(fsys file.FS) error {
			_, err := archive.Recover(t.Context(), "store", archive.RecoverOptions{FS: fsys})
			return err
		},
		"opening": func(fsys file.FS) error {
			d, err := archive.Open("store", &archive.Options{FS: fsys, NoHead: true})
			if err == nil {
				err = d.Close()
			}
			return err
		},
	} {
		eachCut(t, durable(t, files), run, 10, func(after *file.Crash) {
			for _, again := range []bool{false, true} {
				if again {
					must(t, run(after))
				}
				d := open(t, after, archive.Options{ReadOnly: true, NoHead: true})
				lost, err := d.Lost()
				for _, rerr := range archive.BlobIDs(d.Archives()) {
					err = errors.Join(err, rerr) // it is not recovered yet
				}
				must(t, d.Close())
				switch {
				case err != nil && !again:
				case err != nil, len(lost) != 1, !strings.HasPrefix(lost[0].File, "data00000a.tar"):
					t.Errorf("%s: %s: lost %+v, %v", what, names(t, after), lost, err)
				}
			}
		})
	}
}
