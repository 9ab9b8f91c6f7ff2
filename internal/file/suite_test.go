// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/holtdb/holt/internal/file"
)

// fixture is a file system with a directory to work in.
type fixture struct {
	file.FS
	dir string
}

func (fx fixture) path(name string) string { return filepath.Join(fx.dir, name) }

// create makes a file that is closed when the test ends, unless the test does.
func (fx fixture) create(t *testing.T, name string) file.File {
	t.Helper()
	return fx.open(t, name, os.O_RDWR|os.O_CREATE)
}

func (fx fixture) open(t *testing.T, name string, flag int) file.File {
	t.Helper()
	f, err := fx.OpenFile(fx.path(name), flag, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
	})
	return f
}

// each runs a test of behaviour that all file systems have in common.
func each(t *testing.T, test func(t *testing.T, fx fixture)) {
	for name, open := range map[string]func(t *testing.T) fixture{
		"os":          func(t *testing.T) fixture { return fixture{file.OS, t.TempDir()} },
		"crash":       func(*testing.T) fixture { return fixture{file.NewCrash(), "dir"} },
		"memory":      func(*testing.T) fixture { return fixture{file.NewMemory(), "/"} },
		"clone":       func(*testing.T) fixture { return fixture{file.NewCrash().Clone(), "."} },
		"fault/os":    func(t *testing.T) fixture { return fixture{file.NewFault(file.OS), t.TempDir()} },
		"fault/crash": func(*testing.T) fixture { return fixture{file.NewFault(file.NewCrash()), ""} },
		"counter":     func(*testing.T) fixture { return fixture{file.NewCounter(file.NewCrash()), ""} },
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func write(t *testing.T, f file.File, off int64, s string) {
	t.Helper()
	if n, err := f.WriteAt([]byte(s), off); n != len(s) || err != nil {
		t.Fatalf("WriteAt(%d bytes, %d) = %d, %v", len(s), off, n, err)
	}
}

// wantContent demands that the whole of f is s.
func wantContent(t *testing.T, f file.File, s string) {
	t.Helper()
	if got := content(t, f); got != s {
		t.Fatalf("content %q, want %q", got, s)
	}
}

func content(t *testing.T, f file.File) string {
	t.Helper()
	size, err := f.Size()
	must(t, err)
	b := make([]byte, size)
	if n, err := f.ReadAt(b, 0); n != len(b) || err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("ReadAt(%d bytes) = %d, %v", len(b), n, err)
	}
	return string(b)
}

// exactly compares unwrapped errors: io.EOF has to come bare.
func exactly(err, want error) bool {
	return err == want //nolint:errorlint // see above
}

func zeros(n int) string { return string(make([]byte, n)) }

func TestReadAt(t *testing.T) {
	each(t, func(t *testing.T, fx fixture) {
		f := fx.create(t, "f")
		write(t, f, 0, "0123456789")
		for _, tc := range []struct {
			off  int64
			len  int
			want string
			err  error
		}{
			{0, 10, "0123456789", nil},
			{3, 4, "3456", nil},
			{8, 4, "89", io.EOF},
			{10, 1, "", io.EOF},
			{99, 1, "", io.EOF},
			{4, 0, "", nil},
			{99, 0, "", nil},
		} {
			b := make([]byte, tc.len)
			n, err := f.ReadAt(b, tc.off)
			if string(b[:n]) != tc.want || !exactly(err, tc.err) {
				t.Errorf("ReadAt(%d bytes, %d) = %q, %v; want %q, %v", tc.len, tc.off, b[:n], err, tc.want, tc.err)
			}
			half := tc.len / 2
			n, err = f.ReadVecAt([][]byte{b[:half], nil, b[half:]}, tc.off)
			if string(b[:n]) != tc.want || !exactly(err, tc.err) {
				t.Errorf("ReadVecAt(%d bytes, %d) = %q, %v; want %q, %v", tc.len, tc.off, b[:n], err, tc.want, tc.err)
			}
		}
		if _, err := f.ReadAt(make([]byte, 1), -1); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("ReadAt at -1: error %v", err)
		}
	})
}

