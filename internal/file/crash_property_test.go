// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/holtdb/holt/internal/file"
)

// knowledge is what must hold of a file after a power cut, whatever happens to what was not synced.
type knowledge struct {
	f       file.File
	content []byte          // as last synced
	written []map[byte]bool // by offset: what was put there since
	lengths []int           // that the file may have been given since, by calls or by pieces of writes
	ordered bool            // lengths were set, or holes made, since
}

func (k *knowledge) synced(t *testing.T) {
	k.content = []byte(content(t, k.f))
	k.written, k.lengths, k.ordered = nil, nil, false
}

// through notes that b is durable at off, and nothing else that is not.
func (k *knowledge) through(off int, b []byte) {
	if end := off + len(b); len(b) > 0 && end > len(k.content) {
		k.content = append(k.content, make([]byte, end-len(k.content))...)
	}
	copy(k.content[min(off, len(k.content)):], b)
	for i := off; i < min(off+len(b), len(k.written)); i++ {
		clear(k.written[i])
	}
	k.lengths = slices.DeleteFunc(k.lengths, func(n int) bool { return n < len(k.content) })
}

// put notes that the byte at off may be b.
func (k *knowledge) put(off int, b byte) {
	for len(k.written) <= off {
		k.written = append(k.written, map[byte]bool{})
	}
	k.written[off][b] = true
}

// check demands that text is made of what was synced and what was put since, and as long as some call made it.
func (k *knowledge) check(text string) error {
	shortest, longest := len(k.content), len(k.content)
	for _, n := range k.lengths {
		shortest, longest = min(shortest, n), max(longest, n)
	}
	if len(text) < shortest || len(text) > longest {
		return fmt.Errorf("%d bytes long, want %d to %d", len(text), shortest, longest)
	}
	for i := range len(text) {
		old := byte(0)
		if i < len(k.content) {
			old = k.content[i]
		}
		if text[i] != old && (i >= len(k.written) || !k.written[i][text[i]]) {
			return fmt.Errorf("byte %d is %#x, which nobody wrote there", i, text[i])
		}
	}
	return nil
}

// change makes one random change, or sync, and notes it.
func (k *knowledge) change(t *testing.T, r *rand.Rand) {
	off, n := r.IntN(3000), r.IntN(1500)
	switch r.IntN(8) {
	case 6, 7:
		if k.ordered {
			return
		}
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Int())
		}
		if _, err := k.f.WriteThrough(b, int64(off)); err != nil {
			t.Fatal(err)
		}
		k.through(off, b)
	case 0:
		must(t, k.f.Sync())
		k.synced(t)
	case 1:
		must(t, k.f.SyncData())
		k.synced(t)
	case 2:
		k.ordered = true
		k.lengths = append(k.lengths, off)
		for i := off; i < 4500; i++ {
			k.put(i, 0)
		}
		must(t, k.f.Truncate(int64(off)))
	case 3:
		k.ordered = true
		for i := range n {
			k.put(off+i, 0)
		}
		must(t, k.f.PunchHole(int64(off), int64(n)))
	default:
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Int())
			k.put(off+i, b[i])
		}
		k.lengths = append(k.lengths, off+n)
		write(t, k.f, int64(off), string(b))
	}
}

func TestCrashKeepsWhatWasSynced(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		disk := file.NewCrash()
		disk.SetSector([]int{0, 1, 512}[r.IntN(3)])
		files := map[string]*knowledge{}
		for i := range 3 {
			name := fmt.Sprint("f", i)
			files[name] = &knowledge{f: durable(t, disk, name, "")}
		}
		for range 40 {
			for _, k := range files {
				if r.IntN(2) == 0 {
					k.change(t, r)
				}
			}
			after := disk.AfterCut(r.Uint64())
			for name, k := range files {
				text, ok := found(t, after, name)
				if !ok {
					t.Fatalf("seed %d: %s is gone, though its name was synced", seed, name)
				}
				if err := k.check(text); err != nil {
					t.Fatalf("seed %d: %s: %v", seed, name, err)
				}
			}
			a, _ := found(t, after, "f0")
			b, _ := found(t, after.AfterCut(r.Uint64()), "f0")
			if a != b {
				t.Fatalf("seed %d: what was found after a power cut is lost in the next", seed)
			}
		}
	}
}

func TestCrashIsDeterministic(t *testing.T) {
	run := func() string {
		disk := file.NewCrash()
		f := durable(t, disk, "f", "old")
		for i := range 20 {
			write(t, f, int64(i*300), string(make([]byte, 1000)))
			must(t, f.Truncate(int64(5000+i)))
		}
		all := ""
		for seed := range uint64(20) {
			text, _ := found(t, disk.AfterCut(seed), "f")
			all += text
		}
		return all
	}
	first, second := run(), run()
	if first != second {
		t.Error("the same seeds find different things")
	}
}

// TestFailedCallsDoNotSurvive has a disk that fails under one that loses power: calls that were made to fail must not survive.
func TestFailedCallsDoNotSurvive(t *testing.T) {
	disk := file.NewCrash()
	faulty := file.NewFault(disk)
	f, err := faulty.OpenFile("f", os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	must(t, disk.SyncDir("."))
	faulty.FailFrom(1)
	_, err = f.WriteAt([]byte("x"), 0)
	wantErr(t, err, file.ErrInjected)
	wantOutcomes(t, outcomes(t, disk, "f", 20), "")
}
