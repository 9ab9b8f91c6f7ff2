// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holtdb/holt/internal/fixture"
)

// TestContentOfOak runs every command on stores with everything in them.
func TestContentOfOak(t *testing.T) {
	for name, folder := range map[string]string{"base": "g1", "extblobs": "e1", "afterGC": "c2"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(fixture.Untar(t, "oak", name+".tar.xz"), folder)
			want := fixture.Unxz(t, "oak", name+".dump.xz")
			if r := holt(t, "content", "dump", dir); r.status != exitDone || r.stdout != string(want) {
				t.Errorf("dump: exit status %d, %s, %d bytes, want %d", r.status, r.stderr, len(r.stdout), len(want))
			}
			nodes := strings.Count(string(want), "\nN 2f726f6f74")
			r := holt(t, "content", "export", dir)
			if n := strings.Count(r.stdout, "\n"); r.status != exitDone || n != nodes {
				t.Errorf("export: exit status %d, %s, %d nodes, want %d", r.status, r.stderr, n, nodes)
			}
			for _, args := range [][]string{
				{"tree"},
				{"tree", "--json"},
				{"node", "/root/arrays", "--full"},
				{"node", "/root/bins", "--json"},
				{"archives"},
				{"segments"},
				{"journal"},
				{"check", "--binaries"},
				{"check", "--json"},
				{"stats"},
				{"stats", "--json"},
				{"fingerprint"},
			} {
				r := holt(t, append([]string{"content", args[0], dir}, args[1:]...)...)
				if r.status != exitDone || r.stdout == "" {
					t.Errorf("%v: exit status %d, %s", args, r.status, r.stderr)
				}
			}
			if name == "base" || os.Getenv("HOLT_LONG") == "1" {
				everySegment(t, dir)
			}
		})
	}
}

// everySegment prints every segment, of which each byte must be shown once.
func everySegment(t *testing.T, dir string) {
	t.Helper()
	list := holt(t, "content", "segments", dir, "--json")
	for line := range strings.Lines(list.stdout) {
		var s segmentJSON
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		r := holt(t, "content", "segment", dir, s.ID, "--json")
		if r.status != exitDone {
			t.Fatalf("segment %s: exit status %d, %s", s.ID, r.status, r.stderr)
		}
		at := 0
		for lines := bufio.NewScanner(strings.NewReader(r.stdout)); lines.Scan(); {
			var p struct{ From, To int }
			if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
				t.Fatal(err)
			}
			if p.From != at {
				t.Fatalf("segment %s: from %d to %d nothing is shown", s.ID, at, p.From)
			}
			at = p.To
		}
		if at != s.Len {
			t.Errorf("segment %s: %d of %d bytes are shown", s.ID, at, s.Len)
		}
	}
}

// TestContentOutside reads binaries that are kept outside.
func TestContentOutside(t *testing.T) {
	in := fixture.Untar(t, "oak", "extblobs.tar.xz")
	dir, outside := filepath.Join(in, "e1"), filepath.Join(in, "e1-ds")
	r := holt(t, "content", "check", dir, "--binaries")
	if r.status != exitDone || !strings.Contains(r.stderr, "--datastore says where") {
		t.Errorf("check: exit status %d, %s", r.status, r.stderr)
	}
	r = holt(t, "content", "check", dir, "--binaries", "--datastore", outside)
	if r.status != exitDone || r.stderr != "" {
		t.Errorf("check: exit status %d, %s%s", r.status, r.stdout, r.stderr)
	}
	r = holt(t, "content", "export", dir, "--path", "/root/bins", "--binaries")
	if r.status != exitFailed || !strings.Contains(r.stderr, "--datastore says where") {
		t.Errorf("export: exit status %d, %s", r.status, r.stderr)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	r = holt(t, "content", "export", dir, "--path", "/root/bins", "--datastore", outside, "--folder", copied)
	if r.status != exitDone {
		t.Fatalf("export: exit status %d, %s", r.status, r.stderr)
	}
	r = holt(t, "content", "export", dir, "--path", "/root/bins", "--datastore", outside, "--binaries")
	compareBinaries(t, r.stdout, copied)

	damageOne(t, outside)
	r = holt(t, "content", "check", dir, "--binaries", "--datastore", outside)
	if r.status != exitFailed || !strings.Contains(r.stdout, "the bytes are others") {
		t.Errorf("damage: exit status %d, %s%s", r.status, r.stdout, r.stderr)
	}
}

// compareBinaries demands that the files in a folder are the binaries of the lines.
func compareBinaries(t *testing.T, lines, dir string) {
	t.Helper()
	var node struct {
		Properties []struct {
			Name, Type string
			Values     []struct{ Base64 []byte }
		}
	}
	if err := json.Unmarshal([]byte(lines), &node); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range node.Properties {
		if p.Type != "BINARY" {
			continue
		}
		n++
		b, err := os.ReadFile(filepath.Join(dir, "."+p.Name))
		if err != nil || !bytes.Equal(b, p.Values[0].Base64) {
			t.Errorf("%s: %d bytes, want %d: %v", p.Name, len(b), base64.StdEncoding.EncodedLen(len(p.Values[0].Base64)), err)
		}
	}
	if n < 10 {
		t.Errorf("only %d binaries", n)
	}
}

// damageOne flips a byte of some file.
func damageOne(t *testing.T, dir string) {
	t.Helper()
	done := false
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || done {
			return err
		}
		done = true
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b[len(b)/2] ^= 1
		return os.WriteFile(path, b, 0o600)
	})
	if err != nil || !done {
		t.Fatal(err)
	}
}

// TestDamagedContent flips bytes of a small store, one at a time, and runs commands on it: they may fail, and say
// where.
func TestDamagedContent(t *testing.T) {
	tiny := filepath.Join("..", "..", "content", "testdata", "tiny")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(tiny)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "data00000a.tar")
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	step := 5
	if os.Getenv("HOLT_LONG") == "1" {
		step = 1
	}
	for off := 512; off < 2048; off += step { // the segments, and the header of the second
		b := bytes.Clone(original)
		b[off] ^= 0xFF
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"check", dir},
			{"tree", dir},
			{"export", dir},
			{"stats", dir},
			{"segment", dir, "1f5f0022-09bc-4938-ae1e-e92d8b333d80"},
		} {
			r := holt(t, append([]string{"content"}, args...)...)
			switch {
			case strings.Contains(r.stderr, "internal error"):
				t.Fatalf("byte %d: %v: %s", off, args, r.stderr)
			case args[0] == "check" && r.status != exitFailed:
				t.Errorf("byte %d: check: exit status %d, %s", off, r.status, r.stdout)
			case r.status == exitFailed && args[0] != "check" && !strings.Contains(r.stderr, path):
				if !strings.Contains(r.stderr, "not found") && !strings.Contains(r.stderr, "no node") {
					t.Errorf("byte %d: %v: %s does not name the archive", off, args, r.stderr)
				}
			}
		}
	}
}
