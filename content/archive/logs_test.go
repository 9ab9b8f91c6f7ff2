// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
)

// head is a line of a journal.
func head(id segment.ID) string { return fmt.Sprintf("%s:0 root 1\n", id) }

var manifest2 = []byte("store.version=2\n")

func TestJournalRules(t *testing.T) {
	s := storetest.Sample{}.Segment(t)
	tar := writeArchive(t, "data00000a.tar", s)
	id := s.ID().String()
	lost := segment.NewDataID().String()
	for journal, want := range map[string]string{
		id + ":0 root 1\n":                                           id + ":0",
		id + ":7 root 1":                                             id + ":7", // not ended
		id + ".0000000a root 1\n":                                    id + ":10",
		id + ":1 root 1\r\n":                                         id + ":1",
		id + ":1 root\n":                                             id + ":1",
		id + ":1 \n":                                                 id + ":1",
		id + ":1 x yesterday\n":                                      id + ":1",
		id + ":1 root 1\n" + id + ":2\n":                             id + ":1", // no space
		id + ":1 root 1\n" + id + ":02 root 1\n":                     id + ":1",
		id + ":1 root 1\n" + id + ":-2 root 1\n":                     id + ":1",
		id + ":1 root 1\n" + id + ".0000000A root 1\n":               id + ":1",
		id + ":1 root 1\n" + strings.ToUpper(id) + ":2 root 1\n":     id + ":1",
		id + ":1 root 1\n " + id + ":2 root 1\n":                     id + ":1",
		id + ":1 root 1\n" + lost + ":2 root 1\n":                    id + ":1", // its segment is missing
		id + ":1 root 1\n" + id + ":2 root 1\n\n\n":                  id + ":2",
		id + ":1 root 1\n" + strings.Repeat("x", 20000) + " root\n":  id + ":1",
		id + ":1 root 1\n" + strings.Repeat(lost+":1 root 1\n", 999): id + ":1",
		id + ":1 root 1\n\x00\x00\x00":                               id + ":1",
		id + ":99999999999 root 1\n" + "\n":                          "",
		"":                                                           "",
		"\n\n":                                                       "",
		lost + ":1 root 1\n":                                         "",
		strings.Repeat("x", 20000):                                   "",
	} {
		fsys := disk(t, map[string][]byte{"data00000a.tar": tar, "journal.log": []byte(journal), "manifest": manifest2})
		for _, readOnly := range []bool{true, false} {
			d, err := archive.Open("store", &archive.Options{FS: fsys, ReadOnly: readOnly})
			if want == "" {
				wantErr(t, err, archive.ErrNoHead)
				d = open(t, fsys, archive.Options{ReadOnly: readOnly, NoHead: true})
				must(t, d.Close())
				continue
			}
			must(t, err)
			if head, _ := d.Head(); head.String() != want {
				t.Errorf("journal %.200q: head %v, want %v", journal, head, want)
			}
			must(t, d.Close())
		}
	}
}

// TestJournalDeadLines goes back over more lines that lead nowhere than are looked up one by one, to each of many segments.
func TestJournalDeadLines(t *testing.T) {
	files := map[string][]byte{"manifest": manifest2}
	var all []*segment.Segment
	for i := range int32(3) {
		var list []*segment.Segment
		for range 50 {
			list = append(list, storetest.Sample{}.Segment(t))
		}
		all = append(all, list...)
		name := archive.Name{Number: i, Letter: 'a'}.String()
		files[name] = writeArchive(t, name, list...)
	}
	var dead strings.Builder
	for range 1500 {
		dead.WriteString(head(segment.NewDataID()))
	}
	for i, s := range all {
		if i%10 > 0 && !long() {
			continue
		}
		files["journal.log"] = []byte(head(s.ID()) + dead.String())
		d := open(t, disk(t, files), archive.Options{ReadOnly: true})
		if got, _ := d.Head(); got.Segment != s.ID() {
			t.Errorf("head %v, want %v", got, s.ID())
		}
		may := archive.MayHave(d.Archives())
		wrong := 0
		for range 1000 {
			if may(segment.NewDataID()) {
				wrong++
			}
		}
		if wrong > 400 || !may(s.ID()) { // an eighth is expected
			t.Errorf("the filter lets %d of 1000 others pass, and the segment: %t", wrong, may(s.ID()))
		}
		must(t, d.Close())
	}
	line := strings.TrimSuffix(head(all[0].ID()), "\n")
	if n := testing.AllocsPerRun(100, func() { _, _ = archive.ParseRevision(line) }); n > 4 {
		t.Errorf("%v allocations for a line", n)
	}
}

