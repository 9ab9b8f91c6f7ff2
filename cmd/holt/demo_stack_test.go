// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// newStackDemo prepares the part of the demo about stacks, for a folder with the given files.
func newStackDemo(t *testing.T, files map[string]string) *stackDemo {
	t.Helper()
	top := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(top, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := &cobra.Command{}
	cmd.SetOut(new(bytes.Buffer))
	cmd.SetErr(new(bytes.Buffer))
	d := &demo{cmd: cmd, dir: t.TempDir()}
	return &stackDemo{demo: d, demoFiles: demoFiles{top: top, limits: stackLimits}, path: filepath.Join(d.dir, "test.stack")}
}

// steps runs those of the demo that need no other process.
func (f *stackDemo) steps(ctx context.Context, fns ...func(context.Context, alloc.Allocator) (string, error)) error {
	for _, fn := range fns {
		if _, err := f.inAllocator(fn)(ctx); err != nil {
			return err
		}
	}
	return nil
}

var demoWords = map[string]string{"a": "one", "b": strings.Repeat("two", 50), "c": "", "d": "four", "e": strings.Repeat("5", 3000)}

func TestStackDemo(t *testing.T) {
	f := newStackDemo(t, demoWords)
	if err := f.steps(t.Context(), f.store, f.free, f.resize, f.reopen, f.verify, f.check); err != nil {
		t.Error(err)
	}
	if f.files != 5 || len(f.stored) != 4 {
		t.Errorf("%d files, %d of them left", f.files, len(f.stored))
	}
}

// TestStackDemoNoticesDamage changes a byte of a region, and loses another region.
func TestStackDemoNoticesDamage(t *testing.T) {
	for want, spoil := range map[string]func(f *stackDemo, s *stack.Stack) error{
		"has other bytes than were stored": func(f *stackDemo, s *stack.Stack) error {
			return s.Set(f.stored[0].region.Off, []byte("x"))
		},
		"bytes are in no region, and not free": func(f *stackDemo, _ *stack.Stack) error {
			f.stored = f.stored[1:]
			return nil
		},
		"is there is 0, 3 was acknowledged": func(f *stackDemo, _ *stack.Stack) error {
			f.acknowledged = 3
			return nil
		},
	} {
		f := newStackDemo(t, demoWords)
		if err := f.steps(t.Context(), f.store); err != nil {
			t.Fatal(err)
		}
		f.stored = slices.DeleteFunc(f.stored, func(file storedFile) bool { return file.region.IsEmpty() })
		s, err := stack.Open(f.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := spoil(f, s); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.steps(t.Context(), f.reopen, f.verify); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestRunAndKill kills the command of the demo, after it has done something.
func TestRunAndKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.stack")
	if r := holt(t, "stack", "alloc", path, "0", "--allocator", "ghosttree"); r.status != exitDone {
		t.Fatal(r.stderr)
	}
	begun := time.Now()
	last, err := runAndKill(exec.CommandContext(t.Context(), "holt", crashCommand, path)) // testscript.Main put it in the path
	if err != nil || last < crashLeast || time.Since(begun) < crashAfter {
		t.Errorf("%d operations in %v, %v", last, time.Since(begun), err)
	}
	f := newStackDemo(t, nil)
	f.path, f.acknowledged = path, last
	if err := f.steps(t.Context(), f.reopen, f.verify, f.check); err != nil {
		t.Error(err)
	}
}

func TestRunAndKillOfWhatEnds(t *testing.T) {
	for _, args := range [][]string{{"demo-crash", "missing.stack"}, {"version"}} {
		cmd := exec.CommandContext(t.Context(), "holt", args...)
		if last, err := runAndKill(cmd); err == nil || last != 0 {
			t.Errorf("%v: %d, %v", args, last, err)
		}
	}
}
