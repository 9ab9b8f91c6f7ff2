// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package blob_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/holtdb/holt/content/blob"
	"github.com/holtdb/holt/content/blob/blobtest"
	"github.com/holtdb/holt/internal/file"
)

func TestStores(t *testing.T) {
	for name, fresh := range map[string]blobtest.Fresh{
		"memory": func(_ *testing.T, now func() time.Time) blob.Store { return &blob.Memory{Now: now} },
		"files": func(t *testing.T, now func() time.Time) blob.Store {
			return &blob.FileStore{Dir: filepath.Join(t.TempDir(), "a", "b"), Now: now}
		},
		"files in memory": func(_ *testing.T, now func() time.Time) blob.Store {
			return &blob.FileStore{Dir: "blobs", Now: now, FS: file.NewMemory()}
		},
	} {
		t.Run(name, func(t *testing.T) { blobtest.TestStore(t, fresh) })
	}
}
