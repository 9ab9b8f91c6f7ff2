// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
	"github.com/holtdb/holt/internal/file"
)

// story is what a workload did: the heads it set, and what must be there with each.
type story struct {
	started []segment.RecordID // SetHead was called
	done    int                // and returned, for so many of them
	with    map[segment.RecordID][]*segment.Segment
}

// run opens the store, goes on from the head that it has, and closes it. Archives hold a few segments each.
func (st *story) run(t testing.TB, fsys file.FS, seed byte) error {
	d, err := archive.Open("store", &archive.Options{FS: fsys, Limit: 8 << 10})
	if err != nil {
		return err
	}
	if _, ok := d.Head(); !ok {
		if err := st.begin(t, d); err != nil {
			return errors.Join(err, d.Close())
		}
	}
	for i := range 4 {
		head, _ := d.Head()
		all := st.with[head]
		bulk := storetest.Bulk(t, 600+100*i)
		s := storetest.Sample{
			References: []segment.ID{bulk.ID()}, Blobs: []string{fmt.Sprint(seed, i)}, Fill: 300 * i,
		}.Segment(t)
		later := storetest.Sample{Writer: "sys.0001"}.Segment(t) // may be lost
		all = append(slices.Clip(all), bulk, s)
		id := storetest.Root(s)
		if err := errors.Join(d.Append(bulk), d.Append(s)); err != nil {
			return errors.Join(err, d.Close())
		}
		st.started = append(st.started, id)
		st.with[id] = all
		if err := d.SetHead(head, archive.Revision{ID: id}); err != nil {
			return errors.Join(err, d.Close())
		}
		st.done = len(st.started)
		if err := d.Append(later); err != nil {
			return errors.Join(err, d.Close())
		}
	}
	return d.Close()
}

// begin gives the store its first head, as every new one gets.
func (st *story) begin(t testing.TB, d *archive.Dir) error {
	s := storetest.Sample{Writer: "init"}.Segment(t)
	id := storetest.Root(s)
	if err := d.Append(s); err != nil {
		return err
	}
	st.started = append(st.started, id)
	st.with[id] = []*segment.Segment{s}
	if err := d.SetHead(segment.RecordID{}, archive.Revision{ID: id}); err != nil {
		return err
	}
	st.done = len(st.started)
	return nil
}

