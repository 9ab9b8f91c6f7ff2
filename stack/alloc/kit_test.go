// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// hooked is a file system whose SyncData is replaced.
type hooked struct {
	file.FS
	sync func(file.File) error
}

func (h *hooked) OpenFile(name string, flag int, perm fs.FileMode) (file.File, error) {
	f, err := h.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &hookedFile{f, h}, nil
}

type hookedFile struct {
	file.File
	fs *hooked
}

func (f *hookedFile) SyncData() error { return f.fs.sync(f.File) }

// gate lets syncs through one by one. It stands open in the beginning.
type gate struct {
	mu      sync.Mutex
	changed sync.Cond
	permits int  // guarded by mu
	waiting int  // guarded by mu
	closed  bool // guarded by mu
}

// gated returns a file system whose syncs wait at the gate.
func gated(disk file.FS) (*hooked, *gate) {
	g := &gate{}
	g.changed.L = &g.mu
	return &hooked{disk, func(f file.File) error {
		g.pass()
		return f.SyncData()
	}}, g
}

func (g *gate) pass() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting++
	g.changed.Broadcast()
	for g.closed && g.permits == 0 {
		g.changed.Wait()
	}
	g.waiting--
	if g.closed {
		g.permits--
	}
}

// shut lets n more syncs through, and then none.
func (g *gate) shut(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.permits, g.closed = n, true
}

// release lets all through from now on.
func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = false
	g.changed.Broadcast()
}

// patience is how long something may take that comes at once unless something is wrong.
const patience = 20 * time.Second

// await waits until a sync waits.
func (g *gate) await() {
	g.mu.Lock()
	defer g.mu.Unlock()
	late := false
	timer := time.AfterFunc(patience, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		late = true
		g.changed.Broadcast()
	})
	defer timer.Stop()
	for g.waiting == 0 || g.permits > 0 {
		if late {
			panic("no sync comes")
		}
		g.changed.Wait()
	}
}

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
