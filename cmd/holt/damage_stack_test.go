// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var stackInspections = []string{
	"info %s", "info %s --json",
	"check %s", "check %s --json",
	"dump %s", "dump %s --full --json", "dump %s 100+50",
	"free-map %s --svg %d", "free-map %s --json",
	"peek %s", "peek %s 60 --raw", "peek %s 60+20 --json",
}

// stackChanges are command lines that may change a damaged file.
var stackChanges = []string{
	"recover %s", "alloc %s 10 2000", "free %s 48+64", "realloc %s 112+1 500", "reclaim %s 112+1 208+32",
	"push %s x --force", "pop %s 1 --force", "migrate %s",
}

// soundStacks makes a small file of each kind of allocator, with free and live blocks.
func soundStacks(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, kind := range allocatorKinds {
		path := filepath.Join(t.TempDir(), "sound.stack")
		args := []string{"stack", "alloc", path, "64", "1", "40", "32", "200", "8", "--allocator", kind.name}
		if kind.blocks {
			args = append(args, "--block-size", "32")
		}
		r := holt(t, args...)
		if r.status != exitDone {
			t.Fatal(r.stderr)
		}
		regions := strings.Fields(r.stdout)
		if r := holt(t, "stack", "free", path, regions[0], regions[2], regions[4]); r.status != exitDone {
			t.Fatal(r.stderr)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[kind.name] = content
	}
	return files
}

// TestDamagedStacks does with stacks what TestDamagedFiles does with databases, and has those commands that change
// files work on copies.
func TestDamagedStacks(t *testing.T) {
	tries := 12
	if testing.Short() {
		tries = 6
	}
	for name, sound := range soundStacks(t) {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(damageSeed, 1))
			for range tries {
				damaged := bytes.Clone(sound)
				off := rng.IntN(len(damaged))
				damaged[off] = byte(rng.Uint32())
				what := fmt.Sprintf("byte %d is %#02x instead of %#02x", off, damaged[off], sound[off])
				checkDamaged(t, "stack", stackInspections, damaged, what)
				checkChanges(t, damaged, what)
			}
			for _, size := range []int{0, 1, 16, 31, 32, 33, 64, 72, 80, 100, len(sound) - 1} {
				what := fmt.Sprintf("cut to %d bytes", size)
				checkDamaged(t, "stack", stackInspections, sound[:size], what)
				checkChanges(t, sound[:size], what)
			}
		})
	}
}

func checkChanges(t *testing.T, content []byte, what string) {
	t.Helper()
	for _, line := range stackChanges {
		path := filepath.Join(t.TempDir(), "damaged")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"stack"}, strings.Fields(strings.Replace(line, "%s", path, 1))...)
		checkOrderly(t, holt(t, args...), fmt.Sprintf("%s: holt stack %s", what, line))
	}
}
