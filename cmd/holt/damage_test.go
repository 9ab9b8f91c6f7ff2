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

// damageSeed is that of the flipped bytes; a failure names the byte.
const damageSeed = 20260214

// inspections are command lines that only look. %s is the database, %d something new in a temporary folder.
var inspections = []string{
	"buckets %s",
	"ls %s fruit --json",
	"keys %s numbers",
	"keys %s deep a b c",
	"get %s fruit apple",
	"get %s large big --format redacted",
	"tree %s",
	"info %s",
	"inspect %s",
	"stats %s",
	"check %s",
	"pages %s",
	"page %s --all",
	"page %s 0 4 15 16 22 23 --json",
	"page-item %s 4 5",
	"dump %s 22",
	"surgery meta validate %s",
	"export %s %d --skip",
	"compact %s -o %d --no-sync",
	"surgery revert-meta-page %s --output %d",
	"surgery clear-page %s --output %d --pageId 15",
	"surgery clear-page-elements %s --output %d --pageId 4 --from-index 0 --to-index 2",
	"surgery copy-page %s --output %d --from-page 16 --to-page 7",
	"surgery freelist abandon %s --output %d",
	"surgery meta update %s --output %d",
}

// TestDamagedFiles runs the commands that look on files with a byte changed. They may fail or not, as it comes, but must
// do so in an orderly way, and leave the file alone.
func TestDamagedFiles(t *testing.T) {
	sound, err := database("testdata", "nested")
	if err != nil {
		t.Fatal(err)
	}
	tries := 40
	if testing.Short() {
		tries = 20
	}
	rng := rand.New(rand.NewPCG(damageSeed, 0))
	for range tries {
		damaged := bytes.Clone(sound)
		off := interestingByte(rng)
		damaged[off] = byte(rng.Uint32())
		checkDamaged(t, "kv", inspections, damaged, fmt.Sprintf("byte %#x is %#02x instead of %#02x", off, damaged[off], sound[off]))
	}
}

// interestingByte prefers the pages in use and their headers and element tables to keys, values and free space.
func interestingByte(rng *rand.Rand) int {
	pages := []int{0, 1, 4, 5, 6, 9, 12, 14, 15, 16, 19, 22, 23}
	return pages[rng.IntN(len(pages))]*4096 + rng.IntN(160)
}

// checkOrderly demands that a command did its work or said why not.
func checkOrderly(t *testing.T, r result, what string) {
	t.Helper()
	if r.status != exitDone && r.status != exitFailed || strings.Contains(r.stderr, "internal error") {
		t.Errorf("%s: exit status %d, %s", what, r.status, r.stderr)
	}
	if r.status == exitFailed && r.stderr == "" {
		t.Errorf("%s: failed without a word", what)
	}
	if len(r.stdout) > 10<<20 {
		t.Errorf("%s: prints %d bytes", what, len(r.stdout))
	}
}

// TestCutFiles does the same on files that were cut off.
func TestCutFiles(t *testing.T) {
	sound, err := database("testdata", "nested")
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, 79, 80, 100, 4095, 4096, 8191, 8192, 12288, 0x9000, 0x9800, 0x10000, 0x16000, 0x17fff} {
		checkDamaged(t, "kv", inspections, sound[:size], fmt.Sprintf("cut to %d bytes", size))
	}
}

// checkDamaged runs the commands of a group.
func checkDamaged(t *testing.T, group string, lines []string, content []byte, what string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "damaged")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		args := []string{group}
		for word := range strings.FieldsSeq(line) {
			word = strings.Replace(word, "%s", path, 1)
			word = strings.Replace(word, "%d", filepath.Join(dir, fmt.Sprint(i)), 1)
			args = append(args, word)
		}
		checkOrderly(t, holt(t, args...), fmt.Sprintf("%s: holt %s %s", what, group, line))
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
			t.Fatalf("%s: holt %s %s: the file has changed (%v)", what, group, line, err)
		}
	}
}
