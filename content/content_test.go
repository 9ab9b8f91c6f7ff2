// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/blob"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/fixture"
)

const tinyDump = `HEAD 1f5f0022-09bc-4938-ae1e-e92d8b333d80.00000008
N  1f5f0022-09bc-4938-ae1e-e92d8b333d80:8
N 2f726f6f74 1f5f0022-09bc-4938-ae1e-e92d8b333d80:7
N 2f726f6f742f68656c6c6f 1f5f0022-09bc-4938-ae1e-e92d8b333d80:6
P 78 LONG 1 3432
`

// folders are those in which Oak's stores are packed.
var folders = map[string]string{"tiny": "t1", "base": "g1", "extblobs": "e1", "afterGC": "c2", "rollover": "m1"}

func TestTiny(t *testing.T) {
	s := open(t, filepath.Join("testdata", "tiny"))
	compare(t, dump(t, s, "/"), tinyDump)
	head, _, _ := strings.Cut(tinyDump, "\n")
	compare(t, dump(t, s, "/root/hello/"), head+tinyDump[strings.Index(tinyDump, "\nN 2f726f6f742f"):])

	older := revision(t, "d0b2a37e-54db-4246-af4b-1035142fd65e.00000005")
	var out strings.Builder
	must(t, s.Dump(t.Context(), &out, older, "/"))
	compare(t, out.String(), `HEAD d0b2a37e-54db-4246-af4b-1035142fd65e.00000005
N  d0b2a37e-54db-4246-af4b-1035142fd65e:5
N 2f726f6f74 d0b2a37e-54db-4246-af4b-1035142fd65e:4
`)
	_, err := s.Find(older, "/root/hello/world")
	none, ok := errors.AsType[*content.PathError](err)
	if !ok || none.Path != "/root/hello/world" || none.Base != "/root" {
		t.Errorf("no such node: %v", err)
	}
	checkWhole(t, s, content.CheckOptions{Archives: true, Binaries: true, All: true})
	checkWhole(t, s, content.CheckOptions{Archives: true, Binaries: true, All: true, Workers: 4})
}

// TestFixtures compares what is read from Oak's stores with what Oak reads, line by line.
func TestFixtures(t *testing.T) {
	for name, folder := range folders {
		t.Run(name, func(t *testing.T) {
			dir := fixture.Untar(t, "oak", name+".tar.xz")
			s := open(t, filepath.Join(dir, folder))
			opts := content.CheckOptions{Archives: true, Binaries: true}
			report := checkWhole(t, s, opts)
			if (name == "extblobs") != (report.Outside > 0) {
				t.Errorf("%d binaries were not looked at", report.Outside)
			}
			if name != "tiny" && name != "rollover" {
				compare(t, dump(t, s, "/"), string(fixture.Unxz(t, "oak", name+".dump.xz")))
			}
			checkWalks(t, s)
			if name == "extblobs" {
				s := openWith(t, filepath.Join(dir, folder), &blob.FileStore{Dir: filepath.Join(dir, folder+"-ds")})
				if report := checkWhole(t, s, opts); report.Outside > 0 || report.Binaries == 0 {
					t.Errorf("%d binaries were read, %d not", report.Binaries, report.Outside)
				}
			}
		})
	}
}

// TestFingerprints of the same content in different stores are equal.
func TestFingerprints(t *testing.T) {
	base := open(t, filepath.Join(fixture.Untar(t, "oak", "base.tar.xz"), folders["base"]))
	outside := open(t, filepath.Join(fixture.Untar(t, "oak", "extblobs.tar.xz"), folders["extblobs"]))
	if fingerprint(t, base, "/root") != fingerprint(t, outside, "/root") {
		t.Error("binaries kept outside change the fingerprint")
	}
	// The checkpoint of a store that was compacted is what there was before.
	collected := open(t, filepath.Join(fixture.Untar(t, "oak", "afterGC.tar.xz"), folders["afterGC"]))
	head, _ := collected.Head()
	seen := map[[32]byte]string{}
	for _, name := range childNames(t, collected, head, "/root") {
		path := "/root/" + name
		if _, err := base.Find(headOf(t, base), path); err != nil {
			continue // added later
		}
		before := fingerprint(t, base, path)
		if after := fingerprint(t, collected, path); after != before {
			t.Logf("%s has changed", path)
			continue
		}
		if other, ok := seen[before]; ok {
			t.Logf("%s is equal to %s", path, other)
		}
		seen[before] = path
	}
	if len(seen) < 3 {
		t.Errorf("only %d subtrees have survived garbage collection with another fingerprint for each", len(seen))
	}
}

