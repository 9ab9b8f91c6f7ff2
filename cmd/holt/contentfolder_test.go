// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/blob"
)

// TestExportFolderInterrupted: all files that an interrupted export leaves are whole.
func TestExportFolderInterrupted(t *testing.T) {
	dir := t.TempDir()
	blobs := &blob.FileStore{Dir: filepath.Join(dir, "blobs")}
	if err := writeOutside(filepath.Join(dir, "store"), blobs, 50_000, 1<<20, 2000); err != nil {
		t.Fatal(err)
	}
	s, err := content.Open(filepath.Join(dir, "store"), &content.Options{Blobs: blobs})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	head, _ := s.Head()
	for name, c := range map[string]struct {
		bytes int64
		err   error
		files string
	}{
		"first":  {40_000, context.Canceled, "[]"},
		"second": {100_000, context.Canceled, "[.binaries[0]]"},
		"whole":  {2 << 20, nil, "[.binaries[0] .binaries[1] .binaries[2] .node.json]"},
	} {
		to := filepath.Join(dir, name)
		ctx := whenWritten{t.Context(), filepath.Join(to, ".*"), c.bytes}
		_, err := exportFolder(ctx, s, head, "/root", to)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: have %v, want %v", name, err, c.err)
		}
		if files := fileNames(t, to); files != c.files {
			t.Errorf("%s: there are %s, want %s", name, files, c.files)
		}
	}
}