// TestJournalTorn adds to a journal whose last line was cut off.
func TestJournalTorn(t *testing.T) {
	files := tiny(t)
	journal := files["journal.log"]
	for n := range len(journal) - 1 {
		torn := slices.Concat(journal, journal[:n])
		files["journal.log"] = torn
		fsys := disk(t, files)
		d := open(t, fsys, archive.Options{})
		old, _ := d.Head()
		s := storetest.Sample{}.Segment(t)
		id := storetest.Root(s)
		must(t, d.Append(s))
		must(t, d.SetHead(old, archive.Revision{ID: id, Time: time.UnixMilli(77)}))
		must(t, d.Close())
		got := string(readFile(t, fsys, "store/journal.log"))
		if want := fmt.Sprintf("\n%s root 77\n", id); !strings.HasSuffix(got, want) {
			t.Fatalf("%d bytes of a line: journal %q", n, got)
		}
		d = open(t, fsys, archive.Options{ReadOnly: true})
		if now, _ := d.Head(); now != id {
			t.Errorf("%d bytes of a line: head %v, want %v", n, now, id)
		}
		must(t, d.Close())
	}
}

func TestManifest(t *testing.T) {
	for text, want := range map[string]int{
		"store.version=2\n":               2,
		"#comment\nstore.version=1\n":     1,
		"  store.version : 1":             1,
		"store.version\t1\r\nother=5\r\n": 1,
		"":                                2,
		"store.version=x":                 2,
		"#store.version=9":                2,
		"store.version=0":                 -1,
		"store.version=-1":                -1,
		"store.version=3":                 -1,
	} {
		files := tiny(t)
		files["manifest"] = []byte(text)
		fsys := disk(t, files)
		d, err := archive.Open("store", &archive.Options{FS: fsys, ReadOnly: true})
		if want < 0 {
			if _, ok := errors.AsType[*archive.VersionError](err); !ok {
				t.Errorf("manifest %q: error %v", text, err)
			}
			continue
		}
		must(t, err)
		if d.Version() != want {
			t.Errorf("manifest %q: version %d, want %d", text, d.Version(), want)
		}
		must(t, d.Close())
		d = open(t, fsys, archive.Options{})
		must(t, d.Close())
		got := string(readFile(t, fsys, "store/manifest"))
		if want == 2 && got != text || want == 1 && !strings.Contains(got, "store.version=2\n") {
			t.Errorf("manifest %q became %q", text, got)
		}
		if strings.Contains(text, "other=5") && !strings.Contains(got, "other=5\n") {
			t.Errorf("manifest %q became %q", text, got)
		}
	}
}

func TestManifestMissing(t *testing.T) {
	for _, name := range []string{"data00000a.tar", "other.tar"} {
		fsys := disk(t, map[string][]byte{name: tiny(t)["data00000a.tar"]})
		for _, readOnly := range []bool{true, false} {
			_, err := archive.Open("store", &archive.Options{FS: fsys, ReadOnly: readOnly})
			if _, ok := errors.AsType[*archive.VersionError](err); !ok || !strings.Contains(err.Error(), "store.version=2") {
				t.Errorf("error %v, which does not say what brings the manifest back", err)
			}
		}
	}
}

func TestCollections(t *testing.T) {
	root := "b8b0c599-c1b5-409b-a44d-004fe350644d:4406"
	id, err := segment.ParseRecordID(root)
	must(t, err)
	for line, want := range map[string]archive.Collection{
		"5,4,3,2,1,7," + root: {Size: 5, Reclaimed: 4, Time: time.UnixMilli(3), Generation: 2, Full: 1, Nodes: 7, Root: id},
		"5,4,3,2,7," + root:   {Size: 5, Reclaimed: 4, Time: time.UnixMilli(3), Generation: 2, Full: 2, Nodes: 7, Root: id},
		"5,4,3,2":             {Size: 5, Reclaimed: 4, Time: time.UnixMilli(3), Generation: 2, Full: 2, Nodes: -1},
		"x,,y,z,1,7,nothing":  {Size: -1, Reclaimed: -1, Generation: -1, Full: 1, Nodes: 7},
		"x":                   {Size: -1, Reclaimed: -1, Generation: -1, Full: -1, Nodes: -1},
	} {
		if got := archive.ParseCollection(line); got != want {
			t.Errorf("%q is %+v, want %+v", line, got, want)
		}
	}
}
