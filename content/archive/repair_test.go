// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
	"github.com/holtdb/holt/internal/file"
)

func TestTwins(t *testing.T) {
	files := tiny(t)
	files["data00000.tar"] = files["data00000a.tar"]
	_, err := archive.Open("store", &archive.Options{FS: disk(t, files)})
	if err == nil || !strings.Contains(err.Error(), "the same archive") {
		t.Errorf("error %v", err)
	}
}

// TestLetters has archives of one number with several letters, good and bad.
func TestLetters(t *testing.T) {
	a, b, c := storetest.Sample{}.Segment(t), storetest.Sample{}.Segment(t), storetest.Sample{}.Segment(t)
	newB := storetest.Sample{ID: b.ID(), Blobs: []string{"newer"}}.Segment(t)
	good := func(name string, s ...*segment.Segment) []byte { return writeArchive(t, name, s...) }
	bad := func(name string, s ...*segment.Segment) []byte {
		b := writeArchive(t, name, s...)
		return b[:len(b)-1024]
	}
	for what, tc := range map[string]struct {
		a, b   []byte
		want   []*segment.Segment
		absent *segment.Segment
		after  string
	}{
		"both good": {
			good("data00000a.tar", a, b), good("data00000b.tar", a, newB),
			[]*segment.Segment{a, newB},
			nil, "data00000a.tar.stopped.bak data00000b.tar",
		},
		"lower good": {
			good("data00000a.tar", a, b), bad("data00000b.tar", c, newB),
			[]*segment.Segment{a, b},
			c, "data00000a.tar data00000b.tar.stopped.bak",
		},
		"higher good": {
			bad("data00000a.tar", a, b), good("data00000b.tar", a, newB),
			[]*segment.Segment{a, newB},
			nil, "data00000a.tar.stopped.bak data00000b.tar",
		},
		"both bad": {
			bad("data00000a.tar", a, b), bad("data00000b.tar", c, newB),
			[]*segment.Segment{a, newB, c},
			nil, "data00000a.tar.stopped.bak data00000b.tar.stopped.bak data00000c.tar",
		},
	} {
		for _, readOnly := range []bool{true, false} {
			fsys := disk(t, map[string][]byte{
				"data00000a.tar": tc.a, "data00000b.tar": tc.b, "journal.log": []byte(head(a.ID())), "manifest": manifest2,
			})
			before := names(t, fsys)
			d := open(t, fsys, archive.Options{ReadOnly: readOnly})
			wantSegments(t, d, tc.want...)
			if tc.absent != nil {
				if _, ok := d.Segment(tc.absent.ID()); ok {
					t.Errorf("%s: a segment of an archive that does not count", what)
				}
			}
			must(t, d.Close())
			switch got := names(t, fsys); {
			case readOnly && got != before:
				t.Errorf("%s: files after reading: %s, before: %s", what, got, before)
			case !readOnly && !strings.HasPrefix(got, tc.after+" "):
				t.Errorf("%s: files %s, want %s", what, got, tc.after)
			}
		}
	}
}

// TestLastLetter has a damaged archive that cannot be copied to one with a higher letter.
func TestLastLetter(t *testing.T) {
	segments := some(t)
	b := writeArchive(t, "data00000z.tar", segments...)
	fsys := disk(t, map[string][]byte{
		"data00000z.tar": b[:len(b)-1024], "journal.log": []byte(head(segments[1].ID())), "manifest": manifest2,
	})
	d := open(t, fsys, archive.Options{})
	wantSegments(t, d, segments...)
	must(t, d.Close())
	if got := names(t, fsys); !strings.HasPrefix(got, "data00000z.tar journal.log") {
		t.Errorf("files %s", got)
	}
}

func TestBackupNames(t *testing.T) {
	files := tiny(t)
	files["data00000a.tar"] = files["data00000a.tar"][:5000]
	files["data00000a.tar.bak"], files["data00000a.tar.2.bak"] = []byte("1"), []byte("2")
	files["data00001a.tar"] = nil                   // of no length
	files["data00002a.tar"] = make([]byte, 700)     // of nothing
	files["data00003a.tar.tmp"] = []byte("garbage") // of a recovery that was broken off
	fsys := disk(t, files)
	must(t, open(t, fsys, archive.Options{ReadOnly: true}).Close())
	must(t, open(t, fsys, archive.Options{}).Close())
	want := "data00000a.tar.2.bak data00000a.tar.3.bak data00000a.tar.bak data00000b.tar data00002a.tar.stopped.bak " +
		"journal.log manifest repo.lock"
	if got := names(t, fsys); got != want {
		t.Errorf("files %s, want %s", got, want)
	}
}

