// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/internal/invariant"
	"github.com/holtdb/holt/stack"
)

const (
	name       = "test.stack"
	headerSize = 32  // of the stack's file
	blockSize  = 256 // of the file, in which the stack takes writes for atomic
)

// long says whether tests may take minutes: HOLT_LONG=1.
func long() bool { return os.Getenv("HOLT_LONG") == "1" }

// times is how often to repeat something: the second number in long runs, and less than the first when it is slow.
func times(short, many int) int {
	switch {
	case long():
		return many
	case testing.Short() || invariant.Enabled:
		return (short + 3) / 4
	}
	return short
}

// text makes n bytes, none of them zero, that differ from those at other offsets and of other seeds.
func text(n int, seed byte) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte((i+37*int(seed))%251) + 1
	}
	return p
}

// newDisk is a disk that tears writes where the format of the stack says it may.
func newDisk() *file.Crash {
	disk := file.NewCrash()
	disk.SetSector(blockSize)
	return disk
}

// raw is what a file holds.
func raw(t rapid.TB, disk file.FS) []byte {
	t.Helper()
	f, err := disk.OpenFile(name, os.O_RDONLY, 0)
	check(t, err)
	size, err := f.Size()
	check(t, err)
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); !errors.Is(err, io.EOF) {
		check(t, err)
	}
	check(t, f.Close())
	return b
}

func openStack(disk file.FS) (*stack.Stack, error) {
	return stack.Open(name, &stack.Options{FS: disk})
}

// payloadOf is the payload of a stack that a crash may have left, which recovers it.
func payloadOf(t rapid.TB, disk file.FS) []byte {
	t.Helper()
	s, err := openStack(disk)
	check(t, err)
	p, err := s.Peek(0)
	check(t, errors.Join(err, s.Close()))
	return p
}

// rest waits until nothing is under way, in the background neither.
func rest(t rapid.TB, s *stack.Stack) {
	t.Helper()
	check(t, s.Update(func(*stack.Unit) error { return nil }))
}

func check(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused makes sure that a call failed for the right reason.
func refused(t rapid.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: got error %v, want %v", what, err, want)
	}
}

func same(t rapid.TB, what string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Fatalf("%s: got %d bytes, want %d; they differ from %d on:\n%s\n%s",
		what, len(got), len(want), at, near(got, at), near(want, at))
}

// near shows the bytes around at.
func near(p []byte, at int) string {
	from := max(at-16, 0) &^ 7
	return fmt.Sprintf("from %d: %x", from, p[from:min(from+96, len(p))])
}

// goroutines runs fn in n of them, and waits.
func goroutines(n int, fn func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { fn(i) })
	}
	all.Wait()
}

// patience is how long something may take that comes at once unless something is wrong.
const patience = 20 * time.Second

// queued waits until n goroutines wait for their turn in stacks.
func queued(n int) {
	dump := make([]byte, 1<<20)
	for start := time.Now(); strings.Count(string(dump[:runtime.Stack(dump, true)]), "stack.(*operation).wait(") < n; {
		if time.Since(start) > patience {
			panic("they do not come")
		}
		time.Sleep(time.Millisecond)
	}
}

// fates calls fn with some of what may be left of a disk when the power is cut: everything, only what was synced, and
// random subsets of the rest, in part torn.
func fates(disk *file.Crash, random int, fn func(what string, left *file.Crash)) {
	fn("kept all", disk.AfterCutKeeping(file.KeepAll))
	if len(disk.Unsynced()) == 0 {
		return
	}
	fn("kept none", disk.AfterCutKeeping(file.KeepNone))
	for seed := range uint64(random) {
		fn(fmt.Sprint("seed ", seed), disk.AfterCut(seed))
	}
}
