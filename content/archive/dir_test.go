// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
	"github.com/holtdb/holt/internal/file"
)

func TestNames(t *testing.T) {
	for s, want := range map[string]archive.Name{
		"data00000a.tar":      {Number: 0, Letter: 'a'},
		"data00012z.tar":      {Number: 12, Letter: 'z'},
		"data00007.tar":       {Number: 7, Letter: 'a'},
		"data99999b.tar":      {Number: 99999, Letter: 'b'},
		"data100000a.tar":     {Number: 100000, Letter: 'a'},
		"data2147483647a.tar": {Number: 2147483647, Letter: 'a'},
	} {
		if n, ok := archive.ParseName(s); !ok || n != want {
			t.Errorf("%s is %v, %t", s, n, ok)
		} else if n.String() != s && s != "data00007.tar" {
			t.Errorf("%s comes out as %s", s, n)
		}
	}
	for _, s := range []string{
		"", "data0000a.tar", "data000000a.tar", "data012345a.tar", "data00000A.tar", "data00000aa.tar", "data00000a.tar.bak",
		"data00000a.tar.ro.bak", "xdata00000a.tar", "data2147483648a.tar", "data-0001a.tar", "data00000a.tar\n", "data00000é.tar",
	} {
		if n, ok := archive.ParseName(s); ok {
			t.Errorf("%q is %v", s, n)
		}
	}
}

// TestNumbers demands that a new archive gets the number after the highest, also of those that were put aside: a backup
// belongs to one archive.
func TestNumbers(t *testing.T) {
	files := tiny(t)
	files["data00041b.tar"] = writeArchive(t, "data00041b.tar", storetest.Sample{}.Segment(t))
	files["data00050a.tar.bak"] = []byte("x")
	fsys := disk(t, files)
	d := open(t, fsys, archive.Options{})
	must(t, d.Close())
	if got := names(t, fsys); strings.Contains(got, "data00051") {
		t.Errorf("files: %s, though nothing was written", got)
	}
	d = open(t, fsys, archive.Options{})
	must(t, d.Append(storetest.Sample{}.Segment(t)))
	must(t, d.Close())
	if got := names(t, fsys); !strings.Contains(got, "data00051a.tar ") {
		t.Errorf("files: %s", got)
	}
}

// TestLastNumber demands that nothing is written behind the archive with the highest number, as it would be the oldest.
func TestLastNumber(t *testing.T) {
	s := storetest.Sample{}.Segment(t)
	fsys := disk(t, map[string][]byte{
		"data2147483647a.tar": writeArchive(t, "data2147483647a.tar", s), "journal.log": []byte(head(s.ID())), "manifest": manifest2,
	})
	d := open(t, fsys, archive.Options{})
	if err := d.Append(storetest.Sample{}.Segment(t)); err == nil || !strings.Contains(err.Error(), "last number") {
		t.Errorf("error %v", err)
	}
	must(t, d.Close())
	if got := names(t, fsys); got != "data2147483647a.tar journal.log manifest repo.lock" {
		t.Errorf("files: %s", got)
	}
}

// TestNew demands that a store whose first head was never set is taken for a new one, and no other is.
func TestNew(t *testing.T) {
	initial := storetest.Sample{Writer: "init"}.Segment(t)
	other := storetest.Sample{}.Segment(t)
	for _, tc := range []struct {
		segments []*segment.Segment
		journal  string
		isNew    bool
	}{
		{[]*segment.Segment{initial}, "", true},
		{[]*segment.Segment{initial}, initial.ID().String()[:20], true},
		{[]*segment.Segment{initial, other}, "", false},
		{[]*segment.Segment{other}, "", false},
		{[]*segment.Segment{storetest.Bulk(t, 10)}, "", false},
		{[]*segment.Segment{initial}, head(other.ID()), false},
	} {
		fsys := disk(t, map[string][]byte{
			"data00000a.tar": writeArchive(t, "data00000a.tar", tc.segments...), "manifest": manifest2, "journal.log": []byte(tc.journal),
		})
		d, err := archive.Open("store", &archive.Options{FS: fsys})
		if !tc.isNew {
			wantErr(t, err, archive.ErrNoHead)
			continue
		}
		must(t, err)
		if head, ok := d.Head(); ok {
			t.Errorf("head %v", head)
		}
		must(t, d.Close())
	}
	fsys := disk(t, map[string][]byte{"journal.log": []byte(head(other.ID())), "manifest": manifest2})
	_, err := archive.Open("store", &archive.Options{FS: fsys})
	wantErr(t, err, archive.ErrNoHead) // the archives were lost
}

