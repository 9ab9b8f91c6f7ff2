// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package blobtest has the tests that every place where binaries can be kept has to pass: every [blob.Store].
package blobtest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/holtdb/holt/content/blob"
)

// Fresh makes a new, empty store with a clock.
type Fresh func(t *testing.T, now func() time.Time) blob.Store

// TestStore runs the suite.
func TestStore(t *testing.T, fresh Fresh) {
	for name, test := range map[string]func(f *fixture){
		"Write":       testWrite,
		"Again":       testAgain,
		"BrokenOff":   testBrokenOff,
		"Concurrent":  testConcurrent,
		"Delete":      testDelete,
		"Collect":     testCollect,
		"DryRun":      testDryRun,
		"Abandoned":   testAbandoned,
		"Missing":     testMissing,
		"ForeignID":   testForeignID,
		"Interrupted": testInterrupted,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{T: t, now: time.Unix(1_000_000, 0)}
			f.Store = fresh(t, func() time.Time { return f.now })
			test(f)
		})
	}
	t.Run("Race", func(t *testing.T) { testRace(t, fresh(t, time.Now)) })
}

// fixture is a test with its store and its clock.
type fixture struct {
	*testing.T
	blob.Store
	now time.Time
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// some is bytes of which those of different kinds are different.
func some(kind byte, n int) []byte {
	b := bytes.Repeat([]byte("0123456 "), n/8+1)[:n]
	if n > 0 {
		b[n/2] = kind
	}
	return b
}

const large = 20_000 // not in an id

func (f *fixture) write(b []byte) string {
	f.Helper()
	id, err := f.Write(bytes.NewReader(b))
	f.must(err)
	return id
}

func (f *fixture) want(id string, want []byte) {
	f.Helper()
	if err := read(f.Store, id, want); err != nil {
		f.Error(err)
	}
}

// read demands that a binary is what it should be.
func read(s blob.Store, id string, want []byte) error {
	r, err := s.Open(id)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err == nil && !bytes.Equal(b, want) {
		err = fmt.Errorf("%.70s: %d bytes that are not the %d that were written", id, len(b), len(want))
	}
	return err
}

func (f *fixture) wantNone(id string) {
	f.Helper()
	_, err := f.Open(id)
	if _, ok := errors.AsType[*blob.NotFoundError](err); !ok {
		f.Errorf("%.70s: error %v, want one of a binary that is not there", id, err)
	}
}

// wantAll demands that these ids are listed, and no others.
func (f *fixture) wantAll(ids ...string) {
	f.Helper()
	var got, keys []string
	for e, err := range f.All() {
		f.must(err)
		got, keys = append(got, e.ID), append(keys, e.Key)
		if key, err := f.Key(e.ID); err != nil || key != e.Key || !strings.HasPrefix(e.ID, key) {
			f.Errorf("key %q of %q, %v; listed as %q", key, e.ID, err, e.Key)
		}
	}
	if !slices.IsSorted(keys) {
		f.Errorf("listed in the order %q", keys)
	}
	want := slices.Sorted(slices.Values(ids))
	slices.Sort(got)
	if !slices.Equal(got, want) {
		f.Errorf("listed: %q, want %q", got, want)
	}
}

func testWrite(f *fixture) {
	f.wantAll()
	ids := map[string][]byte{}
	var kept []string
	for i, n := range []int{0, 1, 2, 4095, 4096, 4097, 16511, 16512, 262144, 1<<20 + 1} {
		b := some(byte(i), n)
		r := io.Reader(bytes.NewReader(b))
		if n < large {
			r = iotest.OneByteReader(r)
		}
		id, err := f.Write(r)
		f.must(err)
		if ids[id] != nil {
			f.Errorf("%d bytes: an id that was there", n)
		}
		ids[id] = b
		sum, length, ok := f.Digest(id)
		if !ok || length != int64(n) || sum != sha256.Sum256(b) {
			f.Errorf("%d bytes: digest %x, %d, %t", n, sum, length, ok)
		}
		key, err := f.Key(id)
		f.must(err)
		if key != "" {
			kept = append(kept, id)
		}
	}
	for id, want := range ids {
		f.want(id, want)
	}
	f.wantAll(kept...)
	for e, err := range f.All() {
		f.must(err)
		if e.Size != int64(len(ids[e.ID])) || !e.Modified.Equal(f.now) {
			f.Errorf("%s: %d bytes of %v", e.ID, e.Size, e.Modified)
		}
		break // which must not end in a panic
	}
	f.wantNone(strings.Repeat("ab", 32) + "#1")
}

func testAgain(f *fixture) {
	id := f.write(some('a', large))
	f.now = f.now.Add(time.Hour)
	if again := f.write(some('a', large)); again != id {
		f.Errorf("id %s, and then %s", id, again)
	}
	f.wantAll(id)
	f.want(id, some('a', large))
	for e, err := range f.All() {
		f.must(err)
		if !e.Modified.Equal(f.now) {
			f.Errorf("written at %v, listed as of %v", f.now, e.Modified)
		}
	}
}

func testBrokenOff(f *fixture) {
	for _, n := range []int{0, 100, large} {
		for _, want := range []error{errors.New("broken off"), io.ErrUnexpectedEOF} {
			_, err := f.Write(io.MultiReader(bytes.NewReader(some('a', n)), iotest.ErrReader(want)))
			if !errors.Is(err, want) {
				f.Errorf("%d bytes: error %v, want %v", n, err, want)
			}
		}
	}
	f.wantAll()
	if left, err := f.Clean(f.now.Add(time.Hour), false); err != nil || left != (blob.Tally{}) {
		f.Errorf("left behind: %+v, %v", left, err)
	}
}

func testConcurrent(f *fixture) {
	var wg sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		wg.Go(func() {
			id, err := f.Write(bytes.NewReader(some(byte(i%2), large)))
			if err == nil {
				err = read(f.Store, id, some(byte(i%2), large))
			}
			if err != nil {
				f.Error(err)
			}
			ids[i] = id
		})
	}
	wg.Wait()
	slices.Sort(ids)
	f.wantAll(slices.Compact(slices.Clone(ids))...)
	if ids[0] != ids[3] || ids[4] != ids[7] || ids[0] == ids[4] {
		f.Errorf("ids %q", ids)
	}
}

