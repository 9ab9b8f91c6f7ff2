// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/kv"
)

// TestCheckInterrupted demands that an interrupted check finds nothing wrong, and nothing right either.
func TestCheckInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	fillSparse(t, path, 100)
	o := &opener{}
	err := o.view(t.Context(), path, func(tx *kv.Tx) error {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		n, err := eachFinding(ctx, tx, func(finding error) error {
			t.Errorf("found %v", finding)
			return nil
		})
		if n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("%d findings, error %v", n, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
