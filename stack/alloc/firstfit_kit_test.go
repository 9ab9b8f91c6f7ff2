// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

var ffOrder = binary.LittleEndian

// State of a FirstFit file, as text: the sizes of the blocks, negative if they are free, and behind a slash the free
// ones in the order of the list, counted from 0: "16 -104 24 /1".

// ffPayload is a payload in a state. Live blocks hold text, other bytes are stale.
func ffPayload(t rapid.TB, state string) []byte {
	t.Helper()
	blocks, order, _ := strings.Cut(state, "/")
	p := slices.Concat(make([]byte, 16), []byte("ALFF\x00\x01\x04\x00"), make([]byte, 24))
	var at []int
	for i, word := range strings.Fields(blocks) {
		size := ffInt(t, word)
		flags := uint64(0)
		data := text(max(size, -size), byte(i))
		if size < 0 {
			size, flags = -size, 1
			data = bytes.Repeat([]byte{0xEE}, size)
		}
		p = ffOrder.AppendUint64(ffOrder.AppendUint64(p, uint64(size)), flags)
		at = append(at, len(p))
		p = ffOrder.AppendUint64(append(p, data...), uint64(size))
	}
	from := 32
	prev := 0
	for word := range strings.FieldsSeq(order) {
		b := at[ffInt(t, word)]
		ffOrder.PutUint64(p[from:], uint64(b))
		ffOrder.PutUint64(p[b:], 0)
		ffOrder.PutUint64(p[b+8:], uint64(prev))
		from, prev = b, b
	}
	return p
}

func ffInt(t rapid.TB, word string) int {
	t.Helper()
	n, err := strconv.Atoi(word)
	check(t, err)
	return n
}

// ffState is the state of a payload. It is an error if something is wrong with its marks.
func ffState(p []byte) (state string, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("%q and then: %v", state, e)
		}
	}()
	word := func(off int) int { return int(ffOrder.Uint64(p[off:])) }
	index := map[int]int{} // of free blocks
	for start, i := 48, 0; start < len(p); i++ {
		size := word(start)
		if word(start+16+size) != size {
			return "", fmt.Errorf("block at %d, behind %s: %d bytes, %d in the footer", start, state, size, word(start+16+size))
		}
		switch word(start + 8) {
		case 0:
			state += fmt.Sprint(size, " ")
		case 1:
			state += fmt.Sprint(-size, " ")
			index[start+16] = i
		default:
			return "", fmt.Errorf("block at %d, behind %s: flags %x", start, state, word(start+8))
		}
		if start += 24 + size; start > len(p) {
			return "", fmt.Errorf("%s: the last block ends at %d of %d", state, start, len(p))
		}
	}
	state += "/"
	for data, prev := word(32), 0; data != 0; data, prev = word(data), data {
		i, ok := index[data]
		if !ok || word(data+8) != prev {
			return "", fmt.Errorf("%s: in the list, behind %d: %d, with %d before it", state, prev, data, word(data+8))
		}
		delete(index, data)
		state += fmt.Sprint(i, " ")
	}
	if len(index) > 0 || word(24) != 0 || word(40) != 0 {
		return "", fmt.Errorf("%s: not in the list: %v; flags %x", state, index, word(24))
	}
	return ffTrim(state), nil
}

// ffTrim is a state in its shortest form.
func ffTrim(state string) string {
	blocks, order, _ := strings.Cut(state, "/")
	if order = strings.Join(strings.Fields(order), " "); order != "" {
		order = " /" + order
	}
	return strings.Join(strings.Fields(blocks), " ") + order
}

// ffIs makes sure of the state of an open allocator.
func ffIs(t rapid.TB, what string, a *alloc.FirstFit, want string) {
	t.Helper()
	p, err := a.Stack().Peek(0)
	check(t, err)
	got, err := ffState(p)
	if err != nil || got != ffTrim(want) {
		t.Fatalf("%s: state %q, %v; want %q", what, got, err, ffTrim(want))
	}
}

// ffRegion is all of the i-th block.
func ffRegion(p []byte, i int) alloc.Region {
	start := 48
	for range i {
		start += 24 + int(ffOrder.Uint64(p[start:]))
	}
	return alloc.Region{Off: int64(start) + 16, Len: int64(ffOrder.Uint64(p[start:]))}
}

// ffDisk is a disk with a stack of a payload.
func ffDisk(t rapid.TB, payload []byte) *file.Crash {
	t.Helper()
	disk := newDisk()
	ffPut(t, disk, payload)
	return disk
}

// ffMemory is the same for those who want no crash.
func ffMemory(t rapid.TB, payload []byte) *file.Crash {
	t.Helper()
	disk := file.NewMemory()
	ffPut(t, disk, payload)
	return disk
}

func ffPut(t rapid.TB, disk file.FS, payload []byte) {
	t.Helper()
	f, err := disk.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	check(t, err)
	content := ffOrder.AppendUint64([]byte{'B', 'S', 'T', 'K', 0, 4, 4, 0}, uint64(len(payload)))
	_, err = f.WriteAt(slices.Concat(content, make([]byte, 16), payload), 0)
	check(t, errors.Join(err, f.Sync(), f.Close(), disk.SyncDir(".")))
}

// ffOpen opens what a disk holds.
func ffOpen(disk file.FS) (*alloc.FirstFit, error) {
	s, err := openStack(disk)
	if err != nil {
		return nil, err
	}
	a, err := alloc.OpenFirstFit(s)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return a, nil
}

// ffWith opens an allocator with a payload. It is closed in the end.
func ffWith(t *testing.T, payload []byte) (*alloc.FirstFit, *file.Crash) {
	t.Helper()
	disk := ffMemory(t, payload)
	a, err := ffOpen(disk)
	check(t, err)
	t.Cleanup(func() { check(t, a.Stack().Close()) })
	return a, disk
}

// ffClean makes sure that Check finds nothing.
func ffClean(t rapid.TB, what string, a alloc.Allocator) {
	t.Helper()
	for err := range a.Check() {
		t.Errorf("%s: Check: %v", what, err)
	}
}

// ffCorrupt says whether an error is damage.
func ffCorrupt(err error) bool {
	_, ok := errors.AsType[*stack.CorruptError](err)
	return ok
}

// ffFound is everything that Check finds.
func ffFound(t testing.TB, what string, a *alloc.FirstFit) []error {
	t.Helper()
	found := slices.Collect(a.Check())
	for _, err := range found {
		explained(t, what+": Check", err)
	}
	return found
}