func testDelete(f *fixture) {
	id := f.write(some('a', large))
	other := f.write(some('b', large))
	try := func(id string, before time.Time, want bool) {
		f.Helper()
		if got, err := f.Delete(id, before); err != nil || got != want {
			f.Errorf("deleting %.20s: %t, %v", id, got, err)
		}
	}
	try(id, f.now, false)
	f.want(id, some('a', large))
	f.now = f.now.Add(time.Hour)
	f.write(some('a', large)) // again: young
	try(id, f.now, false)
	f.want(id, some('a', large))
	try(id, f.now.Add(time.Second), true)
	f.wantNone(id)
	f.wantAll(other)
	try(id, f.now.Add(time.Second), false)
	try(strings.Repeat("ab", 32), f.now.Add(time.Second), false)
	try(f.write([]byte("x")), f.now.Add(time.Second), false)
	f.write(some('a', large))
	f.want(id, some('a', large))
	if _, err := f.Delete("../x", f.now); !errors.Is(err, blob.ErrID) {
		f.Errorf("error %v", err)
	}
}

// family is binaries: two that are old, of which the first is in use, and the same of young ones.
func (f *fixture) family() (ids [4]string) {
	ids[0], ids[1] = f.write(some(0, large)), f.write(some(1, large+1))
	f.now = f.now.Add(10 * time.Hour)
	ids[2], ids[3] = f.write(some(2, large+2)), f.write(some(3, large+3))
	f.now = f.now.Add(time.Hour)
	return ids
}

func (f *fixture) collect(o blob.CollectOptions, used ...string) (blob.CollectReport, error) {
	o.Now = func() time.Time { return f.now }
	return blob.Collect(f.Context(), f.Store, all(used), o)
}

func all(ids []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, id := range ids {
			if !yield(id, nil) {
				return
			}
		}
	}
}

func (f *fixture) wantReport(got, want blob.CollectReport, err error) {
	f.Helper()
	if err != nil || got != want {
		f.Errorf("report %+v, %v; want %+v", got, err, want)
	}
}

func testCollect(f *fixture) {
	ids := f.family()
	tiny := f.write([]byte("x"))
	var deleted []string
	note := func(e blob.Entry) error { deleted = append(deleted, e.ID); return nil }
	bare, _, _ := strings.Cut(ids[2], "#") // an id whose length is not known names the same
	used := []string{ids[2], tiny, ids[0], bare, ids[0]}

	report, err := f.collect(blob.CollectOptions{Grace: 11 * time.Hour, Deleted: note}, used...) // none is older
	f.wantReport(report, blob.CollectReport{
		Used: 2, Found: blob.Tally{Count: 4, Bytes: 4*large + 6}, Young: blob.Tally{Count: 2, Bytes: 2*large + 4},
	}, err)
	f.wantAll(ids[:]...)

	report, err = f.collect(blob.CollectOptions{Grace: 11*time.Hour - 1, Deleted: note}, used...)
	f.wantReport(report, blob.CollectReport{
		Used: 2, Found: blob.Tally{Count: 4, Bytes: 4*large + 6}, Young: blob.Tally{Count: 1, Bytes: large + 3},
		Deleted: blob.Tally{Count: 1, Bytes: large + 1},
	}, err)
	f.wantAll(ids[0], ids[2], ids[3])
	f.wantNone(ids[1])

	report, err = f.collect(blob.CollectOptions{Deleted: note}, used...)
	f.wantReport(report, blob.CollectReport{
		Used: 2, Found: blob.Tally{Count: 3, Bytes: 3*large + 5}, Deleted: blob.Tally{Count: 1, Bytes: large + 3},
	}, err)
	f.wantAll(ids[0], ids[2])
	if want := []string{ids[1], ids[3]}; !slices.Equal(deleted, want) {
		f.Errorf("deleted %q, want %q", deleted, want)
	}
	f.want(ids[0], some(0, large))
	f.want(ids[2], some(2, large+2))
}

