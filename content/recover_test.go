// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/internal/fixture"
)

const tinyInitial = "d0b2a37e-54db-4246-af4b-1035142fd65e:5"

// TestRecoverJournal loses the journal of Oak's stores in several ways, and demands the head that Oak had.
func TestRecoverJournal(t *testing.T) {
	for name, folder := range folders {
		t.Run(name, func(t *testing.T) {
			dir := copyTiny(t)
			if name != "tiny" {
				dir = filepath.Join(fixture.Untar(t, "oak", name+".tar.xz"), folder)
			}
			want := dumpOf(t, dir)
			if name != "tiny" && name != "rollover" && want != string(fixture.Unxz(t, "oak", name+".dump.xz")) {
				t.Error("what is read is not what Oak read")
			}
			journal := filepath.Join(dir, "journal.log")
			must(t, os.Chmod(journal, 0o600))
			texts := []string{"", "rubbish that has no revision\n\x00\xff", "\n", tinyInitial[:20], "good"}
			if name != "tiny" && os.Getenv("HOLT_LONG") != "1" {
				texts = texts[:2]
			}
			for i, text := range texts {
				if text != "good" {
					must(t, os.WriteFile(journal, []byte(text), 0o600))
				}
				if text == "" {
					must(t, os.Remove(journal))
				}
				r, err := content.RecoverJournal(t.Context(), dir, content.RecoverOptions{})
				must(t, err)
				backup := fmt.Sprintf("journal.log.bak.%03d", i-1)
				if r.Dropped > 0 || r.Revisions < 2 || (i > 0) != (r.Backup == backup) {
					t.Errorf("%q: %+v", text, r)
				}
				compare(t, dumpOf(t, dir), want)
			}
		})
	}
}

func dumpOf(t testing.TB, dir string) string {
	t.Helper()
	s, err := content.Open(dir, &content.Options{Blobs: onlyIDs{}})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	return dump(t, s, "/")
}

