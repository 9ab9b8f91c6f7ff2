// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/cmd/holt/internal/bucket"
	"github.com/holtdb/holt/cmd/holt/internal/folder"
	"github.com/holtdb/holt/kv"
)

// tree is a folder in memory: contents by path, folders with a slash at the end.
type tree map[string]string

func (tr tree) write(dir string) error {
	for name, content := range tr {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func readTree(dir string) (tree, error) {
	tr := tree{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			tr[name+"/"] = ""
			return nil
		}
		content, err := os.ReadFile(path)
		tr[name] = string(content)
		return err
	})
	return tr, err
}

// withFolders adds the folders that the files are in.
func (tr tree) withFolders() tree {
	all := maps.Clone(tr)
	for name := range tr {
		for i, c := range strings.TrimSuffix(name, "/") {
			if c == '/' {
				all[name[:i+1]] = ""
			}
		}
	}
	return all
}

func open(t rapid.TB, path string) *kv.DB {
	t.Helper()
	db, err := kv.Open(path, 0o600, &kv.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

var top = bucket.Path{[]byte("top")}

// export copies the bucket of top into dir.
func export(ctx context.Context, db *kv.DB, dir string, o folder.Options) (r folder.Report, err error) {
	err = db.View(func(tx *kv.Tx) error {
		b, err := top.Find(tx)
		if err != nil {
			return err
		}
		r, err = folder.Export(ctx, b, top, dir, o)
		return err
	})
	return r, err
}

// genTree draws folders with names that many systems would have trouble with, but can hold.
func genTree() *rapid.Generator[tree] {
	name := rapid.SampledFrom([]string{
		"a", "b", "A1", "..." + "x", ".hidden", "with space", "ümlaut", "大", "-flag", "new\nline", "quote'\"", "back\\slash", "end.", "~",
		strings.Repeat("n", 255), "nul", "x:y", "*?", "\xff\xfe",
	})
	if runtime.GOOS != "linux" {
		name = rapid.SampledFrom([]string{"a", "b", "c1", ".hidden", "with space", "-flag"})
	}
	return rapid.Custom(func(t *rapid.T) tree {
		tr := tree{}
		for range rapid.IntRange(0, 12).Draw(t, "entries") {
			path := strings.Join(rapid.SliceOfN(name, 1, 4).Draw(t, "path"), "/")
			if tr.collides(path) {
				continue
			}
			if rapid.Bool().Draw(t, "folder") {
				tr[path+"/"] = ""
			} else {
				tr[path] = string(rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "content"))
			}
		}
		return tr
	})
}

// collides says whether a path would need a file to be a folder.
func (tr tree) collides(path string) bool {
	for name := range tr {
		name = strings.TrimSuffix(name, "/")
		if name == path || strings.HasPrefix(path, name+"/") || strings.HasPrefix(name, path+"/") {
			return true
		}
	}
	return false
}

// dirs gives a new folder for every try of a property.
func dirs(t *testing.T) func(*rapid.T) string {
	top, n := t.TempDir(), 0
	return func(t *rapid.T) string {
		n++
		dir := filepath.Join(top, fmt.Sprint(n))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
}

func TestRoundTrip(t *testing.T) {
	newDir := dirs(t)
	rapid.Check(t, func(t *rapid.T) {
		dir := newDir(t)
		want := genTree().Draw(t, "tree")
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		if err := errors.Join(os.Mkdir(in, 0o755), want.write(in)); err != nil {
			t.Fatal(err)
		}
		db := open(t, filepath.Join(dir, "test.db"))
		defer db.Close() //nolint:errcheck // a temporary database
		imported, err := folder.Import(t.Context(), db, top, in, folder.Options{})
		if err != nil {
			t.Fatal(err)
		}
		exported, err := export(t.Context(), db, out, folder.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if imported != exported {
			t.Errorf("imported %+v, exported %+v", imported, exported)
		}
		got, err := readTree(out)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(got, want.withFolders()) {
			t.Errorf("got back %q of %q", got, want)
		}
	})
}

// TestHostileKeys puts arbitrary keys into a database and demands that an export touches nothing but the folder it is
// told, and that what it does write is right.
func TestHostileKeys(t *testing.T) {
	newDir := dirs(t)
	rapid.Check(t, func(t *rapid.T) {
		dir := newDir(t)
		part := rapid.SampledFrom([]string{"..", ".", "/", "\\", "a", "out", "\x00", " ", "etc", "C:", "~"})
		key := rapid.Map(rapid.SliceOfN(part, 1, 5), func(parts []string) string { return strings.Join(parts, "") })
		keys := rapid.SliceOfNDistinct(key, 1, 8, func(s string) string { return s }).Draw(t, "keys")
		buckets := rapid.SliceOfN(rapid.Bool(), len(keys), len(keys)).Draw(t, "buckets")

		db := open(t, filepath.Join(dir, "test.db"))
		defer db.Close() //nolint:errcheck // a temporary database
		err := db.Update(func(tx *kv.Tx) error {
			b, err := top.Create(tx)
			if err != nil {
				return err
			}
			for i, key := range keys {
				if !buckets[i] {
					err = b.Put([]byte(key), []byte("value of "+key))
				} else if sub, cerr := b.CreateBucket([]byte(key)); cerr == nil {
					err = sub.Put([]byte("inside"), []byte("value in "+key))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "deep", "out")
		problems := 0
		r, err := export(t.Context(), db, out, folder.Options{Skip: func(*folder.Problem) { problems++ }})
		if err != nil {
			t.Fatal(err)
		}
		entries, err := readTree(dir)
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range entries {
			rest, inside := strings.CutPrefix(name, "deep/out/")
			switch {
			case !inside && name != "test.db" && name != "deep/" && name != "deep/out/":
				t.Errorf("%q was written (%+v)", name, r)
			case inside && !strings.HasSuffix(name, "/") && content != "value of "+rest &&
				content != "value in "+strings.TrimSuffix(rest, "/inside"):
				t.Errorf("%q holds %q", name, content)
			}
		}
		if written := len(entries) - 3; int64(written) != r.Files+r.Folders-1 {
			t.Errorf("%d entries, reported %+v", written, r)
		}
		if int64(problems) != r.Skipped || problems+int(r.Files) < len(keys)-slicesCount(buckets) {
			t.Errorf("%d problems, reported %+v", problems, r)
		}
		// Without Skip nothing is written when anything is wrong.
		strict := filepath.Join(dir, "strict")
		_, err = export(t.Context(), db, strict, folder.Options{})
		if _, serr := os.Stat(strict); (err == nil) != (serr == nil) || (err == nil) != (problems == 0) {
			t.Errorf("with %d problems: %v, the folder: %v", problems, err, serr)
		}
	})
}

func slicesCount(b []bool) (n int) {
	for _, set := range b {
		if set {
			n++
		}
	}
	return n
}

func TestImportRefusesLinks(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := (tree{"a": "1", "sub/b": "2"}).write(in); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(in, "sub", "link")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	db := open(t, filepath.Join(dir, "test.db"))
	defer db.Close() //nolint:errcheck // a temporary database
	var problem *folder.Problem
	if _, err := folder.Survey(t.Context(), in, db.Path(), folder.Options{}); !errors.As(err, &problem) ||
		problem.What != filepath.Join(in, "sub", "link") {
		t.Errorf("survey: %v", err)
	}
	var skipped []string
	o := folder.Options{Skip: func(p *folder.Problem) { skipped = append(skipped, p.What) }}
	r, err := folder.Import(t.Context(), db, top, in, o)
	if err != nil || r.Skipped != 1 || r.Files != 2 || len(skipped) != 1 {
		t.Errorf("import: %+v, %v, skipped %q", r, err, skipped)
	}

	// The folder itself may be reached through a link.
	link := filepath.Join(dir, "to-in")
	if err := os.Symlink(in, link); err != nil {
		t.Fatal(err)
	}
	if r, err := folder.Survey(t.Context(), link, db.Path(), o); err != nil || r.Files != 2 {
		t.Errorf("through a link: %+v, %v", r, err)
	}
}

func TestImportLeavesItselfOut(t *testing.T) {
	dir := t.TempDir()
	if err := (tree{"a": "1"}).write(dir); err != nil {
		t.Fatal(err)
	}
	db := open(t, filepath.Join(dir, "self.db"))
	defer db.Close() //nolint:errcheck // a temporary database
	r, err := folder.Import(t.Context(), db, top, dir, folder.Options{})
	if err != nil || !r.Self || r.Files != 1 || r.Bytes != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestExportRefusesSequences(t *testing.T) {
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "test.db"))
	defer db.Close() //nolint:errcheck // a temporary database
	err := db.Update(func(tx *kv.Tx) error {
		b, err := top.Child([]byte("sub")).Create(tx)
		if err != nil {
			return err
		}
		return b.SetSequence(7)
	})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	_, err = export(t.Context(), db, out, folder.Options{})
	if err == nil || err.Error() != `bucket "top" "sub": its sequence, 7, has no place in a folder` {
		t.Errorf("error %v", err)
	}
}

func TestExportIntoWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "test.db"))
	defer db.Close() //nolint:errcheck // a temporary database
	if err := db.Update(func(tx *kv.Tx) error { _, err := top.Create(tx); return err }); err != nil {
		t.Fatal(err)
	}
	for _, into := range []string{dir, db.Path()} {
		if _, err := export(t.Context(), db, into, folder.Options{}); err == nil {
			t.Errorf("exported into %s", into)
		}
	}
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := folder.Read(path, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := folder.Read(path, 4); !errors.Is(err, folder.ErrTooLarge) {
		t.Errorf("beyond the limit: %v", err)
	}
	if _, err := folder.Read(path+"x", 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestWalkSkipsAndEnds(t *testing.T) {
	dir := t.TempDir()
	tr := tree{"skip/a": "", "keep/b": "", "empty/": ""}
	for i := range 2000 { // more than one listing
		tr[fmt.Sprintf("many/%d", i)] = ""
	}
	if err := tr.write(dir); err != nil {
		t.Fatal(err)
	}
	var seen []string
	err := folder.Walk(t.Context(), dir, folder.Visitor{Visit: func(e folder.Entry) error {
		name := strings.Join(e.Names, "/")
		seen = append(seen, name)
		if name == "skip" {
			return fs.SkipDir
		}
		return nil
	}})
	if err != nil || len(seen) != 1+4+1+2000 || slices.Contains(seen, "skip/a") || !slices.Contains(seen, "keep/b") {
		t.Errorf("%d entries, %v", len(seen), err)
	}
	enough := errors.New("enough")
	n := 0
	err = folder.Walk(t.Context(), dir, folder.Visitor{Visit: func(folder.Entry) error {
		if n++; n == 10 {
			return enough
		}
		return nil
	}})
	if !errors.Is(err, enough) || n != 10 {
		t.Errorf("%d visits, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := folder.Walk(ctx, dir, folder.Visitor{Visit: func(folder.Entry) error { return nil }}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := folder.Walk(t.Context(), filepath.Join(dir, "keep", "b"), folder.Visitor{}); err == nil {
		t.Error("walked a file")
	}
}

func TestUnreadableFolders(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("everything can be read here")
	}
	dir := t.TempDir()
	if err := (tree{"secret/a": "", "open/b": ""}).write(dir); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(dir, "secret")
	if err := os.Chmod(secret, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(secret, 0o700) //nolint:errcheck // for the removal of the folder
	visit := func(folder.Entry) error { return nil }
	if err := folder.Walk(t.Context(), dir, folder.Visitor{Visit: visit}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v", err)
	}
	unreadable := 0
	err := folder.Walk(t.Context(), dir, folder.Visitor{Visit: visit, Unreadable: func(folder.Entry, error) error {
		unreadable++
		return nil
	}})
	if err != nil || unreadable != 1 {
		t.Errorf("%d unreadable, %v", unreadable, err)
	}
}

// TestWriterCommitsAtTimes fills more than one transaction.
func TestWriterCommitsAtTimes(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "test.db"))
	defer db.Close() //nolint:errcheck // a temporary database
	w := folder.NewWriter(db, top)
	content := make([]byte, folder.TxMaxSize/3)
	for i := range 7 {
		if err := w.File(t.Context(), []string{"sub", fmt.Sprint(i)}, content); err != nil {
			t.Fatal(err)
		}
	}
	stored := func() (n int) {
		err := db.View(func(tx *kv.Tx) error {
			b, err := top.Child([]byte("sub")).Find(tx)
			if err != nil {
				return err
			}
			for range b.All() {
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := stored(); n != 6 {
		t.Errorf("%d of 7 stored before the last flush", n)
	}
	if err := w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := stored(); n != 7 {
		t.Errorf("%d of 7 stored", n)
	}
}
