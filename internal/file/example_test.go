// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/holtdb/holt/internal/file"
)

// replace puts text into a file such that, whenever the power goes, the file has either the old text or the new.
func replace(disk file.FS, name, text string) error {
	tmp, err := disk.OpenFile(name+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = tmp.WriteAt([]byte(text), 0)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := disk.Rename(name+".tmp", name); err != nil {
		return err
	}
	return disk.SyncDir(".")
}

// read returns the text of a file.
func read(disk file.FS, name string) (string, error) {
	f, err := disk.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	b := make([]byte, 16)
	n, err := f.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return string(b[:n]), errors.Join(err, f.Close())
}

// The test of a program that must not lose data: cut the power at each call in turn, and look at some of what may be
// found afterwards.
func ExampleCrash() {
	disk := file.NewCrash()
	if err := replace(disk, "motto", "old"); err != nil {
		fmt.Println(err)
	}
	for k, cut := 1, true; cut; k++ {
		run := disk.Clone()
		run.CutAt(k)
		err := replace(run, "motto", "new")
		found := map[string]bool{}
		for seed := range uint64(50) {
			text, err := read(run.AfterCut(seed), "motto")
			if err != nil {
				fmt.Println(err)
			}
			found[text] = true
		}
		cut = run.IsCut()
		fmt.Println("call", k, "cut:", cut, "done:", err == nil, "found:", slices.Sorted(maps.Keys(found)))
	}
	// Output:
	// call 1 cut: true done: false found: [old]
	// call 2 cut: true done: false found: [old]
	// call 3 cut: true done: false found: [old]
	// call 4 cut: true done: false found: [new old]
	// call 5 cut: true done: false found: [new old]
	// call 6 cut: false done: true found: [new]
}
