// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/file"
)

// judge opens damaged stores. It demands that they are refused, or that a check finds something, or that what is read is
// what it was; that errors say where; and that work and memory are bounded by what the sound store has.
type judge struct {
	t       *testing.T
	sound   string // the dump
	records int64
	verdicts
}

type verdicts struct{ refused, found, same int }

func newJudge(t *testing.T, fsys *file.Crash) *judge {
	t.Helper()
	j := &judge{t: t}
	files, err := archive.Open("store", &archive.Options{FS: fsys, ReadOnly: true})
	must(t, err)
	defer func() { must(t, files.Close()) }()
	s := content.New(files, content.Options{Blobs: blobs{}})
	if j.sound, err = j.dump(s); err != nil {
		t.Fatal(err)
	}
	for _, a := range files.Archives() {
		for e := range a.Entries() {
			seg, err := s.Segment(e.ID)
			must(t, err)
			j.records += int64(seg.Count())
		}
	}
	checkWhole(t, s, content.CheckOptions{All: true, Binaries: true, Archives: true})
	return j
}

// want demands that each verdict was there so often.
func (j *judge) want(least verdicts) {
	j.t.Helper()
	j.t.Logf("%+v", j.verdicts)
	if j.refused < least.refused || j.found < least.found || j.same < least.same {
		j.t.Errorf("%+v, want at least %+v", j.verdicts, least)
	}
}

// judge returns what was found.
func (j *judge) judge(fsys *file.Crash, what string) []error {
	j.t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	findings := j.read(fsys, what)
	runtime.ReadMemStats(&after)
	const most = 32 << 20
	if n := after.TotalAlloc - before.TotalAlloc; n > most+uint64(4*len(j.sound)) {
		j.t.Errorf("%s: %d bytes were allocated", what, n)
	}
	return findings
}

// judgeTwice judges a store, and again after it was opened for writing, which recovers what it can.
func (j *judge) judgeTwice(fsys *file.Crash, what string) {
	j.t.Helper()
	j.judge(fsys, what)
	fsys = fsys.Clone()
	d, err := archive.Open("store", &archive.Options{FS: fsys})
	if err == nil {
		err = d.Close()
	} else if !strings.Contains(err.Error(), "store") {
		j.t.Errorf("%s: %v does not name the directory", what, err)
	}
	j.judge(fsys, fmt.Sprintf("%s, opened for writing (%v)", what, err))
}

func (j *judge) read(fsys *file.Crash, what string) (findings []error) {
	t := j.t
	files, err := archive.Open("store", &archive.Options{FS: fsys, ReadOnly: true})
	if err != nil {
		if !strings.Contains(err.Error(), "store") {
			t.Errorf("%s: %v does not name the directory", what, err)
		}
		j.refused++
		return []error{err}
	}
	defer func() { must(t, files.Close()) }()
	nodes := int64(0)
	s := content.New(files, content.Options{Blobs: blobs{}, Progress: func(n int64) { nodes += n }})
	opts := content.CheckOptions{Archives: true, Binaries: true, Found: func(err error) error {
		findings = append(findings, err)
		j.wantPlace(err, what)
		return nil
	}}
	report, err := s.Check(t.Context(), opts)
	must(t, err)
	if nodes > 2*j.records || report.Nodes > j.records {
		t.Errorf("%s: a check of %d nodes, %d records", what, nodes, j.records)
	}
	have, err := j.dump(s)
	j.wantPlace(err, what)
	if err != nil && !errors.Is(err, io.ErrNoProgress) && !errors.Is(err, io.ErrShortWrite) {
		j.wantSeen(s, what, err)
	}
	switch {
	case len(findings) > 0:
		j.found++
	case err != nil || have != j.sound:
		t.Errorf("%s: a check finds nothing, and the content is another: %v", what, err)
	default:
		j.same++
	}
	return findings
}

// wantSeen demands that what cannot be read is seen without the help of checksums.
func (j *judge) wantSeen(s *content.Store, what string, reason error) {
	j.t.Helper()
	if findings, _ := check(j.t, s, content.CheckOptions{Binaries: true}); len(findings) == 0 {
		j.t.Errorf("%s: a quick check finds nothing, and dumping ends with %v", what, reason)
	}
}