// TestFingerprintsTell changes one thing at a time.
func TestFingerprintsTell(t *testing.T) {
	const at = 1536 // of the segment with the head
	tiny := filepath.Join("testdata", "tiny")
	seen := map[[32]byte]string{fingerprint(t, open(t, tiny), "/root"): "nothing"}
	for what, off := range map[string]int{
		"a value": 0xc8 + 1, "the name of a property": 0xd8 + 1, "the name of a child": 0xe8 + 1, "a type": 0xcc + 10,
	} {
		sum := fingerprint(t, open(t, damagedTiny(t, func(b []byte) { b[at+off] ^= 2 })), "/root")
		if other, ok := seen[sum]; ok {
			t.Errorf("%s has changed, and %s: the fingerprint is the same", what, other)
		}
		seen[sum] = what
	}
	later := open(t, damagedTiny(t, func(b []byte) { b[at+0xf0+20] ^= 1 })) // the segment's info
	if seen[fingerprint(t, later, "/root")] != "nothing" {
		t.Error("the fingerprint is one of more than content")
	}
}

func headOf(t testing.TB, s *content.Store) segment.RecordID {
	t.Helper()
	head, ok := s.Head()
	if !ok {
		t.Fatal("no head")
	}
	return head
}

func childNames(t testing.TB, s *content.Store, revision segment.RecordID, path string) []string {
	t.Helper()
	n, err := s.Find(revision, path)
	must(t, err)
	var names []string
	c := n.Children()
	for c.Next() {
		names = append(names, string(c.Name))
	}
	must(t, c.Err())
	return names
}

func fingerprint(t testing.TB, s *content.Store, path string) [32]byte {
	t.Helper()
	head, _ := s.Head()
	sum, err := s.Fingerprint(t.Context(), head, path)
	must(t, err)
	return sum
}

// checkWalks demands that all ways to walk come to the same nodes.
func checkWalks(t *testing.T, s *content.Store) {
	t.Helper()
	head, _ := s.Head()
	paths := func(opts content.WalkOptions) []string {
		var mu sync.Mutex
		var list []string
		must(t, s.Walk(t.Context(), head, "/", opts, func(v *content.Visit) error {
			mu.Lock()
			defer mu.Unlock()
			list = append(list, fmt.Sprintf("%s %d %s", v.Path, v.Depth, v.Node.ID()))
			return nil
		}))
		return list
	}
	want := paths(content.WalkOptions{})
	slices.Sort(want)
	for _, opts := range []content.WalkOptions{{Sorted: true}, {Workers: 2}, {Workers: 7, Sorted: true}} {
		got := paths(opts)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %d nodes, want %d", opts, len(got), len(want))
		}
	}
}

func TestWalkEnds(t *testing.T) {
	s := open(t, filepath.Join("testdata", "tiny"))
	head, _ := s.Head()
	oops := errors.New("oops")
	for _, workers := range []int{1, 3} {
		var mu sync.Mutex
		n := 0
		visit := func(err error) func(v *content.Visit) error {
			n = 0
			return func(v *content.Visit) error {
				mu.Lock()
				defer mu.Unlock()
				if n++; string(v.Path) == "/root" {
					return err
				}
				return nil
			}
		}
		opts := content.WalkOptions{Workers: workers}
		if err := s.Walk(t.Context(), head, "/", opts, visit(oops)); !errors.Is(err, oops) || n != 2 {
			t.Errorf("%d workers: %v after %d nodes", workers, err, n)
		}
		if err := s.Walk(t.Context(), head, "/", opts, visit(content.ErrSkipChildren)); err != nil || n != 2 {
			t.Errorf("%d workers, no children: %v after %d nodes", workers, err, n)
		}
		if err := s.Walk(t.Context(), head, "/root/hello", opts, visit(nil)); err != nil || n != 1 {
			t.Errorf("%d workers, one node: %v after %d nodes", workers, err, n)
		}
	}
}

