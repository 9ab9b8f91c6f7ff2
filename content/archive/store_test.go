// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"testing"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/storetest"
	"github.com/holtdb/holt/internal/file"
)

func TestStore(t *testing.T) {
	onDisk := func(opts archive.Options, dir func(t *testing.T) string) func(t *testing.T) storetest.Open {
		return func(t *testing.T) storetest.Open {
			dir := dir(t)
			return func(readOnly bool) (archive.Store, error) {
				opts := opts
				opts.ReadOnly = readOnly
				d, err := archive.Open(dir, &opts)
				if err != nil {
					return nil, err
				}
				return d, nil
			}
		}
	}
	t.Run("dir", func(t *testing.T) { storetest.TestStore(t, onDisk(archive.Options{}, (*testing.T).TempDir)) })
	t.Run("crash", func(t *testing.T) {
		storetest.TestStore(t, func(t *testing.T) storetest.Open {
			opts := archive.Options{FS: file.NewCrash()}
			return onDisk(opts, func(*testing.T) string { return "store" })(t)
		})
	})
	t.Run("memory", func(t *testing.T) {
		storetest.TestStore(t, func(*testing.T) storetest.Open { return new(archive.Memory).Open })
	})
}