// dump has an end, even if what is read has not.
func (j *judge) dump(s *content.Store) (string, error) {
	head, _ := s.Head()
	var out strings.Builder
	err := s.Dump(&countdown{j.t.Context(), 1000}, bounded{&out, 1<<20 + 2*len(j.sound)}, head, "/")
	return out.String(), err
}

// bounded takes so many bytes and no more.
type bounded struct {
	to   *strings.Builder
	most int
}

func (b bounded) Write(p []byte) (int, error) {
	if b.to.Len()+len(p) > b.most {
		return 0, io.ErrShortWrite
	}
	return b.to.Write(p)
}

// wantPlace demands that an error about bytes names archive, segment and, by its offset, record.
func (j *judge) wantPlace(err error, what string) {
	j.t.Helper()
	if _, ok := errors.AsType[*segment.CorruptError](err); !ok {
		return
	}
	located, ok := errors.AsType[*archive.CorruptError](err)
	if !ok || filepath.Dir(located.Path) != "store" || located.Segment == (segment.ID{}) || located.Off <= 0 {
		j.t.Errorf("%s: %v does not say where", what, err)
	}
}

// countdown is a context that ends when it was asked so often whether it has.
type countdown struct {
	context.Context //nolint:containedctx // it is one
	left            int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return io.ErrNoProgress
	}
	return nil
}

// tinyDisk has the smallest store.
func tinyDisk(t *testing.T) *file.Crash {
	t.Helper()
	fsys := file.NewMemory()
	for _, name := range []string{"data00000a.tar", "journal.log", "manifest"} {
		b, err := os.ReadFile(filepath.Join("testdata", "tiny", name))
		must(t, err)
		writeFile(t, fsys, name, b)
	}
	return fsys
}

func readFile(t testing.TB, fsys file.FS, name string) []byte {
	t.Helper()
	f, err := fsys.OpenFile(filepath.Join("store", name), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	must(t, err)
	size, err := f.Size()
	must(t, err)
	b, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	must(t, errors.Join(err, f.Close()))
	return b
}

func writeFile(t testing.TB, fsys file.FS, name string, b []byte) {
	t.Helper()
	f, err := fsys.OpenFile(filepath.Join("store", name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	must(t, err)
	_, err = f.WriteAt(b, 0)
	must(t, errors.Join(err, f.Close()))
}

func archiveNames(t testing.TB, fsys *file.Crash) []string {
	t.Helper()
	names, err := fsys.ReadDir("store")
	must(t, err)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, ".tar") })
}

// flipBytes flips a bit in so many bytes of archives.
func flipBytes(t testing.TB, fsys *file.Crash, r *rand.Rand, count int) {
	t.Helper()
	names := archiveNames(t, fsys)
	for range count {
		name := names[r.IntN(len(names))]
		b := readFile(t, fsys, name)
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		writeFile(t, fsys, name, b)
	}
}

func garbage(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 0))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// part is an entry of an archive.
type part struct {
	name      string
	from, end int
}

// kind is a number for segments, by their order, and brf, gph or idx.
func (p part) kind() string {
	if i := strings.LastIndex(p.name, ".tar."); i >= 0 {
		return p.name[i+len(".tar."):]
	}
	return fmt.Sprint(p.from)
}

// id is the segment's.
func (p part) id() string { return p.name[:36] }

func partsOf(t testing.TB, b []byte) (list []part) {
	t.Helper()
	for at := 0; at+1024 < len(b); {
		size, err := strconv.ParseInt(string(b[at+124:at+135]), 8, 32)
		must(t, err)
		name, _, _ := strings.Cut(string(b[at:at+100]), "\x00")
		end := at + 512 + (int(size)+511)&^511
		list = append(list, part{name, at, end})
		at = end
	}
	if len(list) < 4 {
		t.Fatalf("parts %+v", list)
	}
	return list
}
