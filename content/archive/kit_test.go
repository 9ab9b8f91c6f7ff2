// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
	"github.com/holtdb/holt/internal/file"
)

// long says whether tests may take minutes: HOLT_LONG=1.
func long() bool { return os.Getenv("HOLT_LONG") == "1" }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

// wantCorrupt demands an error that names a file.
func wantCorrupt(t testing.TB, err error) *archive.CorruptError {
	t.Helper()
	e, ok := errors.AsType[*archive.CorruptError](err)
	if !ok || e.Path == "" {
		t.Fatalf("error %v, want a CorruptError with a path", err)
	}
	return e
}

// wantDamage is wantCorrupt for those who need no more.
func wantDamage(t testing.TB, err error) {
	t.Helper()
	_ = wantCorrupt(t, err)
}

// closing closes at the end of a test.
func closing(t testing.TB, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// readFile is the content of a file.
func readFile(t testing.TB, fsys file.FS, path string) []byte {
	t.Helper()
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	must(t, err)
	size, err := f.Size()
	must(t, err)
	b, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	must(t, errors.Join(err, f.Close()))
	return b
}

func writeFile(t testing.TB, fsys file.FS, path string, b []byte) {
	t.Helper()
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	must(t, err)
	_, err = f.WriteAt(b, 0)
	must(t, errors.Join(err, f.Close()))
}

// disk is a file system in memory with files in the directory "store".
func disk(t testing.TB, files map[string][]byte) *file.Crash {
	t.Helper()
	fsys := file.NewMemory()
	for name, b := range files {
		writeFile(t, fsys, filepath.Join("store", name), b)
	}
	return fsys
}

// tiny is the smallest useful store of Oak's.
func tiny(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range []string{"data00000a.tar", "journal.log", "manifest"} {
		files[name] = readFile(t, file.OS, filepath.Join("..", "testdata", "tiny", name))
	}
	return files
}

func open(t testing.TB, fsys file.FS, opts archive.Options) *archive.Dir {
	t.Helper()
	opts.FS = fsys
	d, err := archive.Open("store", &opts)
	must(t, err)
	return d
}

func names(t testing.TB, fsys file.FS) string {
	t.Helper()
	list, err := fsys.ReadDir("store")
	must(t, err)
	return strings.Join(list, " ")
}

// wantSegments demands that segments can be read.
func wantSegments(t testing.TB, s interface {
	Segment(id segment.ID) ([]byte, bool)
}, segments ...*segment.Segment,
) {
	t.Helper()
	for _, want := range segments {
		if b, ok := s.Segment(want.ID()); !ok || !bytes.Equal(b, want.Bytes()) {
			t.Errorf("segment %s: found %t, %d bytes, want %d", want.ID(), ok, len(b), len(want.Bytes()))
		}
	}
}

// writeArchive writes an archive of segments and returns its bytes.
func writeArchive(t testing.TB, name string, segments ...*segment.Segment) []byte {
	t.Helper()
	fsys := file.NewMemory()
	w, err := archive.CreateWriter(fsys, name, func() time.Time { return time.Unix(1796041571, 0) })
	must(t, err)
	for _, s := range segments {
		must(t, w.Append(s))
	}
	must(t, errors.Join(w.Close(), w.Unmap()))
	return readFile(t, fsys, name)
}

// openBytes opens an archive with the given bytes.
func openBytes(t testing.TB, b []byte) (*archive.Reader, error) {
	t.Helper()
	return archive.OpenReader(disk(t, map[string][]byte{"data00000a.tar": b}), filepath.Join("store", "data00000a.tar"))
}

func scanBytes(t testing.TB, b []byte) *archive.Reader {
	t.Helper()
	r, err := archive.ScanReader(disk(t, map[string][]byte{"data00000a.tar": b}), filepath.Join("store", "data00000a.tar"))
	must(t, err)
	return r
}

func entries(r archive.Archive) []archive.Entry { return slices.Collect(r.Entries()) }

// some is a few segments of every kind.
func some(t testing.TB) []*segment.Segment {
	t.Helper()
	bulk := storetest.Bulk(t, 700)
	a := storetest.Sample{References: []segment.ID{bulk.ID()}, Blobs: []string{"blob#1", "blob#22"}}.Segment(t)
	b := storetest.Sample{
		References: []segment.ID{a.ID(), bulk.ID()}, Fill: 900,
		Generation: segment.Generation{Generation: 3, Full: 2, Compacted: true}, Blobs: []string{"blob#1"},
	}.Segment(t)
	c := storetest.Sample{Generation: segment.Generation{Generation: 3, Full: 2}}.Segment(t)
	return []*segment.Segment{bulk, a, b, c}
}

// check collects what is found wrong with an archive.
func check(r *archive.Reader) error {
	var errs []error
	for err := range r.Check() {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