// TestWalkTakesNoMemory reads every property of a store.
func TestWalkTakesNoMemory(t *testing.T) {
	s := open(t, filepath.Join(fixture.Untar(t, "oak", "base.tar.xz"), folders["base"]))
	head := headOf(t, s)
	var read census
	walk := func() { must(t, s.Walk(t.Context(), head, "/", content.WalkOptions{}, read.visit)) }
	walk() // which parses the segments
	read = census{}
	if n := testing.AllocsPerRun(1, walk); n > 100 {
		t.Errorf("%v allocations for %d nodes, %d values", n, read.nodes/2, read.values/2)
	}
}

// census counts the nodes and values of a walk, and finds each of them.
type census struct{ nodes, values int }

func (c *census) visit(v *content.Visit) error {
	c.nodes++
	p := v.Node.Properties()
	for p.Next() {
		for i := range p.Count() {
			if _, err := p.Value(i); err != nil {
				return err
			}
			c.values++
		}
	}
	return p.Err()
}

// TestCheckTakesNoMemory for nodes, but the marks of their segments.
func TestCheckTakesNoMemory(t *testing.T) {
	s := open(t, filepath.Join(fixture.Untar(t, "oak", "base.tar.xz"), folders["base"]))
	nodes := checkWhole(t, s, content.CheckOptions{}).Nodes
	if n := testing.AllocsPerRun(1, func() { checkWhole(t, s, content.CheckOptions{}) }); n > 200 || nodes < 1000 {
		t.Errorf("%v allocations for %d nodes", n, nodes)
	}
}

