// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// What the tests know of the format, beside what the package knows of it.
const (
	name       = "test.stack"
	headerSize = 32
	blockSize  = 256 // of the file, in which writes are taken to be atomic

	modeSet          = uint64(0)
	modeSpliceGrow   = ^uint64(0) - 1
	modeSpliceShrink = ^uint64(0) - 2
	modeRepeat       = ^uint64(0) - 3
	modeCopy         = ^uint64(0) - 4
	modeMultiWrite   = ^uint64(0) - 5
	modeMultiAtrunc  = ^uint64(0) - 6 // of a later generation
)

var le = binary.LittleEndian

// text makes n bytes, none of them zero, that differ from those at other offsets and of other seeds.
func text(n int, seed byte) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte((i+37*int(seed))%251) + 1
	}
	return p
}

// image is a file: the header with these fields, and what follows it.
func image(length, target, mode uint64, parts ...[]byte) []byte {
	h := []byte{'B', 'S', 'T', 'K', 0, 4, 4, 0}
	h = le.AppendUint64(h, length)
	h = le.AppendUint64(h, target)
	h = le.AppendUint64(h, mode)
	return append(h, bytes.Join(parts, nil)...)
}

// resting is the file of a payload, with nothing under way.
func resting(payload []byte) []byte { return image(uint64(len(payload)), 0, 0, payload) }

// words are numbers as they are staged.
func words(all ...uint64) (b []byte) {
	for _, w := range all {
		b = le.AppendUint64(b, w)
	}
	return b
}

// put makes a file, durably.
func put(t testing.TB, disk file.FS, content []byte) {
	t.Helper()
	f, err := disk.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	check(t, err)
	_, err = f.WriteAt(content, 0)
	check(t, errors.Join(err, f.Sync(), f.Close(), disk.SyncDir(".")))
}

// raw is what a file holds, nil if there is none.
func raw(t testing.TB, disk file.FS) []byte {
	t.Helper()
	f, err := disk.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
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

// diskWith is a disk with a stack file at rest.
func diskWith(t testing.TB, payload []byte) *file.Crash {
	t.Helper()
	disk := file.NewCrash()
	disk.SetSector(blockSize)
	put(t, disk, resting(payload))
	return disk
}

func open(t testing.TB, disk file.FS, opts *stack.Options) *stack.Stack {
	t.Helper()
	s, err := stack.OpenFS(disk, name, opts)
	check(t, err)
	return s
}

// openWith opens a stack with this payload. It is closed in the end.
func openWith(t testing.TB, payload []byte) (*stack.Stack, *file.Crash) {
	t.Helper()
	disk := diskWith(t, payload)
	s := open(t, disk, nil)
	t.Cleanup(func() { check(t, s.Close()) })
	return s, disk
}

// warm makes a handle that has synced something, which costs one sync and changes nothing.
func warm(t testing.TB, s *stack.Stack) {
	t.Helper()
	if s.IsEmpty() {
		return
	}
	first, err := s.Get(0, 1)
	check(t, err)
	check(t, s.Set(0, first))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused makes sure that a call failed for the right reason.
func refused(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

// report is check, and refused, for goroutines other than the test's.
func report(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

func same(t testing.TB, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("got %d bytes, want %d; they differ from %d on:\n%x\n%x", len(got), len(want), agree(got, want), got, want)
	}
}

// agree is how many bytes two slices have in common at their beginning.
func agree(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func holds(t testing.TB, s *stack.Stack, want []byte) {
	t.Helper()
	got, err := s.Peek(0)
	check(t, err)
	same(t, got, want)
	if s.Len() != int64(len(want)) || s.IsEmpty() != (len(want) == 0) {
		t.Fatalf("length %d, empty %v; want %d bytes", s.Len(), s.IsEmpty(), len(want))
	}
}

// rests makes sure that a file holds a payload and nothing else.
func rests(t testing.TB, disk file.FS, payload []byte) {
	t.Helper()
	same(t, raw(t, disk), resting(payload))
}

// gated returns a file system whose syncs wait at the gate, which is shut.
func gated(disk file.FS) (file.FS, *file.Gate) {
	fs, gate := file.NewGate(disk)
	gate.Shut(0)
	return fs, gate
}

// patience is how long something may take that comes at once unless something is wrong.
const patience = 20 * time.Second

// queued waits until n operations of s wait for their turn.
func queued(s *stack.Stack, n int) {
	for start := time.Now(); s.Queued() < n; {
		if time.Since(start) > patience {
			panic("they do not come")
		}
		time.Sleep(50 * time.Microsecond)
	}
}
