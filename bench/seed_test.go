// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// seeds is where the files are that benchmarks begin with. Processes that are given the same one share them.
var seeds = flag.String("seeds", "", "keep the files that benchmarks begin with in this folder, for further runs")

func TestMain(m *testing.M) {
	flag.Parse()
	kept := *seeds != ""
	code := m.Run()
	if !kept && *seeds != "" {
		_ = os.RemoveAll(*seeds) // of a temporary directory
	}
	os.Exit(code)
}

// seedFile makes a file unless it was made before.
func seedFile(b *testing.B, file string, write func(path string)) string {
	b.Helper()
	if *seeds == "" {
		dir, err := os.MkdirTemp("", "bench")
		check(b, err)
		*seeds = dir
	}
	path := filepath.Join(*seeds, file)
	if _, err := os.Stat(path); err != nil {
		unfinished := path + ".new"
		write(unfinished)
		check(b, os.Rename(unfinished, path))
	}
	return path
}

func copyFile(b *testing.B, to, from string) {
	b.Helper()
	src, err := os.Open(from)
	check(b, err)
	dst, err := os.Create(to)
	check(b, err)
	_, err = io.Copy(dst, src)
	check(b, err)
	check(b, src.Close())
	check(b, dst.Sync())
	check(b, dst.Close())
}
