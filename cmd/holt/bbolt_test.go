// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestSameOutputAsBbolt runs command lines of bbolt's own command and demands the same output.
func TestSameOutputAsBbolt(t *testing.T) {
	golden, err := txtar.ParseFile("testdata/bbolt.txtar")
	if err != nil {
		t.Fatal(err)
	}
	content, err := database("testdata", "nested")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "nested.db")
	if err := os.WriteFile(path, content, 0o400); err != nil {
		t.Fatal(err)
	}
	for _, f := range golden.Files {
		t.Run(f.Name, func(t *testing.T) {
			args := strings.Fields(f.Name)
			for i := range args {
				args[i] = strings.Replace(args[i], "nested.db", path, 1)
			}
			r := holt(t, append([]string{"kv"}, args...)...)
			if r.status != exitDone || r.stderr != "" {
				t.Fatalf("exit status %d: %s", r.status, r.stderr)
			}
			if r.stdout != string(f.Data) {
				t.Errorf("output:\n%s\nbbolt prints:\n%s", r.stdout, f.Data)
			}
		})
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
		t.Errorf("the file has changed (%v)", err)
	}
}
