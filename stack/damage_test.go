// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// truthful makes sure that a file of any bytes is refused, or shows what the rules of the format say that it holds,
// without using much memory.
func truthful(t *testing.T, content []byte) {
	t.Helper()
	disk := file.NewMemory()
	put(t, disk, content)
	readable(t, disk, content)
	want, ok := recovered(bytes.Clone(content))
	before := allocated()
	s, err := stack.OpenFS(disk, name, nil)
	if used := allocated() - before; used > 1<<20+uint64(8*len(content)) {
		t.Fatalf("%x: opening it took %d bytes", content, used)
	}
	if !ok {
		if !isCorrupt(err) && !isVersion(err, fmt.Sprintf("%d.%d", content[4], content[5])) {
			t.Fatalf("%x: got error %v", content, err)
		}
		same(t, raw(t, disk), content)
		return
	}
	if err != nil {
		t.Fatalf("%x: %v", content, err)
	}
	holds(t, s, want)
	_, err = s.Push(text(3, 9))
	check(t, err)
	check(t, s.Close())
	s = open(t, disk, nil)
	holds(t, s, append(want, text(3, 9)...))
	check(t, s.Close())
}

// readable makes sure that a file of any bytes can be opened read-only or is refused, and does not change.
func readable(t *testing.T, disk *file.Crash, content []byte) {
	t.Helper()
	s, err := stack.OpenFS(disk, name, &stack.Options{ReadOnly: true})
	if err == nil {
		p, err := s.Peek(0)
		check(t, err)
		if !bytes.Contains(content, p) {
			t.Fatalf("%x: read-only, it holds %x", content, p)
		}
		check(t, s.Close())
	}
	same(t, raw(t, disk), content)
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// victims are small files, at rest and with each kind of journal.
func victims() map[string][]byte {
	all := map[string][]byte{"old generation": oldImage(9, text(9, 0))}
	seen := map[uint64]int{}
	for _, c := range leftovers {
		mode := le.Uint64(c.content[24:])
		if seen[mode]++; seen[mode] <= 2 {
			all[c.name] = c.content
		}
	}
	return all
}

func TestDamagedBytes(t *testing.T) {
	for what, content := range victims() {
		t.Run(what, func(t *testing.T) {
			for i := range content {
				for _, mask := range []byte{1, 0x80, 0xFF, 0x10} {
					spoilt := bytes.Clone(content)
					spoilt[i] ^= mask
					truthful(t, spoilt)
				}
			}
		})
	}
}

func TestDamagedLengths(t *testing.T) {
	for what, content := range victims() {
		t.Run(what, func(t *testing.T) {
			for n := range len(content) {
				truthful(t, content[:n])
			}
			for _, more := range []int{1, 7, 8, 16, 100} {
				truthful(t, append(bytes.Clone(content), text(more, 1)...))
				truthful(t, append(bytes.Clone(content), zeros[:more]...))
			}
		})
	}
}

// Wild numbers in each field of the record, and in those that are staged.
func TestWildNumbers(t *testing.T) {
	numbers := []uint64{
		0,
		1,
		8,
		31,
		32,
		33,
		40,
		72,
		1 << 31,
		1 << 32,
		1 << 40,
		1<<62 - 1,
		1 << 62,
		1<<63 - 33,
		1<<63 - 32,
		1<<63 - 1,
		1 << 63,
		math.MaxUint64 - 32,
		math.MaxUint64,
	}
	for m := modeMultiAtrunc; m != 2; m++ { // through zero, to modes that do not exist
		numbers = append(numbers, m)
	}
	for _, mode := range []uint64{modeSet, modeSpliceGrow, modeSpliceShrink, modeRepeat, modeCopy, modeMultiWrite} {
		for _, a := range numbers {
			for _, b := range numbers {
				truthful(t, image(a, b, mode, old, text(20, 1)))
				truthful(t, image(40, headerSize+3, mode, old, words(a, b), text(3, 1)))
				truthful(t, image(40, 0, mode, old, words(a, b), text(3, 1)))
			}
		}
	}
}

// A journal that says of a huge file, most of which is a hole, that there is much to do is refused without reading it.
func TestDamagedHugeFile(t *testing.T) {
	const huge = 1 << 36
	for what, content := range map[string][]byte{
		"Repeat":       image(huge, headerSize, modeRepeat),
		"Set":          image(huge, headerSize+1, modeSet),
		"Copy":         image(huge, headerSize, modeCopy),
		"SpliceGrow":   image(huge, headerSize+3, modeSpliceGrow),
		"SpliceShrink": image(huge, headerSize+3, modeSpliceShrink),
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			check(t, os.WriteFile(path, content, 0o600))
			if err := os.Truncate(path, headerSize+2*huge); err != nil {
				t.Skipf("the file system has no such files: %v", err)
			}
			before := allocated()
			s, err := stack.Open(path, nil)
			check(t, err)
			if used := allocated() - before; used > 1<<20 {
				t.Errorf("opening it took %d bytes", used)
			}
			if s.Len() != huge {
				t.Errorf("%d bytes", s.Len())
			}
			check(t, s.Close())
		})
	}
}

// A pattern that is too long to be held in memory twice is repeated piece by piece.
func TestRecoveryOfALongPattern(t *testing.T) {
	const n = 1<<20 + 5
	pattern := text(n, 1)
	disk := file.NewMemory()
	put(t, disk, image(3*n+7, headerSize+2, modeRepeat, make([]byte, 3*n+7), words(3), pattern))
	s := open(t, disk, nil)
	holds(t, s, bytes.Join([][]byte{{0, 0}, pattern, pattern, pattern, zeros[:5]}, nil))
	check(t, s.Close())
}

// A file that another program cuts while it is open is found to be damaged by reads of what is gone.
func TestFileCutMeanwhile(t *testing.T) {
	s, disk := openWith(t, text(100, 0))
	f, err := disk.OpenFile(name, os.O_RDWR, 0)
	check(t, err)
	check(t, errors.Join(f.Truncate(headerSize+50), f.Close()))
	p, err := s.Get(0, 50)
	check(t, err)
	same(t, p, text(100, 0)[:50])
	if _, err := s.Get(40, 60); !isCorrupt(err) {
		t.Errorf("got error %v", err)
	}
	if _, err := s.Pop(10); !isCorrupt(err) {
		t.Errorf("got error %v", err)
	}
}
