// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"os"
	"testing"

	"github.com/holtdb/holt/internal/file"
)

// TestCounter demands the counts of the file system below, which knows them itself.
func TestCounter(t *testing.T) {
	disk := file.NewCrash()
	counter := file.NewCounter(disk)
	_, err := workload(counter)
	must(t, err)
	f, err := counter.OpenFile("read", os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	_, err = f.WriteVecAt([][]byte{[]byte("ab"), []byte("c")}, 0)
	must(t, err)
	before := counter.Counts()
	_, err = f.ReadAt(make([]byte, 2), 0)
	must(t, err)
	_, err = f.ReadVecAt([][]byte{make([]byte, 2), make([]byte, 1)}, 0)
	must(t, err)
	want := disk.Counts()
	if got := counter.Counts(); got != want || want.Ops != 13 {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if got := counter.Counts().Minus(before); got != (file.Counts{Reads: 2, ReadBytes: 5}) {
		t.Errorf("two reads: %+v", got)
	}
	if got := counter.Counts().Minus(file.Counts{}); got != want {
		t.Errorf("all of it: %+v, want %+v", got, want)
	}
}
