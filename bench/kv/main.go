// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Kv measures package kv against bbolt, and orients both among Pebble, Badger, SQLite and LMDB. It compiles the benchmarks of
// the folder above and those of rivals, and runs every one in a process of its own. The engines take turns within a round,
// so that all see the same machine.
//
// It prints lines as go test does, for benchstat, and with -results writes tables of medians, ratios and p-values.
package main

import (
	"flag"
	"os"

	"github.com/holtdb/holt/bench/internal/rounds"
)

func main() {
	b := bench{all: map[series]values{}, since: loadAverage()}
	b.Define(10, "workloads")
	flag.IntVar(&b.others, "rivals", 10, "how many of the rounds have the rivals, too")
	flag.BoolVar(&b.short, "short", false, "run four rounds, without what takes long, and one of the rivals")
	flag.StringVar(&b.disk, "dir", os.TempDir(), "the folder for files on a disk")
	flag.StringVar(&b.memory, "memory", inMemory(), "the folder for files that are never synced, of 10 GB")
	flag.Parse()
	if b.short {
		b.Rounds, b.others = 4, 1
	}
	rounds.Main(b.run)
}

// inMemory is a folder whose files are in memory, if there is one.
func inMemory() string {
	const shared = "/dev/shm"
	if info, err := os.Stat(shared); err == nil && info.IsDir() {
		return shared
	}
	return os.TempDir()
}