// TestBesideWriter reads a store while another program writes to it, after every step of that.
func TestBesideWriter(t *testing.T) {
	fsys := file.NewMemory()
	d := open(t, fsys, archive.Options{Limit: 6 << 10})
	old := segment.RecordID{}
	var all []*segment.Segment
	for i := range 12 {
		s := storetest.Sample{Fill: 700}.Segment(t)
		must(t, d.Append(s))
		all = append(all, s)
		id := storetest.Root(s)
		if i == 0 {
			must(t, d.SetHead(old, archive.Revision{ID: id}))
			old = id
		}
		before := names(t, fsys)
		r := open(t, fsys, archive.Options{ReadOnly: true})
		wantSegments(t, r, all...)
		if head, _ := r.Head(); head != old {
			t.Errorf("step %d: head %v, want %v", i, head, old)
		}
		must(t, d.SetHead(old, archive.Revision{ID: id}))
		old = id
		must(t, r.Close())
		if got := names(t, fsys); got != before {
			t.Errorf("step %d: files %s, were %s", i, got, before)
		}
	}
	must(t, d.Close())
}

// vanishing is a file system in which a cleanup replaces an archive after it was listed.
type vanishing struct {
	*file.Crash
	once func()
}

func (v *vanishing) ReadDir(dir string) ([]string, error) {
	list, err := v.Crash.ReadDir(dir)
	if f := v.once; f != nil && slices.Contains(list, "data00000a.tar") {
		v.once = nil
		defer f()
	}
	return list, err
}

func TestVanishing(t *testing.T) {
	crash := disk(t, tiny(t))
	fsys := &vanishing{Crash: crash}
	want := open(t, fsys, archive.Options{ReadOnly: true})
	defer closing(t, want)
	moves := 0
	var move func()
	move = func() {
		if moves++; moves == 1 {
			fsys.once = move // the first list is for the manifest's sake
			return
		}
		must(t, crash.Rename("store/data00000a.tar", "store/data00000b.tar"))
	}
	fsys.once = move
	d := open(t, fsys, archive.Options{ReadOnly: true})
	if a, b := entries(d.Archives()[0]), entries(want.Archives()[0]); !slices.Equal(a, b) || moves != 2 {
		t.Errorf("entries %v, want %v; %d moves", a, b, moves)
	}
	must(t, d.Close())
	fsys.once = func() { must(t, crash.Remove("store/journal.log")) }
	_, err := archive.Open("store", &archive.Options{FS: fsys, ReadOnly: true})
	if err != nil && !errors.Is(err, archive.ErrNoHead) {
		t.Errorf("error %v", err)
	}
}

func TestNotThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	_, err := archive.Open(dir, &archive.Options{ReadOnly: true})
	wantErr(t, err, fs.ErrNotExist)
	d, err := archive.Open(dir, nil)
	must(t, err)
	must(t, d.Close())
	list, err := os.ReadDir(dir)
	must(t, err)
	if len(list) != 2 { // manifest and lock
		t.Errorf("files %v", list)
	}
}

// TestNoStore demands that nothing but opening for writing makes a directory a store, or takes it for one.
func TestNoStore(t *testing.T) {
	fsys := disk(t, map[string][]byte{"gc.log": nil, "journal.log.bak.000": nil, "data00000a.tar.bak": nil})
	files := names(t, fsys)
	for _, opts := range []archive.Options{{ReadOnly: true}, {NoHead: true}, {ReadOnly: true, NoHead: true}} {
		opts.FS = fsys
		_, err := archive.Open("store", &opts)
		wantErr(t, err, archive.ErrNoStore)
	}
	_, err := archive.Recover(t.Context(), "store", archive.RecoverOptions{FS: fsys})
	wantErr(t, err, archive.ErrNoStore)
	if got := names(t, fsys); got != files {
		t.Errorf("files %s", got)
	}
}

func TestLockTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := disk(t, tiny(t))
		d := open(t, fsys, archive.Options{})
		time.AfterFunc(time.Minute, func() { must(t, d.Close()) })
		_, err := archive.Open("store", &archive.Options{FS: fsys, LockTimeout: time.Second})
		wantErr(t, err, archive.ErrLocked)
		must(t, open(t, fsys, archive.Options{LockTimeout: time.Hour}).Close())
	})
}

// TestRecordLock demands that the lock is of the kind that Oak takes.
func TestRecordLock(t *testing.T) {
	dir := t.TempDir()
	f, err := file.OS.OpenFile(filepath.Join(dir, "repo.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	defer closing(t, f)
	must(t, f.TryLockRecord(true))
	_, err = archive.Open(dir, nil)
	wantErr(t, err, archive.ErrLocked)
	must(t, f.Unlock())
	d, err := archive.Open(dir, nil)
	must(t, err)
	defer closing(t, d)
	wantErr(t, f.TryLockRecord(true), file.ErrLocked)
}

// TestLogger demands that going back in the journal, and recovery, are told.
func TestLogger(t *testing.T) {
	files := tiny(t)
	files["journal.log"] = append(files["journal.log"], head(segment.NewDataID())...)
	files["data00000a.tar"] = files["data00000a.tar"][:5632]
	var log strings.Builder
	d := open(t, disk(t, files), archive.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, d.Close())
	for _, want := range []string{"archive without index", "recovered an archive", "going back"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q: %s", want, log.String())
		}
	}
}

// TestLimitWithLateIDs has an archive get to its limit when an id of a binary in it is yet to come.
func TestLimitWithLateIDs(t *testing.T) {
	fsys := file.NewMemory()
	d, err := archive.Open("store", &archive.Options{FS: fsys, Limit: 1})
	must(t, err)
	text := storetest.Sample{ID: segment.NewDataID(), Text: strings.Repeat("x", 4096)}
	user := storetest.Sample{References: []segment.ID{text.ID}, Elsewhere: []int{1}}.Segment(t)
	must(t, d.Append(user))
	must(t, d.Append(storetest.Bulk(t, 10)))
	must(t, d.Append(text.Segment(t)))
	must(t, d.Append(storetest.Bulk(t, 20)))
	must(t, d.SetHead(segment.RecordID{}, archive.Revision{ID: storetest.Root(user)}))
	must(t, d.Close())
	d, err = archive.Open("store", &archive.Options{FS: fsys, ReadOnly: true})
	must(t, err)
	defer closing(t, d)
	list := d.Archives()
	if len(list) != 2 || len(slices.Collect(list[1].Entries())) != 3 {
		t.Fatalf("%d archives", len(list))
	}
	for _, a := range list {
		must(t, check(a.(*archive.Reader)))
	}
	refs, err := list[1].BlobReferences()
	if err != nil || len(refs) != 1 || !slices.Equal(refs[0].Segments[0].IDs, []string{text.Text}) {
		t.Errorf("binary references %.100v, %v", refs, err)
	}
}

// TestRolledWhenComplete has an archive closed as soon as the last id is there.
func TestRolledWhenComplete(t *testing.T) {
	d, err := archive.Open("store", &archive.Options{FS: file.NewMemory()})
	must(t, err)
	defer closing(t, d)
	text := storetest.Sample{ID: segment.NewDataID(), Text: strings.Repeat("x", 4096)}
	must(t, d.Append(storetest.Sample{References: []segment.ID{text.ID}, Elsewhere: []int{1}}.Segment(t)))
	must(t, d.Roll())
	for i, s := range []*segment.Segment{storetest.Bulk(t, 10), text.Segment(t), storetest.Bulk(t, 20)} {
		must(t, d.Append(s))
		if n := len(d.Archives()); (n == 2) != (i == 2) {
			t.Errorf("%d archives after segment %d", n, i)
		}
		if _, closed := d.Archives()[0].(*archive.Reader); closed != (i == 1) {
			t.Errorf("closed after segment %d: %t", i, closed)
		}
	}
}