// TestRecoverUnknown has a segment of a later version in an archive that was not closed: it is not left out.
func TestRecoverUnknown(t *testing.T) {
	segments := some(t)
	later := segments[3]
	b := bytes.Clone(later.Bytes())
	b[3] = 99
	whole := writeArchive(t, "data00000a.tar", segments[:3]...)
	header := writeArchive(t, "data00001a.tar", later)[:512]
	r, err := openBytes(t, whole)
	must(t, err)
	last := entries(r)[2]
	must(t, r.Close())
	copy(header[36:], strings.Repeat("\x00", 64)) // no checksum in the name: the header's has to be right then
	copy(header[148:], fmt.Sprintf("%06o\x00 ", tarSum(header)))
	end := (int(last.Off) + last.Len + 511) &^ 511
	files := map[string][]byte{
		"data00000a.tar": slices.Concat(whole[:end], header, b), "manifest": manifest2,
		"journal.log": []byte(head(segments[1].ID())),
	}
	fsys := disk(t, files)
	before := names(t, fsys)
	d := open(t, fsys, archive.Options{ReadOnly: true})
	wantSegments(t, d, segments[:3]...)
	if got, ok := d.Segment(later.ID()); !ok || !bytes.Equal(got, b) {
		t.Errorf("the segment of a later version: %t, %d bytes", ok, len(got))
	}
	must(t, d.Close())
	_, err = archive.Open("store", &archive.Options{FS: fsys})
	if e := wantCorrupt(t, err); e.Segment != later.ID() {
		t.Errorf("error %v", err)
	}
	if got := strings.ReplaceAll(names(t, fsys), "repo.lock", ""); !strings.HasPrefix(got, before[:14]+" ") ||
		strings.Contains(got, ".bak") {
		t.Errorf("files %s, were %s", got, before)
	}
}

func tarSum(header []byte) int {
	sum := 8 * int(' ')
	for i, c := range header {
		if i < 148 || i >= 156 {
			sum += int(c)
		}
	}
	return sum
}

// TestRecoverLongID has the id of a binary that is kept in another archive, both without index: whoever recovers them has
// it among the binary references.
func TestRecoverLongID(t *testing.T) {
	fsys := file.NewMemory()
	d := open(t, fsys, archive.Options{})
	w, err := segment.NewWriter(segment.Options{Store: parsed{d}, Sink: d})
	must(t, err)
	long := strings.Repeat("x", 5000)
	_, err = w.String(long)
	must(t, errors.Join(err, w.Flush(), d.Roll()))
	_, err = w.BlobID(long)
	must(t, errors.Join(err, w.Flush(), d.Close()))
	for _, name := range []string{"store/data00000a.tar", "store/data00001a.tar"} {
		b := readFile(t, fsys, name)
		writeFile(t, fsys, name, b[:len(b)-1024])
	}
	for what, run := range map[string]func(fsys file.FS){
		"opening":  func(fsys file.FS) { must(t, open(t, fsys, archive.Options{NoHead: true}).Close()) },
		"recovery": func(fsys file.FS) { recoverAll(t, fsys, archive.RecoverOptions{}) },
	} {
		fsys := fsys.Clone()
		run(fsys)
		r, err := archive.OpenReader(fsys, "store/data00001b.tar")
		must(t, err)
		refs, err := r.BlobReferences()
		must(t, err)
		if len(refs) != 1 || len(refs[0].Segments) != 1 || !slices.Equal(refs[0].Segments[0].IDs, []string{long}) {
			t.Errorf("%s: %d groups of binary references", what, len(refs))
		}
		must(t, r.Close())
	}
}

// parsed parses the segments of a store.
type parsed struct{ d *archive.Dir }

func (p parsed) Segment(id segment.ID) (*segment.Segment, error) {
	b, ok := p.d.Segment(id)
	if !ok {
		return nil, &segment.NotFoundError{Segment: id}
	}
	return segment.ParseIn(p, id, b)
}
