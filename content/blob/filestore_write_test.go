// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package blob_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/content/blob"
	"github.com/holtdb/holt/internal/file"
)

// random is n bytes that are the same for the same seed.
func random(seed uint64, n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestIDs is about where a binary gets too long to be in its id.
func TestIDs(t *testing.T) {
	for _, c := range []struct{ inline, longest int }{{0, 4096}, {100, 100}, {-1, 0}, {1 << 30, 1 << 18}} {
		s := &blob.FileStore{Dir: t.TempDir(), Inline: c.inline}
		for _, n := range []int{c.longest - 1, c.longest, c.longest + 1} {
			if n < 0 {
				continue
			}
			b := random(1, n)
			id, err := s.Write(bytes.NewReader(b))
			must(t, err)
			if want := fmt.Sprintf("0x%x#%d", b, n); n <= c.longest && id != want {
				t.Errorf("%d bytes, up to %d in ids: %.70s", n, c.longest, id)
			}
			parsed, err := blob.ParseID(id)
			must(t, err)
			if inFile := parsed.Hash != ""; inFile != (n > c.longest) || parsed.Length != int64(n) {
				t.Errorf("%d bytes, up to %d in ids: %.70s", n, c.longest, id)
			}
			if got, err := readAll(s, id); err != nil || got != string(b) {
				t.Errorf("%d bytes: read %d, %v", n, len(got), err)
			}
		}
	}
	if _, err := (&blob.FileStore{}).Write(bytes.NewReader(make([]byte, 5000))); !errors.Is(err, blob.ErrNoStore) {
		t.Errorf("no directory: %v", err)
	}
}

// TestForeignFiles is about what else is in a data store of Oak's.
func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	s := &blob.FileStore{Dir: dir}
	id, err := s.Write(bytes.NewReader(random(1, 5000)))
	must(t, err)
	hash, _, _ := strings.Cut(id, "#")
	sha1 := strings.Repeat("ab", 20) // of an older data store
	place := func(hash string) string { return filepath.Join(hash[:2], hash[2:4], hash[4:6]) }
	foreign := []string{
		"reference.key", "repository-0b1b", "references-0b1b", "markedTimestamp-0b1b", "tmp.txt", "tmp12x.tmp", hash,
		filepath.Join("ab", sha1), filepath.Join(place(sha1), "x"+sha1[1:]), filepath.Join("ab", "cd", "ef", sha1),
		filepath.Join("zz", "zz", "zz", strings.Repeat("zz", 20)), filepath.Join("abc", "ab", "ab", sha1),
		filepath.Join(place(sha1), sha1+".tmp"),
	}
	old := time.Now().Add(-time.Hour)
	for _, name := range append(foreign, filepath.Join(place(sha1), sha1), "tmp4711.tmp") {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte("foreign"), 0o600))
		must(t, os.Chtimes(path, old, old))
	}
	must(t, os.MkdirAll(filepath.Join(dir, place(sha1), strings.Repeat("ab", 32)), 0o700)) // no file
	must(t, os.Mkdir(filepath.Join(dir, "tmp1.tmp"), 0o700))

	var got []string
	for e, err := range s.All() {
		must(t, err)
		got = append(got, e.ID)
	}
	if want := []string{id, sha1 + "#7"}; !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("listed %q, want %q", got, want)
	}
	none := func(func(string, error) bool) {}
	report, err := blob.Collect(t.Context(), s, none, blob.CollectOptions{Grace: time.Minute})
	must(t, err)
	want := blob.CollectReport{
		Found: blob.Tally{Count: 2, Bytes: 5007}, Young: blob.Tally{Count: 1, Bytes: 5000},
		Deleted: blob.Tally{Count: 1, Bytes: 7}, Cleaned: blob.Tally{Count: 1, Bytes: 7},
	}
	if report != want {
		t.Errorf("report %+v, want %+v", report, want)
	}
	for _, name := range foreign {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestReplaced is about files that cannot be what they should be.
func TestReplaced(t *testing.T) {
	s := &blob.FileStore{Dir: t.TempDir()}
	content := random(1, 5000)
	id, err := s.Write(bytes.NewReader(content))
	must(t, err)
	hash, _, _ := strings.Cut(id, "#")
	must(t, os.Truncate(s.Path(hash), 4999))
	again, err := s.Write(bytes.NewReader(content))
	must(t, err)
	if got, err := readAll(s, again); again != id || err != nil || got != string(content) {
		t.Errorf("id %s, %d bytes, %v", again, len(got), err)
	}
}

// TestNotWrittenTwice demands that a file that is there stays the file it is.
func TestNotWrittenTwice(t *testing.T) {
	s := &blob.FileStore{Dir: t.TempDir()}
	id, err := s.Write(bytes.NewReader(random(1, 5000)))
	must(t, err)
	hash, _, _ := strings.Cut(id, "#")
	before, err := os.Stat(s.Path(hash))
	must(t, err)
	_, err = s.Write(bytes.NewReader(random(1, 5000)))
	must(t, err)
	after, err := os.Stat(s.Path(hash))
	must(t, err)
	if !os.SameFile(before, after) || after.ModTime().Before(before.ModTime()) {
		t.Error("another file")
	}
	names, err := file.OS.ReadDir(s.Dir)
	if err != nil || len(names) != 0 {
		t.Errorf("left behind: %q, %v", names, err)
	}
}

// TestNotCleaned is about a write that takes its time.
func TestNotCleaned(t *testing.T) {
	s := &blob.FileStore{Dir: t.TempDir()}
	r, w := io.Pipe()
	done := make(chan error)
	go func() {
		_, err := s.Write(r)
		done <- err
	}()
	content := random(1, 10_000)
	_, err := w.Write(content)
	must(t, err)
	left, err := s.Clean(time.Now().Add(time.Hour), false)
	must(t, err)
	must(t, w.Close())
	must(t, <-done)
	if left != (blob.Tally{}) {
		t.Errorf("cleaned %+v", left)
	}
}

// directories is a file system that knows which directories were synced.
type directories struct {
	file.FS
	synced []string
	before []string // before the last rename
}

func (d *directories) Rename(from, to string) error {
	d.before, d.synced = d.synced, nil
	return d.FS.Rename(from, to)
}

func (d *directories) SyncDir(dir string) error {
	d.synced = append(d.synced, dir)
	return d.FS.SyncDir(dir)
}

// TestDirectoriesSynced demands that all directories are durable that lead to a file, be they new or not.
func TestDirectoriesSynced(t *testing.T) {
	top := t.TempDir()
	d := &directories{FS: file.OS}
	s := &blob.FileStore{Dir: filepath.Join(top, "a", "b"), FS: d}
	for range 2 {
		id, err := s.Write(bytes.NewReader(random(1, 5000)))
		must(t, err)
		hash, _, _ := strings.Cut(id, "#")
		var want []string
		for dir := filepath.Dir(s.Path(hash)); dir != filepath.Join(top, "a"); dir = filepath.Dir(dir) {
			want = append(want, dir)
		}
		if len(d.synced) < 4 || !slices.Equal(d.synced[len(d.synced)-4:], want) {
			t.Errorf("synced %q, want %q", d.synced, want)
		}
		if want := []string{filepath.Join(top, "a"), top}; !slices.Equal(d.before, want) {
			t.Errorf("synced when the directory was made: %q, want %q", d.before, want)
		}
	}
}

// TestCrash cuts the power at every change, and demands that what Write has returned is there, and nothing that is not
// whole.
func TestCrash(t *testing.T) {
	for k := 1; ; k++ {
		disk := file.NewCrash()
		disk.CutAt(k)
		w := &crashed{disk: disk, there: map[string][]byte{}}
		err := w.run(t)
		if err != nil && !errors.Is(err, file.ErrPowerCut) {
			t.Fatal(err)
		}
		for seed := range uint64(10) {
			w.verify(t, disk.AfterCut(seed), fmt.Sprintf("cut at %d, seed %d", k, seed))
		}
		w.verify(t, disk.AfterCutKeeping(file.KeepAll), fmt.Sprintf("cut at %d, all kept", k))
		w.verify(t, disk.AfterCutKeeping(file.KeepNone), fmt.Sprintf("cut at %d, none kept", k))
		if err == nil {
			if k < 40 {
				t.Errorf("only %d changes", k)
			}
			return
		}
	}
}

// crashed is a workload that may be cut short.
type crashed struct {
	disk  *file.Crash
	there map[string][]byte // what must be there, by id
}

func storeOn(disk file.FS) *blob.FileStore {
	return &blob.FileStore{Dir: filepath.Join("data", "store"), FS: disk}
}

func (w *crashed) run(t *testing.T) error {
	s := storeOn(w.disk)
	byOak := random(2, 6000) // which renames and does not sync
	path := s.Path(fmt.Sprintf("%x", sha(byOak)))
	if err := writeFile(w.disk, path, byOak); err != nil {
		return err
	}
	for _, b := range [][]byte{random(1, 100_000), byOak, random(3, 5000), random(1, 100_000), random(4, 5)} {
		id, err := s.Write(bytes.NewReader(b))
		if err != nil {
			return err
		}
		w.there[id] = b
	}
	// What nobody uses is collected, and written again.
	b := random(3, 5000)
	id := fmt.Sprintf("%x#5000", sha(b))
	delete(w.there, id)
	report, err := blob.Collect(t.Context(), s, keysOf(w.there), blob.CollectOptions{Now: soon})
	if err != nil || report.Deleted.Count != 1 {
		return errors.Join(err, fmt.Errorf("%w: %+v", errReport, report))
	}
	if _, err := s.Write(bytes.NewReader(b)); err != nil {
		return err
	}
	w.there[id] = b
	return nil
}

var errReport = errors.New("unexpected report")

// soon is a time at which all that was written is old.
func soon() time.Time { return time.Now().Add(time.Hour) }

func keysOf(m map[string][]byte) func(yield func(string, error) bool) {
	return func(yield func(string, error) bool) {
		for id := range m {
			if !yield(id, nil) {
				return
			}
		}
	}
}

func (w *crashed) verify(t *testing.T, disk *file.Crash, what string) {
	t.Helper()
	s := storeOn(disk)
	for id, want := range w.there {
		if got, err := readAll(s, id); err != nil || got != string(want) {
			t.Errorf("%s: %s: %d bytes, %v", what, id, len(got), err)
		}
	}
	for e, err := range s.All() {
		must(t, err)
		got, err := readAll(s, e.ID)
		byOak := fmt.Sprintf("%x", sha(random(2, 6000)))
		if err != nil || fmt.Sprintf("%x", sha([]byte(got))) != e.Key && e.Key != byOak {
			t.Errorf("%s: %s: %d bytes that are something else, %v", what, e.ID, len(got), err)
		}
	}
	_, err := blob.Collect(t.Context(), s, keysOf(w.there), blob.CollectOptions{Now: soon})
	must(t, err)
	if names, err := disk.ReadDir(s.Dir); err != nil || len(names) > 0 {
		t.Errorf("%s: not cleaned: %q, %v", what, names, err)
	}
	for id, want := range w.there {
		if got, err := readAll(s, id); err != nil || got != string(want) {
			t.Errorf("%s: after a collection: %s: %d bytes, %v", what, id, len(got), err)
		}
	}
	for _, b := range w.there { // and can be written on
		if _, err := s.Write(bytes.NewReader(b)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestFaults has every call fail once. What Write returns without an error must be there.
func TestFaults(t *testing.T) {
	for k := 1; ; k++ {
		disk := file.NewFault(file.NewMemory())
		disk.FailAt(k)
		s := storeOn(disk)
		var ids []string
		for range 2 {
			id, err := s.Write(bytes.NewReader(random(1, 50_000)))
			if err == nil {
				ids = append(ids, id)
			} else if !errors.Is(err, file.ErrInjected) {
				t.Errorf("call %d: %v", k, err)
			}
		}
		used := keysOf(map[string][]byte{fmt.Sprintf("%x#50000", sha(random(1, 50_000))): nil})
		_, err := blob.Collect(t.Context(), s, used, blob.CollectOptions{})
		if err != nil && !errors.Is(err, file.ErrInjected) {
			t.Errorf("call %d: %v", k, err)
		}
		failed := len(disk.Injected()) > 0
		disk.FailIf(nil)
		for _, id := range ids {
			if got, err := readAll(s, id); err != nil || got != string(random(1, 50_000)) {
				t.Errorf("call %d: %d bytes, %v", k, len(got), err)
			}
		}
		if !failed {
			if k < 20 {
				t.Errorf("only %d calls", k)
			}
			return
		}
	}
}

func sha(b []byte) [sha256.Size]byte { return sha256.Sum256(b) }

func writeFile(fsys file.FS, path string, b []byte) error {
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	return errors.Join(err, f.Close())
}

// hesitant is a file system in which something happens ahead of the first removal of a file.
type hesitant struct {
	file.FS
	first func()
}

func (h *hesitant) Remove(name string) error {
	if first := h.first; first != nil {
		h.first = nil
		first()
	}
	return h.FS.Remove(name)
}

// TestWrittenWhileDeleted has a write of the same bytes end between the last look at the time of a binary and its
// removal.
func TestWrittenWhileDeleted(t *testing.T) {
	disk := &hesitant{FS: file.NewMemory()}
	s := storeOn(disk)
	content := random(1, 5000)
	id, err := s.Write(bytes.NewReader(content))
	must(t, err)
	written := make(chan error, 1)
	r, w := io.Pipe()
	go func() {
		_, err := s.Write(r)
		written <- err
	}()
	_, err = w.Write(content)
	must(t, err)
	disk.first = func() {
		must(t, w.Close())
		select {
		case err := <-written: // it should wait for us; if it does not, it has seen the file
			written <- err
		case <-time.After(50 * time.Millisecond):
		}
	}
	if _, err := s.Delete(id, soon()); err != nil {
		t.Error(err)
	}
	must(t, <-written)
	if got, err := readAll(s, id); err != nil || got != string(content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
