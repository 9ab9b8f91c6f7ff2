// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/bucket"
	"github.com/holtdb/holt/kv"
)

// newFolderDemo prepares the part of the demo about a folder, for one with the given files.
func newFolderDemo(t *testing.T, files map[string]string) (f *folderDemo, out *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := kv.Open(filepath.Join(t.TempDir(), "demo.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	out = new(bytes.Buffer)
	cmd := &cobra.Command{}
	cmd.SetOut(out)
	cmd.SetErr(out)
	return &folderDemo{
		demo: &demo{cmd: cmd, dir: t.TempDir()}, db: db, root: bucket.Path{[]byte("top")},
		demoFiles: demoFiles{top: dir, limits: folderLimits}, written: make(map[string]importedFile),
	}, out
}

func TestDemoLeavesOut(t *testing.T) {
	files := map[string]string{"small": "1", "large": strings.Repeat("x", 101), "sub/fits": strings.Repeat("x", 100), ".git/config": "no"}
	f, out := newFolderDemo(t, files)
	f.limits.fileSize = 100
	if runtime.GOOS != "windows" {
		if err := os.Symlink("small", filepath.Join(f.top, "link")); err != nil {
			t.Fatal(err)
		}
		f.limits.time = time.Hour
	}
	if err := f.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2 files in 2 folders, 101 B", "left out: 1 × folder called .git", "left out: 1 × file larger than 100 B",
		"2 keys, 101 B, all as they were imported", "2 values equal to the file, byte for byte",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if runtime.GOOS != "windows" && !strings.Contains(out.String(), "left out: 1 × link or device") {
		t.Errorf("nothing about the link in\n%s", out)
	}
}

func TestDemoLimits(t *testing.T) {
	for name, limit := range map[string]func(*demoLimits){
		"files": func(l *demoLimits) { l.files = 2 },
		"bytes": func(l *demoLimits) { l.total = 2 },
		"time":  func(l *demoLimits) { l.time = 0 },
	} {
		f, out := newFolderDemo(t, map[string]string{"a": "1", "b": "2", "c": "3", "sub/d": "4"})
		limit(&f.limits)
		if err := f.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "left out: the rest") || len(f.written) > 2 {
			t.Errorf("%s: %d files\n%s", name, len(f.written), out)
		}
	}
}

// TestDemoChangingFiles changes files between import and comparison: that is no damage of the database.
func TestDemoChangingFiles(t *testing.T) {
	f, _ := newFolderDemo(t, map[string]string{"same": "1", "changed": "2", "grown": "3", "gone": "4", "emptied": "5"})
	if _, err := f.copy(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"changed": "x", "grown": "33", "emptied": ""} {
		if err := os.WriteFile(filepath.Join(f.top, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(f.top, "gone")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.readBack(t.Context()); err != nil {
		t.Error(err)
	}
	got, err := f.compare(t.Context())
	if want := "1 value equal to the file, byte for byte; 4 files changed meanwhile"; err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestDemoNoticesDamage changes the database between import and reading.
func TestDemoNoticesDamage(t *testing.T) {
	for name, change := range map[string]func(*kv.Bucket) error{
		"the value is not what was imported": func(b *kv.Bucket) error { return b.Put([]byte("a"), []byte("x")) },
		"nobody imported that":               func(b *kv.Bucket) error { return b.Put([]byte("c"), []byte("x")) },
		"1 keys came back of 2":              func(b *kv.Bucket) error { return b.Delete([]byte("a")) },
	} {
		f, _ := newFolderDemo(t, map[string]string{"a": "1", "b": "2"})
		if _, err := f.copy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := f.db.Update(func(tx *kv.Tx) error { return change(tx.Bucket([]byte("top"))) }); err != nil {
			t.Fatal(err)
		}
		if _, err := f.readBack(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q", err, name)
		}
	}
}

func TestEtcdKeys(t *testing.T) {
	for value, want := range map[string]string{
		"\x0a\x03abc\x10\x01": "abc", "\x0a\x00": "", "\x0a\x05abc": "?", "": "?", "\x12\x01a": "?", "\x0a": "?", "\x0a\xff": "?",
	} {
		if got := etcdKey([]byte(value)); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	if got := etcdRevision([]byte("\x00\x00\x00\x00\x00\x00\x00\x07_\x00\x00\x00\x00\x00\x00\x00\x01")); got != "7.1" {
		t.Errorf("revision %q", got)
	}
	if got := etcdRevision([]byte("short")); got != "short" {
		t.Errorf("short revision %q", got)
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1234 * time.Nanosecond: "1µs", 1234567 * time.Nanosecond: "1.2ms", 1234567890 * time.Nanosecond: "1.23s",
	} {
		if got := duration(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