func testDryRun(f *fixture) {
	ids := f.family()
	n := 0
	count := func(blob.Entry) error { n++; return nil }
	report, err := f.collect(blob.CollectOptions{Grace: 2 * time.Hour, DryRun: true, Deleted: count}, ids[0])
	f.wantReport(report, blob.CollectReport{
		Used: 1, Found: blob.Tally{Count: 4, Bytes: 4*large + 6}, Young: blob.Tally{Count: 2, Bytes: 2*large + 5},
		Deleted: blob.Tally{Count: 1, Bytes: large + 1},
	}, err)
	f.wantAll(ids[:]...)
	if n != 1 {
		f.Errorf("told of %d", n)
	}
}

func testAbandoned(f *fixture) {
	n := -len(f.family())
	want := errors.New("enough")
	_, err := f.collect(blob.CollectOptions{Deleted: func(blob.Entry) error { return want }})
	if !errors.Is(err, want) {
		f.Errorf("error %v", err)
	}
	for _, err := range f.All() {
		f.must(err)
		n++
	}
	if n != -1 {
		f.Errorf("%d binaries more than before", n)
	}
}

func testMissing(f *fixture) {
	gone := []string{strings.Repeat("ab", 32) + "#1", strings.Repeat("cd", 32)}
	var missing []string
	note := func(id string) error { missing = append(missing, id); return nil }
	report, err := f.collect(blob.CollectOptions{Missing: note}, gone...)
	f.wantReport(report, blob.CollectReport{Used: 2, Missing: 2}, err)
	if !slices.Equal(missing, gone) {
		f.Errorf("missing %q, want %q", missing, gone)
	}
	want := errors.New("enough")
	_, err = f.collect(blob.CollectOptions{Missing: func(string) error { return want }}, gone...)
	if !errors.Is(err, want) {
		f.Errorf("error %v", err)
	}
}

func testForeignID(f *fixture) {
	ids := f.family()
	_, err := f.collect(blob.CollectOptions{}, ids[0], "of another store")
	if !errors.Is(err, blob.ErrID) {
		f.Errorf("error %v", err)
	}
	f.wantAll(ids[:]...)
}

// testInterrupted has the mark fail, behind some ids.
func testInterrupted(f *fixture) {
	ids := f.family()
	want := errors.New("unreadable")
	used := func(yield func(string, error) bool) {
		if yield(ids[0], nil) {
			yield("", want)
		}
	}
	report, err := blob.Collect(f.Context(), f.Store, used, blob.CollectOptions{})
	if !errors.Is(err, want) || report != (blob.CollectReport{}) {
		f.Errorf("report %+v, %v", report, err)
	}
	f.wantAll(ids[:]...)
}

// register is the ids in use of the writers in testRace, as the archives of a content store are: who has written a
// binary notes it before anybody can look.
type register struct {
	mu  sync.RWMutex // held for reading from Write until the id is noted
	own sync.Mutex
	ids map[string][]byte // guarded by own
}

func (g *register) used(yield func(string, error) bool) {
	g.mu.Lock()
	ids := []string{}
	for id := range g.ids {
		ids = append(ids, id)
	}
	g.mu.Unlock()
	for _, id := range ids {
		if !yield(id, nil) {
			return
		}
	}
}

// testRace has writers write few binaries again and again, and forget them, while they are collected without grace.
func testRace(t *testing.T, s blob.Store) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := &register{ids: map[string][]byte{}}
	var writers, collector sync.WaitGroup
	for i := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, i))
		writers.Go(func() {
			for range 100 {
				if err := g.writeOrForget(s, r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	deleted := int64(0)
	collector.Go(func() {
		for {
			report, err := blob.Collect(t.Context(), s, g.used, blob.CollectOptions{})
			if err != nil || report.Missing != 0 || report.Cleaned.Count != 0 {
				t.Errorf("%+v, %v", report, err)
				return
			}
			deleted += report.Deleted.Count
			select {
			case <-done:
				return
			default:
			}
		}
	})
	writers.Wait()
	close(done)
	collector.Wait()
	for id, want := range g.ids {
		if err := read(s, id, want); err != nil {
			t.Errorf("in use: %v", err)
		}
	}
	t.Logf("%d are in use, %d were deleted", len(g.ids), deleted)
	if deleted == 0 {
		t.Error("nothing was deleted")
	}
}

func (g *register) writeOrForget(s blob.Store, r *rand.Rand) error {
	b := some(byte(r.IntN(6)), large)
	g.mu.RLock()
	defer g.mu.RUnlock()
	id, err := s.Write(bytes.NewReader(b))
	if err != nil {
		return err
	}
	if err := read(s, id, b); err != nil {
		return err // nobody can have collected it yet
	}
	g.own.Lock()
	defer g.own.Unlock()
	if r.IntN(2) == 0 {
		delete(g.ids, id)
		return nil
	}
	g.ids[id] = b
	return nil
}
