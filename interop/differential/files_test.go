// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestIdenticalFiles plays histories whose transactions each touch one chain
// of nested buckets, with the page placement of bbolt, and compares the whole
// files after every step.
//
// One thing in bbolt is left to chance even then: it rebalances the pages of a
// bucket in the order of a Go map. A transaction after which the files differ
// is therefore played again on bbolt, from the same file. Ours must be one of
// the files that come out. If it is not, but bbolt makes different ones, there
// may be more of them than we have patience for, and nothing follows.
func TestIdenticalFiles(t *testing.T) {
	var sum verdicts
	rapid.Check(t, func(t *rapid.T) {
		h := chainHistory.Draw(t, "history")
		pair := newPair(t, h.opts)
		for i, s := range h.steps {
			sum[pair.step(t, i, s)]++
		}
		pair.close(t)
	})
	t.Logf("%d files identical, %d on repetition, %d undecided", sum[identical], sum[repeated], sum[undecided])
	if sum[undecided] > sum[identical]/20 {
		t.Errorf("too many files undecided")
	}
}

// A verdict is the outcome of comparing the files of both engines.
type verdict int

const (
	identical verdict = iota // at once
	repeated                 // after playing the transaction again on bbolt
	undecided                // bbolt makes too many different files
)

type verdicts [3]int

// chainHistory draws histories that leave bbolt no choice of pages.
var chainHistory = rapid.Custom(func(t *rapid.T) history {
	h := history{opts: chainOptions().Draw(t, "options")}
	h.opts.pageSize = rapid.SampledFrom(pageSizes).Draw(t, "page size")
	h.steps = sliceOf(chainStep(h.opts.pageSize), 20).Draw(t, "steps")
	return h
})

func chainOptions() *rapid.Generator[options] {
	return rapid.Custom(func(t *rapid.T) options {
		return options{
			boltPlacement:  true,
			mmapSize:       rapid.SampledFrom([]int{0, 0, 1 << 18}).Draw(t, "mmap size"),
			noFreelistSync: rapid.SampledFrom([]bool{false, false, true}).Draw(t, "no freelist sync"),
			noGrowSync:     rapid.Bool().Draw(t, "no grow sync"),
		}
	})
}

func chainStep(pageSize int) *rapid.Generator[step] {
	return weighted(
		choice[step]{12, rapid.Custom(func(t *rapid.T) step {
			chain := rapid.SliceOfN(rapid.SampledFrom(names[:3]), 1, 3).Draw(t, "chain")
			return write{rapid.SampledFrom(endings).Draw(t, "ending"), sliceOf(chainOp(chain, pageSize), 9).Draw(t, "ops")}
		})},
		choice[step]{1, rapid.Custom(func(t *rapid.T) step { return reopen{chainOptions().Draw(t, "options")} })},
	)
}

// chainOp draws an op on a bucket along the chain.
func chainOp(chain path, pageSize int) *rapid.Generator[op] {
	prefix := func(minLen, maxLen int) *rapid.Generator[path] {
		return rapid.Map(rapid.IntRange(minLen, min(maxLen, len(chain))), func(n int) path { return chain[:n] })
	}
	along, parent := prefix(1, 3), prefix(0, 2)
	child := rapid.Custom(func(t *rapid.T) path {
		return parent.Draw(t, "parent").child(bucketNames.Draw(t, "name"))
	})
	return weighted(
		choice[op]{12, putOf(along, pageSize)},
		choice[op]{6, shortDels(along)},
		choice[op]{1, sequences(along)},
		choice[op]{1, fills(along)},
		choice[op]{1, measures(along)},
		choice[op]{1, creates(parent)},
		choice[op]{1, rapid.Map(child, func(p path) op { return drop{p[:len(p)-1], p[len(p)-1]} })},
		choice[op]{1, rapid.Custom(func(t *rapid.T) op {
			p := child.Draw(t, "bucket")
			return move{p[:len(p)-1], p[len(p)-1], parent.Draw(t, "to")}
		})},
		choice[op]{2, walks(along)},
	)
}

// shortDels draws deletions that mark few pages for rebalancing, so that bbolt
// has few orders to do it in.
func shortDels(at *rapid.Generator[path]) *rapid.Generator[op] {
	return rapid.Custom(func(t *rapid.T) op {
		keys := keyRuns.Draw(t, "keys")
		keys.n = min(keys.n, 20)
		return del{at.Draw(t, "at"), keys}
	})
}

// A filePair is one database on each engine, with equal files.
type filePair struct {
	dir          string
	ours, theirs *player
	before       []byte // the file as it was before the current step
}

func newPair(t *rapid.T, opts options) *filePair {
	f := &filePair{dir: tempDir(t)}
	f.ours, f.theirs = f.player(t, holt, opts), f.player(t, bolt, opts)
	f.compare(t, -1, nil)
	return f
}

