// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestGoRun(t *testing.T) {
	for exe, want := range map[string]bool{
		"/var/go-build123/b001/exe/holt": true, "/home/me/go/bin/holt": false, "/home/me/exe/holt": false, "/holt": false,
		"/cache/go-build/5b/" + strings.Repeat("5b", 32) + "-d/holt": true, "/me/" + strings.Repeat("5b", 32) + "/holt": false,
	} {
		if got := isGoRun(filepath.FromSlash(exe)); got != want {
			t.Errorf("%s: %t", exe, got)
		}
	}
	if got, want := goRun(devVersion), "go run github.com/holtdb/holt/cmd/holt"; got != want { // in cmd/holt
		t.Errorf("below the repository: %q, want %q", got, want)
	}
	t.Chdir(filepath.Join("..", ".."))
	if got, want := goRun(devVersion), "go run ./cmd/holt"; got != want {
		t.Errorf("in the repository: %q, want %q", got, want)
	}
	t.Chdir(t.TempDir())
	if got, want := goRun("v1.2.3"), "go run github.com/holtdb/holt/cmd/holt@v1.2.3"; got != want {
		t.Errorf("elsewhere: %q, want %q", got, want)
	}
	if got, want := goRun(devVersion), "go run github.com/holtdb/holt/cmd/holt"; got != want { // by a go.work file
		t.Errorf("elsewhere, from a working tree: %q, want %q", got, want)
	}
}

func TestSelf(t *testing.T) {
	if got := self(); got != "holt" { // testscript.Main put it in the path
		t.Errorf("%q, want holt", got)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "")
	if got := self(); got != quoteArg(exe) {
		t.Errorf("%q, want %q", got, exe)
	}
}

func TestQuoteArg(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("other quotes here")
	}
	for arg, want := range map[string]string{
		"plain/path-1.db": "plain/path-1.db", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'", "ü": "'ü'",
	} {
		if got := quoteArg(arg); got != want {
			t.Errorf("%q: %s, want %s", arg, got, want)
		}
	}
}