func TestWalkIsCancelled(t *testing.T) {
	s := open(t, filepath.Join(fixture.Untar(t, "oak", "base.tar.xz"), folders["base"]))
	head, _ := s.Head()
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		var once sync.Once
		err := s.Walk(ctx, head, "/", content.WalkOptions{Workers: workers}, func(*content.Visit) error {
			once.Do(cancel)
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

// TestOwnChild makes a node its own child.
func TestOwnChild(t *testing.T) {
	const childOfRoot = 1536 + 0xa0 + 12 + 5 // see testdata: the last byte of the record id in record 7
	dir := damagedTiny(t, func(b []byte) { b[childOfRoot] = 7 })
	files, err := archive.Open(dir, &archive.Options{ReadOnly: true})
	must(t, err)
	s := content.New(files, content.Options{})
	defer func() { must(t, s.Close()) }()
	head, _ := s.Head()
	for name, err := range map[string]error{
		"walk": s.Walk(t.Context(), head, "/", content.WalkOptions{}, func(*content.Visit) error { return nil }),
		"workers": s.Walk(t.Context(), head, "/", content.WalkOptions{Workers: 3},
			func(*content.Visit) error { return nil }),
		"dump": s.Dump(t.Context(), io.Discard, head, "/"),
		"fingerprint": func() error {
			_, err := s.Fingerprint(t.Context(), head, "/")
			return err
		}(),
	} {
		if err == nil || !strings.Contains(err.Error(), "among its own descendants") {
			t.Errorf("%s: %v", name, err)
		}
	}
	compareWorkers(t, files, content.CheckOptions{}, "a node below itself")
	findings, report := check(t, s, content.CheckOptions{})
	if len(findings) != 1 || !strings.Contains(findings[0], "/root/hello: node ") {
		t.Errorf("check: %q", findings)
	}
	if good := report.Paths[0].Good.ID; good != (segment.RecordID{}) {
		t.Errorf("good revision %s", good)
	}
}

func TestCheckGoesBack(t *testing.T) {
	dir := damagedTiny(t, func(b []byte) { b[1536+0xc8+2] = 'x' }) // the value of the LONG
	journal := filepath.Join(dir, "journal.log")
	lines, err := os.ReadFile(journal)
	must(t, err)
	const older = "d0b2a37e-54db-4246-af4b-1035142fd65e:5"
	must(t, os.WriteFile(journal, slices.Concat([]byte(older+" root 1796041571000\n"), lines), 0o600))
	s := open(t, dir)

	findings, report := check(t, s, content.CheckOptions{})
	if len(findings) != 1 || !strings.Contains(findings[0], `/root/hello: property "x": "4x" is no LONG`) {
		t.Errorf("findings %q", findings)
	}
	if report.Revisions != 1 || report.Whole != 0 || len(report.Paths) != 1 || report.Paths[0].Good.ID.String() != older {
		t.Errorf("report %+v", report)
	}
	findings, report = check(t, s, content.CheckOptions{All: true, Paths: []string{"/root", "/root/hello/"}})
	if len(findings) != 2 || report.Revisions != 2 || report.Whole != 0 {
		t.Errorf("all revisions: %q, %+v", findings, report)
	}
	if p := report.Paths; p[0].Good.ID.String() != older || p[1].Good.ID != (segment.RecordID{}) {
		t.Errorf("all revisions: %+v", report)
	}
	findings, report = check(t, s, content.CheckOptions{Revisions: []segment.RecordID{revision(t, older)}})
	if len(findings) != 0 || report.Whole != 1 {
		t.Errorf("the older one: %q, %+v", findings, report)
	}
	missing := segment.RecordID{Segment: segment.NewDataID()}
	findings, report = check(t, s, content.CheckOptions{Revisions: []segment.RecordID{missing}})
	if len(findings) != 1 || report.Whole != 0 || !strings.Contains(findings[0], "not found") {
		t.Errorf("one that is not there: %q, %+v", findings, report)
	}
}

func check(t testing.TB, s *content.Store, opts content.CheckOptions) ([]string, content.CheckReport) {
	t.Helper()
	var findings []string
	opts.Found = func(finding error) error {
		findings = append(findings, finding.Error())
		return nil
	}
	report, err := s.Check(t.Context(), opts)
	must(t, err)
	return findings, report
}

func checkWhole(t testing.TB, s *content.Store, opts content.CheckOptions) content.CheckReport {
	t.Helper()
	findings, report := check(t, s, opts)
	if len(findings) > 0 || report.Whole != report.Revisions || report.Nodes == 0 {
		t.Errorf("check: %q, %+v", findings, report)
	}
	for _, p := range report.Paths {
		if p.Good.ID == (segment.RecordID{}) {
			t.Errorf("%s has no good revision", p.Path)
		}
	}
	return report
}

func open(t testing.TB, dir string) *content.Store {
	t.Helper()
	return openWith(t, dir, onlyIDs{&blob.FileStore{}})
}

// onlyIDs has no binaries but those in ids.
type onlyIDs struct{ *blob.FileStore }

func (o onlyIDs) Open(id string) (io.ReadCloser, error) {
	r, err := o.FileStore.Open(id)
	if errors.Is(err, blob.ErrNoStore) {
		err = segment.ErrExternal
	}
	return r, err
}

func openWith(t testing.TB, dir string, blobs blob.Source) *content.Store {
	t.Helper()
	s, err := content.Open(dir, &content.Options{Blobs: blobs})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func dump(t testing.TB, s *content.Store, path string) string {
	t.Helper()
	head, _ := s.Head()
	var out strings.Builder
	must(t, s.Dump(t.Context(), &out, head, path))
	return out.String()
}

func revision(t testing.TB, text string) segment.RecordID {
	t.Helper()
	id, err := segment.ParseRecordID(text)
	must(t, err)
	return id
}

func compare(t testing.TB, have, want string) {
	t.Helper()
	haveLines, wantLines := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range min(len(haveLines), len(wantLines)) {
		if haveLines[i] != wantLines[i] {
			t.Fatalf("line %d of the dump:\nhave %s\nwant %s", i+1, haveLines[i], wantLines[i])
		}
	}
	if len(haveLines) != len(wantLines) {
		t.Fatalf("%d lines in the dump, want %d", len(haveLines), len(wantLines))
	}
}

func copyTiny(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "tiny"))))
	return dir
}

func damagedTiny(t testing.TB, damage func(archive []byte)) string {
	t.Helper()
	dir := copyTiny(t)
	path := filepath.Join(dir, "data00000a.tar")
	b, err := os.ReadFile(path)
	must(t, err)
	damage(b)
	must(t, os.WriteFile(path, b, 0o600))
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
