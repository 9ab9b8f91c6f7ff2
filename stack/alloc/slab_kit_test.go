// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// How Slab, CheckedSlab and Segregated are opened in the tests of what only they do: blocks of 32 bytes.
var (
	openSlab    = as(func(s *stack.Stack) (*alloc.Slab, error) { return alloc.OpenSlab(s, 32) })
	openChecked = as(func(s *stack.Stack) (*alloc.CheckedSlab, error) { return alloc.OpenCheckedSlab(s, 24) })
	openSeg     = as(alloc.OpenSegregated)
)

var le = binary.LittleEndian

type opener = func(s *stack.Stack) (alloc.Allocator, error)

// slabs is an allocator whose file is looked at and changed behind its back.
type slabs struct {
	alloc.Allocator
	disk *file.Crash
	open opener
}

func newSlabs(t testing.TB, open opener) *slabs {
	t.Helper()
	w := &slabs{disk: newDisk(), open: open}
	check(t, w.start(w.disk))
	t.Cleanup(func() { check(t, w.Stack().Close()) })
	return w
}

// start opens the file. The stack is closed again if that fails.
func (w *slabs) start(disk file.FS) error {
	s, err := openStack(disk)
	if err != nil {
		return err
	}
	a, err := w.open(s)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	w.Allocator = a
	return nil
}

// alloc allocates regions and fills each with bytes of its own.
func (w *slabs) alloc(t rapid.TB, lens ...int64) (rs []alloc.Region) {
	t.Helper()
	for _, n := range lens {
		r, err := w.Alloc(n)
		check(t, err)
		rs = append(rs, r)
		w.fill(t, r)
	}
	return rs
}

// fill writes the bytes of a region that holds asks for.
func (w *slabs) fill(t rapid.TB, r alloc.Region) {
	t.Helper()
	_, err := w.View(r).WriteAt(text(int(r.Len), byte(r.Off/8)), 0)
	check(t, err)
}

// holds makes sure that a region has the bytes that fill wrote there when it was at from, and zeros behind.
func (w *slabs) holds(t rapid.TB, r alloc.Region, from int64, n int64) {
	t.Helper()
	want := make([]byte, r.Len)
	copy(want, text(int(n), byte(from/8)))
	got, err := w.View(r).Bytes()
	check(t, err)
	same(t, fmt.Sprint(r), got, want)
}

func (w *slabs) free(t rapid.TB, rs ...alloc.Region) {
	t.Helper()
	for _, r := range rs {
		check(t, w.Free(r))
	}
}

// set changes a word of the payload.
func (w *slabs) set(t rapid.TB, off int64, word uint64) {
	t.Helper()
	check(t, w.Stack().Set(off, le.AppendUint64(nil, word)))
}

func (w *slabs) word(t rapid.TB, off int64) uint64 {
	t.Helper()
	p, err := w.Stack().Get(off, off+8)
	check(t, err)
	return le.Uint64(p)
}

// at makes sure that a region lies there.
func at(t rapid.TB, r alloc.Region, err error, off, n int64) alloc.Region {
	t.Helper()
	check(t, err)
	if r.Off != off || r.Len != n {
		t.Fatalf("got %v, want %d bytes at %d", r, n, off)
	}
	return r
}

func (w *slabs) length(t rapid.TB, want int64) {
	t.Helper()
	if n := w.Stack().Len(); n != want {
		t.Fatalf("the payload has %d bytes, want %d", n, want)
	}
}

// clean makes sure that nothing is wrong.
func (w *slabs) clean(t rapid.TB) {
	t.Helper()
	for err := range w.Check() {
		t.Fatal(err)
	}
}

// dirty makes sure that something is, there.
func (w *slabs) dirty(t rapid.TB, off int64) {
	t.Helper()
	n := 0
	for err := range w.Check() {
		n++
		damage(t, err, off)
	}
	if n != 1 {
		t.Fatalf("%d errors", n)
	}
}

// damage makes sure that an error names an offset of the payload. -1 is any.
func damage(t rapid.TB, err error, off int64) {
	t.Helper()
	d, ok := errors.AsType[*stack.CorruptError](err)
	if !ok || off >= 0 && d.Off != headerSize+off {
		t.Fatalf("got error %v, want damage at %d", err, headerSize+off)
	}
}

// untouched makes sure that fn leaves the file as it is.
func (w *slabs) untouched(t rapid.TB, what string, fn func()) {
	t.Helper()
	rest(t, w.Stack())
	was := w.payload(t)
	fn()
	rest(t, w.Stack())
	same(t, what, w.payload(t), was)
}

// payload is that on the disk, without what an open stack leaves behind it.
func (w *slabs) payload(t rapid.TB) []byte {
	t.Helper()
	return raw(t, w.disk)[:headerSize+w.Stack().Len()]
}

// untouchedIf makes sure that fn leaves the file as it is if it fails.
func (w *slabs) untouchedIf(t rapid.TB, fn func() error) {
	t.Helper()
	rest(t, w.Stack())
	was := raw(t, w.disk)
	if err := fn(); err != nil {
		rest(t, w.Stack())
		same(t, err.Error(), raw(t, w.disk), was)
	}
}

// reopen closes the file and opens it again.
func (w *slabs) reopen(t rapid.TB) error {
	t.Helper()
	check(t, w.Stack().Close())
	err := w.start(w.disk)
	if err != nil {
		s, again := openStack(w.disk) // to be closed in the end
		check(t, again)
		w.Allocator, again = alloc.OpenLinear(s)
		check(t, again)
	}
	return err
}

// diskOf is a disk with a stack of this payload.
func diskOf(t rapid.TB, payload []byte) *file.Crash {
	t.Helper()
	disk := newDisk()
	s, err := openStack(disk)
	check(t, err)
	_, err = s.Push(payload)
	check(t, errors.Join(err, s.Close()))
	return disk
}
