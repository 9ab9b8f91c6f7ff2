// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"errors"
	"flag"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/file"
)

// home is where a model's store is kept: it is opened, closed, and opened again.
type home struct{ open func() (archive.Store, error) }

func newHome(kind string) home {
	if kind == "memory" {
		m := &archive.Memory{}
		return home{func() (archive.Store, error) { return m.Open(false) }}
	}
	fsys := file.NewMemory()
	return home{func() (archive.Store, error) {
		return archive.Open("store", &archive.Options{FS: fsys, Limit: 256 << 10})
	}}
}

// garden is what the model does with one store.
type garden struct {
	t    *testing.T
	home home
	*author
	revisions []planted // those that were the head
}

type planted struct {
	id   segment.RecordID
	tree *tree
}

func (g *garden) reopen() {
	known := map[*tree]segment.RecordID{}
	if g.author != nil {
		must(g.t, g.writer.Flush())
		must(g.t, g.store.Close())
		known = g.known
	}
	files, err := g.home.open()
	must(g.t, err)
	g.author, err = newAuthor(files)
	must(g.t, err)
	g.known = known
}

func (g *garden) head() planted { return g.revisions[len(g.revisions)-1] }

func (g *garden) plant(n *tree) {
	super := &tree{kids: map[string]*tree{"root": n}}
	if len(g.revisions) > 0 && n.from != nil {
		super.from = g.head().tree
	}
	id, err := g.commit(super)
	must(g.t, err)
	g.revisions = append(g.revisions, planted{id, super})
}

// TestModel writes random trees, whole and as changes of what there is, and reads them back: what was the head once stays
// as it was.
func TestModel(t *testing.T) {
	shorten(t, map[string]string{"rapid.checks": "25", "rapid.steps": "12"})
	for _, kind := range []string{"directory", "memory"} {
		t.Run(kind, func(t *testing.T) { rapid.Check(t, func(rt *rapid.T) { testModel(t, rt, kind) }) })
	}
}

func testModel(t *testing.T, rt *rapid.T, kind string) {
	g := &garden{t: t, home: newHome(kind)}
	g.reopen()
	g.plant(drawTree(rt, 2))
	rt.Repeat(map[string]func(*rapid.T){
		"": func(rt *rapid.T) {
			r := g.head()
			if head, ok := g.store.Head(); !ok || head != r.id {
				rt.Fatalf("head %s, want %s", head, r.id)
			}
			r.tree.compare(t, g.store, r.id, rapid.IntRange(0, 3).Draw(rt, "workers"))
		},
		"whole": func(rt *rapid.T) { g.plant(drawTree(rt, 2)) },
		"change": func(rt *rapid.T) {
			g.pause = func() error {
				if chance(rt, 20, "flush") {
					return g.writer.Flush()
				}
				return nil
			}
			g.plant(g.head().tree.kids["root"].drawChange(rt))
		},
		"roll":   func(*rapid.T) { must(t, g.files.Roll()) },
		"reopen": func(*rapid.T) { g.reopen() },
		"older": func(rt *rapid.T) {
			r := pick(rt, g.revisions, "revision")
			r.tree.compare(t, g.store, r.id, 0)
		},
		"check": func(rt *rapid.T) {
			opts := content.CheckOptions{All: true, Binaries: true, Archives: true, Workers: rapid.IntRange(0, 3).Draw(rt, "workers")}
			if report := checkWhole(t, g.store, opts); report.Revisions != len(g.revisions) || report.Outside != 0 {
				rt.Fatalf("report %+v, want %d revisions", report, len(g.revisions))
			}
		},
		"again": func(rt *rapid.T) { // in another store
			r := pick(rt, g.revisions, "revision")
			other := &garden{t: t, home: newHome(pick(rt, []string{"memory", "directory"}, "kind"))}
			other.reopen()
			other.plant(r.tree.kids["root"].copied())
			if a, b := g.print(r), other.print(other.head()); a != b {
				rt.Fatalf("fingerprints %x and %x of the same tree", a, b)
			}
			if first := g.revisions[0]; !first.tree.same(r.tree) && g.print(first) == g.print(r) {
				rt.Fatal("one fingerprint of different trees")
			}
			must(t, other.store.Close())
		},
		"compact": func(rt *rapid.T) { // a revision, without making that the head
			r := pick(rt, g.revisions, "revision")
			c := planted{g.compacted(r.id), r.tree}
			c.tree.compare(t, g.store, c.id, 0)
			if a, b := g.print(r), g.print(c); a != b {
				rt.Fatalf("fingerprints %x and %x, once compacted", a, b)
			}
		},
	})
	must(t, g.store.Close())
}

// compacted copies a revision into a later generation.
func (g *garden) compacted(id segment.RecordID) segment.RecordID {
	w, err := segment.NewWriter(segment.Options{
		Store: g.store, Sink: g.files, Name: "c.0001",
		Generation: segment.Generation{Generation: 1, Full: 1, Compacted: true},
	})
	must(g.t, err)
	root, err := g.store.Root(id)
	must(g.t, err)
	id, err = w.Copy(g.t.Context(), root)
	must(g.t, errors.Join(err, w.Flush()))
	return id
}

func (g *garden) print(r planted) [32]byte {
	sum, err := g.store.Fingerprint(g.t.Context(), r.id, "/")
	must(g.t, err)
	return sum
}

// long says whether tests may take minutes: HOLT_LONG=1.
func long() bool { return os.Getenv("HOLT_LONG") == "1" }

// shorten sets flags of rapid that nobody has set, unless tests may take long.
func shorten(t *testing.T, flags map[string]string) {
	t.Helper()
	for name, value := range flags {
		f := flag.Lookup(name)
		if old := f.Value.String(); old == f.DefValue && !long() {
			must(t, f.Value.Set(value))
			t.Cleanup(func() { must(t, f.Value.Set(old)) })
		}
	}
}