// verify opens the store after a cut, and demands the last head that was set, or a later one that was being set, with all
// that belongs to it.
func (st *story) verify(t *testing.T, fsys *file.Crash, readOnly bool, what string) {
	t.Helper()
	d, err := archive.Open("store", &archive.Options{FS: fsys, ReadOnly: readOnly})
	if err != nil {
		if readOnly && st.done == 0 {
			return // there is nothing to be read yet
		}
		t.Fatalf("%s: %v; files: %s", what, err, names(t, fsys))
	}
	head, ok := d.Head()
	at := -1
	for i, id := range st.started {
		if id == head {
			at = i
		}
	}
	if at < st.done-1 || ok && at < 0 {
		t.Fatalf("%s: head %v, which is number %d; %d were set", what, head, at, st.done)
	}
	for _, s := range st.with[head] {
		if b, ok := d.Segment(s.ID()); !ok || !bytes.Equal(b, s.Bytes()) {
			t.Fatalf("%s: segment %s is not there; files: %s", what, s.ID(), names(t, fsys))
		}
	}
	for _, a := range d.Archives() {
		r := a.(*archive.Reader)
		if r.Scanned() != readOnly && !readOnly {
			t.Fatalf("%s: %s has no index", what, r.Name())
		}
		if err := check(r); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	must(t, d.Close())
}

func (st *story) clone() *story {
	c := *st
	c.with = maps.Clone(st.with)
	return &c
}

// TestPowerCut cuts the power at every call that changes something: while the store is made, written to, rolled over,
// closed, and recovered. After that the store is opened for reading and for writing.
func TestPowerCut(t *testing.T) {
	for _, sector := range []int{512, 1} {
		for name, prepare := range map[string]func(t *testing.T, fsys *file.Crash, st *story){
			"new":    func(*testing.T, *file.Crash, *story) {},
			"closed": func(t *testing.T, fsys *file.Crash, st *story) { must(t, st.run(t, fsys, 1)) },
			"crashed": func(t *testing.T, fsys *file.Crash, st *story) {
				must(t, st.run(t, fsys, 1))
				fsys.CutAt(13)
				wantErr(t, st.run(t, fsys, 2), file.ErrPowerCut)
			},
		} {
			t.Run(fmt.Sprintf("%s/%d", name, sector), func(t *testing.T) {
				base := file.NewCrash()
				base.SetSector(sector)
				before := &story{with: map[segment.RecordID][]*segment.Segment{}}
				prepare(t, base, before)
				cutEverywhere(t, base, before)
			})
		}
	}
}

func cutEverywhere(t *testing.T, base *file.Crash, before *story) {
	for k := 1; ; k++ {
		fsys, st := base.AfterCut(uint64(k)), before.clone()
		fsys.CutAt(k)
		err := st.run(t, fsys, 3)
		if err == nil {
			if k < 20 {
				t.Errorf("a workload of %d calls", k)
			}
			return
		}
		wantErr(t, err, file.ErrPowerCut)
		seeds := uint64(2)
		if long() {
			seeds = 20
		}
		for seed := range seeds {
			seed += uint64(k)
			after := fsys.AfterCut(seed)
			what := fmt.Sprintf("cut at %d, seed %d", k, seed)
			st.verify(t, after.Clone(), true, what+", read-only")
			again := after.Clone()
			again.CutAt(1 + (k*7+int(seed)*5)%12) // in the recovery, mostly
			if err := st.clone().run(t, again, 4); err == nil {
				t.Errorf("%s: not cut again", what)
			}
			st.verifyEither(t, again.AfterCut(seed), what+", twice")
			st.verify(t, after, false, what)
		}
	}
}

// verifyEither is verify after another run, whose heads are not known: the head is at least as new as those known.
func (st *story) verifyEither(t *testing.T, fsys *file.Crash, what string) {
	t.Helper()
	d, err := archive.Open("store", &archive.Options{FS: fsys})
	if err != nil {
		t.Fatalf("%s: %v; files: %s", what, err, names(t, fsys))
	}
	head, _ := d.Head()
	if _, known := st.with[head]; known {
		must(t, d.Close())
		st.verify(t, fsys, false, what)
		return
	}
	if st.done > 0 {
		last := st.started[st.done-1]
		for _, s := range st.with[last] {
			if b, ok := d.Segment(s.ID()); !ok || !bytes.Equal(b, s.Bytes()) {
				t.Fatalf("%s: segment %s is not there", what, s.ID())
			}
		}
		if head == (segment.RecordID{}) {
			t.Fatalf("%s: no head", what)
		}
	}
	must(t, d.Close())
}

// TestPowerCutInRecovery cuts the power at every call of an opening that recovers archives, and lets one of the changes
// that were not synced survive, or all but one.
func TestPowerCutInRecovery(t *testing.T) {
	segments := some(t)
	broken := writeArchive(t, "data00000a.tar", segments...)
	disk := file.NewCrash()
	for name, b := range map[string][]byte{
		"data00000a.tar": broken[:len(broken)-1024], "data00000b.tar": broken[:2000], "manifest": []byte("store.version=1\n"),
		"journal.log": []byte(head(segments[1].ID())),
	} {
		f, err := disk.OpenFile("store/"+name, os.O_RDWR|os.O_CREATE, 0o600)
		must(t, err)
		_, err = f.WriteAt(b, 0)
		must(t, errors.Join(err, f.Sync(), f.Close()))
	}
	must(t, disk.SyncDir("store"))
	for k := 1; ; k++ {
		fsys := disk.Clone()
		fsys.CutAt(k)
		d, err := archive.Open("store", &archive.Options{FS: fsys})
		if err == nil {
			must(t, d.Close())
			if k < 15 {
				t.Errorf("a recovery of %d calls", k)
			}
			return
		}
		wantErr(t, err, file.ErrPowerCut)
		for i := range len(fsys.Unsynced()) {
			for _, keep := range []func(j int) bool{
				func(j int) bool { return j == i },
				func(j int) bool { return j != i },
			} {
				after := fsys.AfterCutKeeping(keep)
				what := fmt.Sprintf("cut at %d, of %q the fate of number %d is another", k, fsys.Unsynced(), i)
				for _, readOnly := range []bool{true, false} {
					d, err := archive.Open("store", &archive.Options{FS: after, ReadOnly: readOnly})
					if err != nil {
						t.Fatalf("%s: %v; files: %s", what, err, names(t, after))
					}
					wantSegments(t, d, segments...)
					if t.Failed() {
						t.Fatalf("%s; files: %s", what, names(t, after))
					}
					must(t, d.Close())
				}
			}
		}
	}
}

// TestFaults makes each call fail once. What was promised before is there afterwards.
func TestFaults(t *testing.T) {
	for k := 1; ; k++ {
		crash := file.NewCrash()
		st := &story{with: map[segment.RecordID][]*segment.Segment{}}
		must(t, st.run(t, crash, 1))
		crash.Cut()
		crash = crash.AfterCut(uint64(k))
		fsys := file.NewFault(crash)
		fsys.FailAt(k)
		err := st.run(t, fsys, 2)
		if len(fsys.Injected()) == 0 {
			must(t, err)
			if k < 50 {
				t.Errorf("a workload of %d calls", k)
			}
			return
		}
		fsys.FailIf(nil)
		st.verify(t, crash.AfterCut(uint64(k)), false, fmt.Sprintf("call %d failed", k))
		st.verify(t, crash, false, fmt.Sprintf("call %d failed, no cut", k))
	}
}