// TestRecoverDropped has a head that is damaged.
func TestRecoverDropped(t *testing.T) {
	dir := damagedTiny(t, func(b []byte) { b[1536+0xc8+2] = 'x' }) // the value of the LONG
	must(t, os.Remove(filepath.Join(dir, "journal.log")))
	var dropped []string
	opts := content.RecoverOptions{DryRun: true, Dropped: func(r archive.Revision, reason error) {
		dropped = append(dropped, fmt.Sprint(r.ID, " ", reason))
	}}
	before := files(t, dir)
	r, err := content.RecoverJournal(t.Context(), dir, opts)
	must(t, err)
	if r.Head.ID.String() != tinyInitial || r.Revisions != 1 || r.Dropped != 1 || files(t, dir) != before {
		t.Errorf("%+v; files: %s", r, files(t, dir))
	}
	if len(dropped) != 1 || !strings.HasPrefix(dropped[0], "1f5f0022") || !strings.Contains(dropped[0], `"4x" is no LONG`) {
		t.Errorf("dropped: %q", dropped)
	}
	dir = damagedTiny(t, func(b []byte) { b[1536+0xc8+2], b[629] = 'x', 9 }) // and a stable id
	must(t, os.WriteFile(filepath.Join(dir, "journal.log"), []byte("keep"), 0o600))
	_, err = content.RecoverJournal(t.Context(), dir, content.RecoverOptions{})
	if b, _ := os.ReadFile(filepath.Join(dir, "journal.log")); !errors.Is(err, content.ErrNoRevision) || string(b) != "keep" {
		t.Errorf("nothing is whole: %v; journal %q", err, b)
	}
	empty := t.TempDir()
	if _, err := content.RecoverJournal(t.Context(), empty, content.RecoverOptions{}); !errors.Is(err, archive.ErrNoStore) ||
		files(t, empty) != "" {
		t.Errorf("no store: %v; files: %s", err, files(t, empty))
	}
	_, err = content.RecoverJournal(t.Context(), filepath.Join(empty, "missing"), content.RecoverOptions{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// TestRecoverCutStore cuts the archive at every block, and recovers it and then the journal: the check names what is lost in
// between, and nothing at the end.
func TestRecoverCutStore(t *testing.T) {
	const first, second = 512 + 192, 1536 + 288 // the ends of the segments
	for cut := 0; cut <= 6144; cut += 512 {
		dir := copyTiny(t)
		must(t, os.Truncate(filepath.Join(dir, "data00000a.tar"), int64(cut)))
		_, err := archive.Recover(t.Context(), dir, archive.RecoverOptions{})
		must(t, err)
		s, err := content.Open(dir, &content.Options{NoHead: true})
		must(t, err)
		findings, _ := check(t, s, content.CheckOptions{Archives: true, All: true})
		must(t, s.Close())
		if lost := strings.Contains(strings.Join(findings, "\n"), "1f5f0022"); lost != (cut < second) {
			t.Errorf("cut at %d: findings %q", cut, findings)
		}
		_, err = content.RecoverJournal(t.Context(), dir, content.RecoverOptions{})
		if cut < first {
			if err == nil {
				t.Errorf("cut at %d: a journal of nothing", cut)
			}
			continue
		}
		must(t, err)
		checkWhole(t, open(t, dir), content.CheckOptions{Archives: true, All: true})
	}
}

func files(t testing.TB, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, f := range list {
		names = append(names, f.Name())
	}
	return strings.Join(names, " ")
}

// scribe writes nodes to a store.
type scribe struct {
	testing.TB
	store *archive.Dir
	w     *segment.Writer
	now   int64 // milliseconds, of the next segment
}

func newScribe(t testing.TB, fsys file.FS) *scribe {
	d, err := archive.Open("store", &archive.Options{FS: fsys})
	must(t, err)
	a := &scribe{TB: t, store: d, now: 1796041571680}
	a.begin()
	return a
}

// begin begins another segment, a second later.
func (a *scribe) begin() {
	a.Helper()
	if a.w != nil {
		must(a, a.w.Flush())
	}
	a.now += 1000
	at := time.UnixMilli(a.now)
	w, err := segment.NewWriter(segment.Options{
		Store: content.New(a.store, content.Options{}), Sink: a.store, Now: func() time.Time { return at },
	})
	must(a, err)
	a.w = w
}

// node writes a node with children: name and id in turns.
func (a *scribe) node(children ...any) segment.RecordID {
	a.Helper()
	return a.write(nil, children)
}

// property writes a node with a property, and children perhaps.
func (a *scribe) property(name string, children ...any) segment.RecordID {
	a.Helper()
	v, err := a.w.String("value")
	must(a, err)
	return a.write([]segment.Field{{Name: name, Type: segment.TypeString, Values: []segment.RecordID{v}}}, children)
}

func (a *scribe) write(fields []segment.Field, children []any) segment.RecordID {
	a.Helper()
	var list []segment.Child
	for i := 0; i < len(children); i += 2 {
		list = append(list, segment.Child{Name: children[i].(string), Node: children[i+1].(segment.RecordID)})
	}
	c, err := a.w.Children(list)
	must(a, err)
	id, err := a.w.Node(&segment.Draft{Fields: fields, Children: c})
	must(a, err)
	return id
}

// lose closes the store without a journal.
func (a *scribe) lose() {
	a.Helper()
	must(a, a.w.Flush())
	must(a, a.store.Close())
}

// recoverIn recovers the journal of a store in memory, and returns its revisions, the newest first.
func recoverIn(t testing.TB, fsys file.FS, opts content.RecoverOptions) ([]segment.RecordID, error) {
	t.Helper()
	d, err := archive.Open("store", &archive.Options{FS: fsys, NoHead: true, ReadOnly: opts.DryRun})
	if err != nil {
		return nil, err
	}
	s := content.New(d, content.Options{})
	r, err := s.RecoverJournal(t.Context(), opts)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	var list []segment.RecordID
	for r, err := range s.Journal() {
		must(t, err)
		list = append(list, r.ID)
	}
	if head, _ := s.Head(); !opts.DryRun && (head != r.Head.ID || len(list) != r.Revisions || list[0] != head) {
		t.Errorf("head %v, journal %v, %+v", head, list, r)
	}
	return list, s.Close()
}

// TestRecoverRoots has nodes that look like super-roots and are none.
func TestRecoverRoots(t *testing.T) {
	for what, story := range map[string]func(a *scribe) (want []segment.RecordID){
		"inner nodes": func(a *scribe) []segment.RecordID {
			first := a.node("root", a.node("a", a.property("x")))
			inner := a.node("root", a.node("checkpoints", a.node(), "root", a.node()))
			a.begin()
			return []segment.RecordID{first, a.node("root", a.node("a", inner, "b", a.node("root", a.property("x"))))}
		},
		"inner nodes in large maps and diffs": func(a *scribe) []segment.RecordID {
			var children []any
			for i := range 100 {
				children = append(children, fmt.Sprint("child", i), a.node("root", a.node()))
			}
			large := a.node(children...)
			first := a.node("root", large)
			a.begin()
			r, err := segment.Find(a.w, large)
			must(a, err)
			n, err := r.Node()
			must(a, err)
			change := segment.Child{Name: "child7", Node: a.node("checkpoints", a.node(), "root", a.node())}
			c, err := a.w.UpdateChildren(n, []segment.Child{change})
			must(a, err)
			changed, err := a.w.Node(&segment.Draft{Children: c})
			must(a, err)
			return []segment.RecordID{first, a.node("root", changed)}
		},
		"other children and properties": func(a *scribe) []segment.RecordID {
			a.node("root", a.node(), "other", a.node())
			a.node("checkpoints", a.node(), "root", a.node(), "other", a.node())
			a.node("checkpoints", a.node())
			a.node("Root", a.node())
			a.property("root")
			a.property("x", "root", a.node())
			a.property("x", "checkpoints", a.node(), "root", a.node())
			a.node()
			return []segment.RecordID{a.node("root", a.node("a", a.node()))}
		},
		"checkpoints from some time on": func(a *scribe) []segment.RecordID {
			first := a.node("root", a.node("a", a.node()))
			second := a.node("checkpoints", a.node(), "root", a.node("b", a.node()))
			a.begin()
			a.node("root", a.node("a", a.property("x")))
			third := a.node("checkpoints", a.node(), "root", a.node())
			a.node("root", a.node("a", a.property("y")))
			return []segment.RecordID{first, second, third}
		},
		"age": func(a *scribe) []segment.RecordID {
			a.now += 10_000
			a.begin()
			second := a.node("root", a.node("a", a.node()))
			third := a.node("root", a.node("a", a.property("x")))
			a.now -= 10_000
			a.begin()
			return []segment.RecordID{a.node("root", a.node("a", a.property("y"))), second, third}
		},
		"a content that begins empty": func(a *scribe) []segment.RecordID {
			first := a.node("root", a.node())
			second := a.node("root", a.property("x"))
			a.begin()
			return []segment.RecordID{first, second, a.node("root", a.property("x"))}
		},
	} {
		t.Run(what, func(t *testing.T) {
			fsys := file.NewMemory()
			a := newScribe(t, fsys)
			want := story(a)
			a.lose()
			got, err := recoverIn(t, fsys, content.RecoverOptions{})
			must(t, err)
			slices.Reverse(got)
			if !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// TestRecoverSameTime has segments of the same millisecond: they come in the order in which they were written.
func TestRecoverSameTime(t *testing.T) {
	fsys := file.NewMemory()
	a := newScribe(t, fsys)
	var want []segment.RecordID
	for i := range 20 {
		a.now = 1 // whatever it was
		a.begin()
		if i%6 == 5 {
			must(t, a.store.Roll())
		}
		want = append(want, a.node("root", a.node("a", a.property(fmt.Sprint("x", i)))))
	}
	a.lose()
	slices.Reverse(want)
	if have, err := recoverIn(t, fsys, content.RecoverOptions{}); err != nil || !slices.Equal(have, want) {
		t.Errorf("revisions %v, want %v: %v", have, want, err)
	}
}

// TestRecoverAmbiguous has a node of a commit that was not finished: its parent was never written.
func TestRecoverAmbiguous(t *testing.T) {
	fsys := file.NewMemory()
	a := newScribe(t, fsys)
	a.node("root", a.node())
	true1 := a.node("root", a.node("content", a.node("x", a.property("y"))))
	a.begin()
	orphan := a.node("root", a.property("match"))
	a.lose()
	var doubt *content.AmbiguousError
	for _, dry := range []bool{true, false} {
		_, err := recoverIn(t, fsys, content.RecoverOptions{DryRun: dry})
		if !errors.As(err, &doubt) || doubt.Newest.ID != orphan || doubt.Older.ID != true1 {
			t.Fatalf("%v", err)
		}
		if _, err := fsys.Stat("store/journal.log"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a journal: %v", err)
		}
	}
	got, err := recoverIn(t, fsys, content.RecoverOptions{Head: orphan})
	must(t, err)
	if len(got) != 3 || got[0] != orphan {
		t.Errorf("%v", got)
	}
	got, err = recoverIn(t, fsys, content.RecoverOptions{Head: true1})
	must(t, err)
	if len(got) != 2 || got[0] != true1 {
		t.Errorf("%v", got)
	}
	if _, err := recoverIn(t, fsys, content.RecoverOptions{Head: segment.RecordID{Segment: orphan.Segment}}); err == nil {
		t.Error("a head that is none")
	}

	// A later commit has what was there before: the orphan is in between, where it does no harm.
	d := newScribe(t, fsys)
	d.now += 100_000
	d.begin()
	last := d.node("root", d.node("content", d.node()))
	d.lose()
	must(t, fsys.Remove("store/journal.log"))
	got, err = recoverIn(t, fsys, content.RecoverOptions{})
	must(t, err)
	if len(got) != 4 || got[0] != last {
		t.Errorf("%v, want %v first", got, last)
	}
}

// TestRecoverPowerCut cuts the power at every call: the old journal is there or the new one, and another try succeeds.
func TestRecoverPowerCut(t *testing.T) {
	disk := file.NewCrash()
	a := newScribe(t, disk)
	first := a.node("root", a.node())
	second := a.node("root", a.node("a", a.node()))
	a.lose()
	const old = "rubbish\n"
	f, err := disk.OpenFile("store/journal.log", os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	_, err = f.WriteAt([]byte(old), 0)
	must(t, errors.Join(err, f.Sync(), f.Close(), disk.SyncDir("store")))
	for k := 1; ; k++ {
		fsys := disk.Clone()
		fsys.CutAt(k)
		got, err := recoverIn(t, fsys, content.RecoverOptions{})
		if err == nil {
			if !slices.Equal(got, []segment.RecordID{second, first}) || k < 6 {
				t.Errorf("%v after %d calls", got, k)
			}
			return
		}
		if !errors.Is(err, file.ErrPowerCut) {
			t.Fatal(err)
		}
		for i := range len(fsys.Unsynced()) + 1 {
			after := fsys.AfterCutKeeping(func(j int) bool { return j != i })
			d, err := archive.Open("store", &archive.Options{FS: after, ReadOnly: true})
			if err == nil {
				if head, _ := d.Head(); head != second {
					t.Errorf("cut at %d: head %v", k, head)
				}
				must(t, d.Close())
			} else if !errors.Is(err, archive.ErrNoHead) {
				t.Errorf("cut at %d: %v", k, err)
			}
			got, err := recoverIn(t, after, content.RecoverOptions{})
			if err != nil || got[0] != second {
				t.Errorf("cut at %d: %v, %v", k, got, err)
			}
		}
	}
}
