// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var (
	seed      = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the first history")
	histories = flag.Int("histories", 8, "random histories of each kind")
)

// eachSeed runs a test for some seeds, and names them.
func eachSeed(t *testing.T, n int, test func(t *testing.T, seed uint64)) {
	t.Helper()
	for i := range n {
		s := *seed + uint64(i)
		t.Run(fmt.Sprint("seed=", s), func(t *testing.T) { test(t, s) })
	}
}

// TestTurns lets both sides write histories, in turns on the same file.
func TestTurns(t *testing.T) {
	eachSeed(t, *histories, func(t *testing.T, seed uint64) {
		g := newGenerator(seed)
		path := filepath.Join(scratch(t), "stack")
		sides := []*process{holt.start(t), crate.start(t)}
		m := new(model)
		for turn := range 6 {
			p := sides[(turn+int(seed%2))%2]
			p.do(t, "open "+path)
			verify(t, p, m)
			work(t, p, g, m, 12)
			verify(t, p, m)
			p.do(t, "close")
			verifyAtRest(t, path, m)
		}
	})
}

// work has a side run commands, and demands the answers that the model gives.
func work(t *testing.T, p *process, g generator, m *model, commands int) {
	t.Helper()
	for range commands {
		line := g.next(m)
		if got, want := p.try(t, line), kind(run(m, line)); got != want {
			t.Fatalf("%s, %s, length %d: %s, want %s", p.name, short(line), m.Len(), short(got), short(want))
		}
	}
}

// verify demands that what is open holds what the model holds.
func verify(t *testing.T, p *process, m *model) {
	t.Helper()
	if got, want := p.do(t, "len"), run(m, "len"); got != want {
		t.Fatalf("%s, len: %s, want %s", p.name, got, want)
	}
	all := fmt.Sprint("get 0 ", m.Len())
	if p.do(t, all) != run(m, all) {
		t.Fatalf("%s reads something else than was written", p.name)
	}
}

// verifyAtRest demands a file that has the payload and nothing else, whoever wrote it.
func verifyAtRest(t *testing.T, path string, m *model) {
	t.Helper()
	b := readFile(t, path)
	b[6], b[7] = 4, 0 // which release made the file
	if want := restingFile(m.b); !bytes.Equal(b, want) {
		t.Fatalf("%d bytes at rest, which begin with %x; want %d, which begin with %x",
			len(b), b[:min(len(b), 40)], len(want), want[:min(len(want), 40)])
	}
}

// restingFile is the file of a payload at rest.
func restingFile(payload []byte) []byte {
	return fileOf(record{length: uint64(len(payload))}, payload)
}

// record is what a commit writes into the header.
type record struct{ length, target, mode uint64 }

// fileOf is a file with this header, and body behind it.
func fileOf(r record, body ...[]byte) []byte {
	b := []byte("BSTK\x00\x04\x04\x00")
	for _, v := range []uint64{r.length, r.target, r.mode} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return append(b, bytes.Join(body, nil)...)
}

// scratch is a directory for files whose syncs need not cost anything: in memory, where there is one.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "holt-interop-") //nolint:usetesting // t.TempDir is on a disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
