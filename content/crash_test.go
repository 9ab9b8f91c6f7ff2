// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
	"github.com/holtdb/holt/internal/file"
)

// saga is what programs did to a store, one after the other.
type saga struct {
	opts    archive.Options
	writers int                // that take turns
	set     []planted          // the heads they set, or were about to
	done    int                // so many of them are older than, or are, the last one acknowledged as durable
	kept    []segment.RecordID // those acknowledged
}

// start is the content of all sagas: two hundred nodes.
func start() *tree {
	n := wide(6, 6)
	for _, seed := range []int{20, 43} {
		n.kids[fmt.Sprint("seed", seed)] = rapid.Custom(func(t *rapid.T) *tree { return drawTree(t, 2) }).Example(seed)
	}
	return n
}

// run opens the store, adds revisions to the head that it finds, and closes it.
func (s *saga) run(t testing.TB, fsys file.FS, seed int) error {
	t.Helper()
	opts := s.opts
	opts.FS = fsys
	files, err := archive.Open("store", &opts)
	if err != nil {
		return err
	}
	return errors.Join(s.author(t, files, seededIDs(uint64(seed)), seed), s.durable(files, files.Close))
}

// author is one program. Every store begins with an empty root, of a writer whose name says so.
func (s *saga) author(t testing.TB, files archive.Store, ids *segment.IDs, seed int) error {
	t.Helper()
	if s.head(files) < 0 {
		a, err := newAuthorOf(files, ids, 1)
		must(t, err)
		if err := s.commit(a, &tree{kids: map[string]*tree{"root": {}}}); err != nil {
			return err
		}
	}
	a, err := newAuthorOf(files, ids, s.writers)
	must(t, err)
	return s.write(t, a, seed)
}

// durable makes a call after which the head is durable, unless it fails.
func (s *saga) durable(files archive.Store, call func() error) error {
	at := s.head(files)
	err := call()
	if err == nil && at >= s.done {
		s.done = at + 1
		s.kept = append(s.kept, s.set[at].id)
	}
	return err
}

func (s *saga) write(t testing.TB, a *author, seed int) error {
	t.Helper()
	n, nodes := start(), 0
	if at := s.head(a.files); at > 0 { // behind the empty root
		super := s.set[at].tree
		root, err := a.store.Root(s.set[at].id)
		must(t, err)
		a.learn(t, super, root)
		n = super.kids["root"]
	}
	a.pause = func() error {
		if nodes++; nodes%40 > 0 {
			return nil
		}
		return errors.Join(a.writer.Flush(), a.files.Flush()) // of no head
	}
	for i := range 4 {
		n = rapid.Custom(n.drawChange).Example(10*seed + i)
		if err := s.commit(a, &tree{kids: map[string]*tree{"root": n}}); err != nil {
			return err
		}
		if i == 1 {
			if err := s.durable(a.files, a.files.Flush); err != nil {
				return err
			}
		}
	}
	return nil
}

// head says which of the heads the store has; -1 for none.
func (s *saga) head(files archive.Store) int {
	head, _ := files.Head()
	return slices.IndexFunc(s.set, func(p planted) bool { return p.id == head })
}

func (s *saga) commit(a *author, super *tree) error {
	id, err := a.write(super)
	if err == nil {
		err = a.writer.Flush()
	}
	if err != nil {
		return err
	}
	s.set = append(s.set, planted{id, super})
	old, _ := a.files.Head()
	err = a.files.SetHead(old, archive.Revision{ID: id, Time: time.UnixMilli(int64(len(s.set)))})
	if err == nil && s.opts.FlushEvery == 0 {
		err = s.durable(a.files, func() error { return nil })
	}
	return err
}

func (s *saga) clone() *saga {
	c := *s
	c.set, c.kept = slices.Clone(s.set), slices.Clone(s.kept)
	return &c
}

// verify opens the store after a cut. It demands a head that is not older than the last one acknowledged, with all that
// belongs to it, and that older revisions are whole too.
func (s *saga) verify(t *testing.T, fsys *file.Crash, readOnly bool, what string) {
	t.Helper()
	files, err := archive.Open("store", &archive.Options{FS: fsys, ReadOnly: readOnly})
	if err != nil {
		if readOnly && s.done == 0 {
			return // there is nothing to be read yet
		}
		t.Fatalf("%s: %v", what, err)
	}
	store := content.New(files, content.Options{Blobs: blobs{}})
	defer func() { must(t, store.Close()) }()
	head, ok := files.Head()
	at := s.head(files)
	if at < s.done-1 || ok && at < 0 {
		t.Fatalf("%s: head %v, which is number %d; %d were acknowledged", what, head, at, s.done)
	}
	if at < 0 {
		return
	}
	s.set[at].tree.compare(t, store, head, 0)
	findings, report := check(t, store, content.CheckOptions{All: true, Binaries: true, Archives: true})
	if len(findings) > 0 || report.Whole != report.Revisions {
		t.Fatalf("%s: %q, %+v", what, findings, report)
	}
	journal := map[segment.RecordID]bool{}
	for r, err := range store.Journal() {
		must(t, err)
		journal[r.ID] = true
	}
	for _, id := range s.kept {
		if !journal[id] {
			t.Fatalf("%s: revision %s is not in the journal", what, id)
		}
	}
	if t.Failed() {
		t.Fatal(what)
	}
}

