// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"errors"
	"os"
	"testing"

	"github.com/holtdb/holt/internal/file"
)

func TestGate(t *testing.T) {
	disk := file.NewCrash()
	gated, gate := file.NewGate(disk)
	f, err := gated.OpenFile("f", os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	synced := func(want int) {
		t.Helper()
		if n := disk.Counts().DataSyncs; n != want {
			t.Errorf("%d syncs, want %d", n, want)
		}
	}
	must(t, f.SyncData())
	gate.Shut(1)
	must(t, f.SyncData())
	done := make(chan error)
	for range 2 {
		go func() { done <- f.SyncData() }()
	}
	gate.Await()
	synced(2)
	gate.Allow(1)
	must(t, <-done)
	synced(3)
	gate.Await()
	gate.Open()
	must(t, <-done)
	must(t, f.SyncData())
	synced(5)
	must(t, f.Close())
}

func TestWithSync(t *testing.T) {
	disk := file.NewCrash()
	failing := errors.New("no")
	f, err := file.WithSync(disk, func(f file.File) error {
		must(t, f.SyncData())
		return failing
	}).OpenFile("f", os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	wantErr(t, f.SyncData(), failing)
	if n := disk.Counts().DataSyncs; n != 1 {
		t.Errorf("%d syncs, want 1", n)
	}
	_, err = file.WithSync(disk, nil).OpenFile("none", os.O_RDWR, 0)
	wantErr(t, err, os.ErrNotExist)
}