func TestVectors(t *testing.T) {
	each(t, func(t *testing.T, fx fixture) {
		for _, count := range []int{0, 1, 2, 1023, 1024, 1025, 3000} {
			f := fx.create(t, fmt.Sprint("f", count))
			var bufs [][]byte
			for i := range count {
				bufs = append(bufs, bytes.Repeat([]byte{byte(i)}, i%5)) // some are empty
			}
			before := slices.Clone(bufs)
			whole := slices.Concat(bufs...)
			if n, err := f.WriteVecAt(bufs, 7); n != len(whole) || err != nil {
				t.Fatalf("WriteVecAt of %d buffers = %d, %v; want %d", count, n, err, len(whole))
			}
			for i := range bufs {
				if len(bufs[i]) != len(before[i]) || !bytes.Equal(bufs[i], before[i]) {
					t.Fatalf("WriteVecAt changed buffer %d", i)
				}
			}
			if len(whole) > 0 {
				wantContent(t, f, zeros(7)+string(whole))
			}
			for _, b := range bufs {
				clear(b)
			}
			if n, err := f.ReadVecAt(bufs, 7); n != len(whole) || err != nil {
				t.Fatalf("ReadVecAt of %d buffers = %d, %v; want %d", count, n, err, len(whole))
			}
			if !bytes.Equal(slices.Concat(bufs...), whole) {
				t.Fatalf("ReadVecAt of %d buffers does not read what WriteVecAt wrote", count)
			}
			if n, err := f.ReadVecAt(append(bufs, make([]byte, 1)), 7); n != len(whole) || !exactly(err, io.EOF) {
				t.Fatalf("ReadVecAt past the end = %d, %v; want %d, EOF", n, err, len(whole))
			}
		}
	})
}

func TestVectorsDoNotKeepBuffers(t *testing.T) {
	each(t, func(t *testing.T, fx fixture) {
		f := fx.create(t, "f")
		b := []byte("before")
		if _, err := f.WriteVecAt([][]byte{b}, 0); err != nil {
			t.Fatal(err)
		}
		copy(b, "after!")
		must(t, f.Sync())
		wantContent(t, f, "before")
	})
}

func TestTruncate(t *testing.T) {
	each(t, func(t *testing.T, fx fixture) {
		f := fx.create(t, "f")
		write(t, f, 0, "abcdef")
		must(t, f.Truncate(3))
		wantContent(t, f, "abc")
		must(t, f.Truncate(6))
		wantContent(t, f, "abc"+zeros(3))
		write(t, f, 8, "x")
		wantContent(t, f, "abc"+zeros(5)+"x")
		must(t, f.Truncate(0))
		write(t, f, 2, "y")
		wantContent(t, f, zeros(2)+"y")
		if err := f.Truncate(-1); err == nil {
			t.Error("Truncate(-1) succeeded")
		}
	})
}