func (f *filePair) player(t *rapid.T, e *engine, opts options) *player {
	p := &player{engine: e, dir: filepath.Join(f.dir, e.name), opts: opts, sameFiles: true, changed: changes{}}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p.reopen(opts)
	return p
}

func (f *filePair) step(t *rapid.T, i int, s step) verdict {
	f.ours.trace, f.theirs.trace = nil, nil
	s.play(f.ours)
	s.play(f.theirs)
	compareTraces(t, f.ours, f.theirs)
	return f.compare(t, i, s)
}

// close compares what the engines tell about the last file, and closes it.
func (f *filePair) close(t *rapid.T) {
	ours, theirs := f.ours.survey(), f.theirs.survey()
	if !slices.Equal(ours, theirs) {
		t.Fatalf("got:\n%s\nwant:\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
	}
	f.compare(t, -1, nil)
	f.ours.close()
	f.theirs.close()
	if ours, theirs := read(t, f.ours.file()), read(t, f.theirs.file()); !bytes.Equal(ours, theirs) {
		t.Fatalf("after closing\n%s", difference(ours, theirs, f.ours.opts.pageSize))
	}
}

// survey lists what an engine tells about the pages and the content of its
// file, and a sum of the copy it makes.
func (p *player) survey() (lines []string) {
	err := p.db.View(func(tx transaction) error {
		for i := 0; ; i++ {
			info, err := tx.Page(i)
			if info == nil || err != nil {
				lines = append(lines, p.engine.errorName(err))
				break
			}
			lines = append(lines, fmt.Sprintf("page %+v", *info))
		}
		for _, err := range tx.Check() {
			lines = append(lines, err.Error())
		}
		sum := crc32.NewIEEE()
		n, err := tx.WriteTo(sum)
		lines = append(lines, fmt.Sprintf("tx %d, copy %d bytes, sum %x", tx.ID(), n, sum.Sum32()))
		lines = append(lines, content(tx)...)
		return err
	})
	return append(lines, p.engine.errorName(err))
}

// compare demands equal files after a step, or that bbolt could have made ours.
func (f *filePair) compare(t *rapid.T, i int, s step) verdict {
	ours, theirs := read(t, f.ours.file()), read(t, f.theirs.file())
	v := identical
	if !bytes.Equal(ours, theirs) {
		var different bool
		if v, different = f.repeat(t, s, ours); !different {
			t.Fatalf("after step %d, %v\n%s", i, s, difference(ours, theirs, f.ours.opts.pageSize))
		}
		f.restart(t, ours)
	} else if a, b := f.ours.db.Counters(), f.theirs.db.Counters(); a != b {
		t.Fatalf("after step %d, %v\ngot %+v\nwant %+v", i, s, a, b)
	}
	f.before = ours
	return v
}

// tries is how often a transaction is repeated on bbolt.
const tries = 60

// repeat plays a step again on bbolt until it gives the file want. It tells
// whether there is another outcome than the first one.
func (f *filePair) repeat(t *rapid.T, s step, want []byte) (v verdict, different bool) {
	if _, ok := s.(write); !ok {
		return undecided, false
	}
	first := read(t, f.theirs.file())
	f.theirs.close()
	for range tries {
		if err := os.WriteFile(f.theirs.file(), f.before, 0o600); err != nil {
			t.Fatal(err)
		}
		f.theirs.reopen(f.theirs.opts)
		s.play(f.theirs)
		f.theirs.close()
		file := read(t, f.theirs.file())
		if sameButLength(want, file) {
			return repeated, true
		}
		different = different || !sameButLength(first, file)
	}
	return undecided, different
}

// restart opens both engines on the same file.
func (f *filePair) restart(t *rapid.T, file []byte) {
	f.ours.close()
	if err := os.WriteFile(f.theirs.file(), file, 0o600); err != nil {
		t.Fatal(err)
	}
	f.ours.reopen(f.ours.opts)
	f.theirs.reopen(f.theirs.opts)
}

// sameButLength compares files that may have been extended differently, since
// a file is extended to the length of a mapping that depends on the past.
func sameButLength(a, b []byte) bool {
	n := min(len(a), len(b))
	rest := append(a[n:len(a):len(a)], b[n:]...)
	return bytes.Equal(a[:n], b[:n]) && len(bytes.Trim(rest, "\x00")) == 0
}

func read(t *rapid.T, name string) []byte {
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// difference shows the first page in which two files differ.
func difference(ours, theirs []byte, pageSize int) string {
	if len(ours) != len(theirs) {
		return fmt.Sprintf("length %d, want %d", len(ours), len(theirs))
	}
	for at := 0; at < len(ours); at += pageSize {
		a, b := ours[at:at+pageSize], theirs[at:at+pageSize]
		if at >= 2*pageSize && !bytes.Equal(a, b) { // the metas differ whenever anything does
			return fmt.Sprintf("page %d\nours:\n%s\nbbolt's:\n%s", at/pageSize, hex.Dump(a[:256]), hex.Dump(b[:256]))
		}
	}
	return "no difference"
}