// TestPowerCut cuts the power at every write, sync and other change while a store is made, written to, rolled over,
// closed, and recovered: by programs that wait for each head, and by one that has heads flushed later; with one writer, and
// with two whose open segments refer to each other.
func TestPowerCut(t *testing.T) {
	for _, start := range []saga{
		{opts: archive.Options{Limit: 8 << 10}, writers: 1},
		{opts: archive.Options{Limit: 8 << 10}, writers: 2},
		{opts: archive.Options{Limit: 8 << 10, FlushEvery: time.Hour}, writers: 1},
		{opts: archive.Options{Limit: 8 << 10, FlushEvery: time.Hour}, writers: 2},
	} {
		for name, before := range map[string]func(t *testing.T, fsys *file.Crash, s *saga){
			"new": func(*testing.T, *file.Crash, *saga) {},
			"closed": func(t *testing.T, fsys *file.Crash, s *saga) {
				must(t, s.run(t, fsys, 1))
				s.wantMutual(t, fsys)
				names, err := fsys.ReadDir("store")
				if err != nil || !slices.Contains(names, "data00002a.tar") {
					t.Errorf("few archives: %q, %v", names, err)
				}
			},
			"crashed": func(t *testing.T, fsys *file.Crash, s *saga) {
				must(t, s.run(t, fsys, 1))
				fsys.CutAt(16)
				if err := s.run(t, fsys, 2); !errors.Is(err, file.ErrPowerCut) {
					t.Fatal(err)
				}
			},
		} {
			t.Run(fmt.Sprintf("%s/%s/%d", name, start.opts.FlushEvery, start.writers), func(t *testing.T) {
				base, s := file.NewCrash(), start.clone()
				before(t, base, s)
				cutEverywhere(t, base, s)
			})
		}
	}
}

// wantMutual demands segments that refer to each other if there are several writers.
func (s *saga) wantMutual(t *testing.T, fsys file.FS) {
	t.Helper()
	files, err := archive.Open("store", &archive.Options{FS: fsys, ReadOnly: true})
	must(t, err)
	pairs := 0
	for _, a := range files.Archives() {
		n, err := storetest.Mutual(a)
		must(t, err)
		pairs += n
	}
	must(t, files.Close())
	if (pairs > 0) != (s.writers > 1) {
		t.Errorf("%d pairs of segments refer to each other; %d writers", pairs, s.writers)
	}
}

func cutEverywhere(t *testing.T, base *file.Crash, before *saga) {
	t.Helper()
	seeds := 1
	if long() {
		seeds = 10
	}
	for k := 1; ; k++ {
		disk, s := base.AfterCut(uint64(k)), before.clone()
		disk.CutAt(k)
		err := s.run(t, disk, 3)
		if err == nil {
			t.Logf("a workload of %d calls", k)
			if k < 25 {
				t.Errorf("a workload of %d calls only", k)
			}
			return
		}
		if !errors.Is(err, file.ErrPowerCut) {
			t.Fatal(err)
		}
		for seed := range seeds {
			after := disk.AfterCut(uint64(k + seed))
			what := fmt.Sprintf("cut at %d, seed %d", k, k+seed)
			s.verify(t, after.Clone(), true, what+", read-only")
			s.cutAgain(t, after.Clone(), 1+(k*7+seed*5)%19, what)
			s.verify(t, after, false, what)
		}
	}
}

// cutAgain cuts the power in the recovery, or what follows.
func (s *saga) cutAgain(t *testing.T, disk *file.Crash, k int, what string) {
	t.Helper()
	again := s.clone()
	disk.CutAt(k)
	if err := again.run(t, disk, 4); err != nil && !errors.Is(err, file.ErrPowerCut) { // nil if it was over by then
		t.Fatalf("%s: %v", what, err)
	}
	disk = disk.AfterCut(uint64(k))
	what = fmt.Sprintf("%s, and again at %d", what, k)
	again.verify(t, disk.Clone(), true, what+", read-only")
	must(t, again.run(t, disk, 5))
	again.verify(t, disk, false, what)
}