func TestOpenFlags(t *testing.T) {
	each(t, func(t *testing.T, fx fixture) {
		_, err := fx.OpenFile(fx.path("f"), os.O_RDWR, 0o600)
		wantErr(t, err, fs.ErrNotExist)
		f := fx.create(t, "f")
		if f.Name() != fx.path("f") {
			t.Errorf("Name() = %q, want %q", f.Name(), fx.path("f"))
		}
		write(t, f, 0, "text")
		wantContent(t, fx.create(t, "f"), "text")
		_, err = fx.OpenFile(fx.path("f"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		wantErr(t, err, fs.ErrExist)

		r := fx.open(t, "f", os.O_RDONLY)
		wantContent(t, r, "text")
		if _, err := r.WriteAt([]byte("x"), 0); err == nil {
			t.Error("wrote to a file open for reading")
		}
		if _, err := r.WriteVecAt([][]byte{{'x'}}, 0); err == nil {
			t.Error("wrote a vector to a file open for reading")
		}
		if err := r.Truncate(1); err == nil {
			t.Error("truncated a file open for reading")
		}
		w := fx.open(t, "f", os.O_WRONLY)
		if _, err := w.ReadAt(make([]byte, 1), 0); err == nil {
			t.Error("read from a file open for writing")
		}
		fx.open(t, "f", os.O_RDWR|os.O_TRUNC)
		wantContent(t, f, "")

		a := fx.open(t, "f", os.O_RDWR|os.O_APPEND)
		if _, err := a.WriteAt([]byte("x"), 0); err == nil {
			t.Error("WriteAt succeeded on a file open for appending")
		}
	})
}

func TestClosed(t *testing.T) {
	each(t, func(t *testing.T, fx fixture) {
		f := fx.create(t, "f")
		write(t, f, 0, "text")
		must(t, f.Close())
		b := make([]byte, 1)
		for name, call := range map[string]func() error{
			"ReadAt":     func() error { _, err := f.ReadAt(b, 0); return err },
			"ReadVecAt":  func() error { _, err := f.ReadVecAt([][]byte{b}, 0); return err },
			"WriteAt":    func() error { _, err := f.WriteAt(b, 0); return err },
			"WriteVecAt": func() error { _, err := f.WriteVecAt([][]byte{b}, 0); return err },
			"Stat":       func() error { _, err := f.Stat(); return err },
			"Size":       func() error { _, err := f.Size(); return err },
			"Truncate":   func() error { return f.Truncate(1) },
			"SyncData":   f.SyncData,
			"Sync":       f.Sync,
			"Map":        func() error { _, err := f.Map(1, file.MapOptions{}); return err },
			"TryLock":    func() error { return f.TryLock(true) },
			"TryRecord":  func() error { return f.TryLockRecord(true) },
			"Unlock":     f.Unlock,
			"Close":      f.Close,
		} {
			if err := call(); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s of a closed file: error %v, want %v", name, err, fs.ErrClosed)
			}
		}
	})
}

func TestMapping(t *testing.T) {
	each(t, func(t *testing.T, fx fixture) {
		f, g := fx.create(t, "f"), fx.create(t, "f")
		must(t, f.Truncate(1000))
		write(t, f, 0, "one")
		m, err := f.Map(64<<10, file.MapOptions{Random: true})
		must(t, err)
		whole := m.Bytes()
		if len(whole) != 64<<10 {
			t.Fatalf("mapping of %d bytes, want %d", len(whole), 64<<10)
		}
		want := func(off int, s string) {
			t.Helper()
			if got := string(whole[off : off+len(s)]); got != s {
				t.Fatalf("mapping shows %q at %d, want %q", got, off, s)
			}
		}
		want(0, "one")
		write(t, f, 1, "wo")
		want(0, "owo")
		write(t, g, 500, "other handle")
		want(500, "other handle")

		other, err := g.Map(10, file.MapOptions{})
		must(t, err)
		if _, err := f.WriteVecAt([][]byte{[]byte("012345"), []byte("6789ABC")}, 0); err != nil {
			t.Fatal(err)
		}
		want(0, "0123456789ABC")
		if got := string(other.Bytes()); got != "0123456789" {
			t.Fatalf("second mapping shows %q", got)
		}
		must(t, other.Unmap())

		must(t, f.Truncate(50<<10)) // grows under the mapping
		want(40<<10, zeros(100))
		write(t, f, 40<<10, "grown")
		want(40<<10, "grown")
		write(t, f, 60<<10, "by a write")
		want(60<<10, "by a write")
		write(t, f, 64<<10-2, "across the end")
		want(64<<10-2, "ac")

		if runtime.GOOS != "windows" { // which cuts no mapped files
			must(t, f.Truncate(500))
			must(t, f.Truncate(50<<10))
			want(500, zeros(12))
		}
		must(t, f.Close())
		want(0, "0123456789ABC") // a mapping outlives its file
		must(t, m.Unmap())
		must(t, m.Unmap())
	})
}

func TestMapLength(t *testing.T) {
	each(t, func(t *testing.T, fx fixture) {
		f := fx.create(t, "f")
		for _, length := range []int{0, -1} {
			if _, err := f.Map(length, file.MapOptions{}); err == nil {
				t.Errorf("Map(%d) succeeded", length)
			}
		}
	})
}

func TestMappingLock(t *testing.T) {
	each(t, func(t *testing.T, fx fixture) {
		f := fx.create(t, "f")
		must(t, f.Truncate(8192))
		m, err := f.Map(8192, file.MapOptions{})
		must(t, err)
		defer func() { must(t, m.Unmap()) }()
		if err := m.Lock(4096); err != nil {
			t.Skip("no memory may be locked here:", err)
		}
		must(t, m.Unlock(4096))
	})
}

func TestLocks(t *testing.T) {
	switch runtime.GOOS {
	case "aix", "android", "illumos", "solaris":
		t.Skip("locks of one process do not exclude each other on " + runtime.GOOS)
	}
	for name, try := range map[string]func(file.File, bool) error{
		"flock": file.File.TryLock, "record": file.File.TryLockRecord,
	} {
		t.Run(name, func(t *testing.T) { each(t, func(t *testing.T, fx fixture) { testLocks(t, fx, try) }) })
	}
}

func testLocks(t *testing.T, fx fixture, try func(f file.File, exclusive bool) error) {
	a, b, c := fx.create(t, "f"), fx.create(t, "f"), fx.open(t, "f", os.O_RDONLY)
	must(t, try(a, true))
	must(t, try(a, true)) // the same again
	wantErr(t, try(b, true), file.ErrLocked)
	wantErr(t, try(b, false), file.ErrLocked)
	must(t, a.Unlock())
	must(t, try(b, false))
	must(t, try(c, false))
	wantErr(t, try(a, true), file.ErrLocked)
	must(t, b.Unlock())
	must(t, b.Unlock()) // not locked
	must(t, c.Close())
	must(t, try(a, true))
	must(t, try(a, false)) // becomes a shared one
	must(t, try(b, false))
	wantErr(t, try(a, true), file.ErrLocked)
	must(t, try(fx.create(t, "another"), true))
}

func TestReadDir(t *testing.T) {
	each(t, func(t *testing.T, fx fixture) {
		deep := filepath.Join(fx.dir, "some", "where")
		must(t, fx.MkdirAll(deep, 0o700))
		must(t, fx.MkdirAll(deep, 0o700)) // again
		for _, name := range []string{"b", "a", filepath.Join("some", "where", "c")} {
			fx.create(t, name)
		}
		for dir, want := range map[string][]string{fx.dir: {"a", "b"}, deep: {"c"}} {
			if names, err := fx.ReadDir(dir); err != nil || !slices.Equal(names, want) {
				t.Errorf("files in %q: %q, %v; want %q", dir, names, err, want)
			}
		}
		for dir, want := range map[string][]string{fx.dir: {"some"}, fx.path("some"): {"where"}, deep: {}} {
			if names, err := fx.Subdirs(dir); err != nil || !slices.Equal(names, want) {
				t.Errorf("directories in %q: %q, %v; want %q", dir, names, err, want)
			}
		}
	})
}

func TestChtimes(t *testing.T) {
	each(t, func(t *testing.T, fx fixture) {
		f := fx.create(t, "f")
		write(t, f, 0, "a")
		want := time.Unix(1_000_000_000, 0)
		must(t, fx.Chtimes(fx.path("f"), want))
		check := func(name string) {
			t.Helper()
			info, err := fx.Stat(fx.path(name))
			must(t, err)
			if got := info.ModTime(); !got.Equal(want) {
				t.Errorf("%s was modified at %v, want %v", name, got, want)
			}
		}
		check("f")
		if runtime.GOOS != "windows" {
			must(t, fx.Rename(fx.path("f"), fx.path("g")))
			check("g")
			wantErr(t, fx.Chtimes(fx.path("f"), want), fs.ErrNotExist)
		}
		write(t, f, 0, "b")
		info, err := f.Stat()
		must(t, err)
		if info.ModTime().Equal(want) {
			t.Error("writing did not change the time")
		}
	})
}

func TestRenameElsewhere(t *testing.T) {
	each(t, func(t *testing.T, fx fixture) {
		from, to := filepath.Join(fx.dir, "from", "f"), filepath.Join(fx.dir, "to", "g")
		for _, path := range []string{from, to} {
			must(t, fx.MkdirAll(filepath.Dir(path), 0o700))
			f, err := fx.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
			must(t, err)
			write(t, f, 0, filepath.Base(path))
			must(t, f.Close())
		}
		must(t, fx.Rename(from, to))
		_, err := fx.Stat(from)
		wantErr(t, err, fs.ErrNotExist)
		f, err := fx.OpenFile(to, os.O_RDONLY, 0)
		must(t, err)
		wantContent(t, f, "f")
		must(t, f.Close())
	})
}

func TestPunchHole(t *testing.T) {
	each(t, func(t *testing.T, fx fixture) {
		f := fx.create(t, "f")
		write(t, f, 0, "0123456789")
		err := f.PunchHole(2, 3)
		if errors.Is(err, file.ErrUnsupported) {
			t.Skip("no holes here")
		}
		must(t, err)
		wantContent(t, f, "01"+zeros(3)+"56789")
		m, err := f.Map(10, file.MapOptions{})
		must(t, err)
		must(t, f.PunchHole(8, 100)) // the length stays
		wantContent(t, f, "01"+zeros(3)+"567"+zeros(2))
		if got := string(m.Bytes()); got != content(t, f) {
			t.Errorf("mapping shows %q", got)
		}
		must(t, m.Unmap())
		must(t, f.PunchHole(0, 0))
		must(t, f.PunchHole(50, 10))
		wantContent(t, f, "01"+zeros(3)+"567"+zeros(2))
		if err := f.PunchHole(-1, 4); err == nil {
			t.Error("PunchHole at -1 succeeded")
		}
	})
}

func TestNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be renamed or removed on Windows")
	}
	each(t, func(t *testing.T, fx fixture) {
		a, b := fx.create(t, "a"), fx.create(t, "b")
		write(t, a, 0, "A")
		write(t, b, 0, "B")
		same := func(x, y string) bool {
			t.Helper()
			xs, err := fx.Stat(fx.path(x))
			must(t, err)
			ys, err := fx.Stat(fx.path(y))
			must(t, err)
			return fx.SameFile(xs, ys)
		}
		if same("a", "b") || !same("a", "a") {
			t.Error("SameFile is wrong")
		}
		must(t, fx.Rename(fx.path("a"), fx.path("b")))
		must(t, fx.SyncDir(filepath.Clean(fx.dir)))
		_, err := fx.Stat(fx.path("a"))
		wantErr(t, err, fs.ErrNotExist)
		wantContent(t, fx.create(t, "b"), "A")
		wantContent(t, b, "B") // no name, but open

		info, err := fx.Stat(fx.path("b"))
		must(t, err)
		if info.Name() != "b" || info.Size() != 1 || info.IsDir() || !info.Mode().IsRegular() {
			t.Errorf("Stat: %v", fs.FormatFileInfo(info))
		}
		mine, err := a.Stat()
		must(t, err)
		if !fx.SameFile(info, mine) {
			t.Error("the open file is not the one of its new name")
		}
		wantErr(t, fx.Rename(fx.path("a"), fx.path("c")), fs.ErrNotExist)
		must(t, fx.Rename(fx.path("b"), fx.path("b")))
		must(t, fx.Remove(fx.path("b")))
		wantErr(t, fx.Remove(fx.path("b")), fs.ErrNotExist)
		wantContent(t, a, "A")
		must(t, fx.SyncDir(filepath.Clean(fx.dir)))
		wantContent(t, fx.create(t, "b"), "")
	})
}
