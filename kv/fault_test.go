// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// faultOptions are the options under which calls fail.
var faultOptions = []struct {
	name string
	kv.Options
}{
	{"default", kv.Options{PageSize: 1024}},
	{"single sync", kv.Options{PageSize: 1024, SingleSync: true}},
	{"freelist with each commit", kv.Options{PageSize: 1024, SyncFreelist: true}},
	{"bolt, no freelist", kv.Options{PageSize: 1024, BoltPlacement: true, NoFreelistSync: true}},
	{"no grow sync, locked in memory", kv.Options{PageSize: 1024, NoGrowSync: true, Mlock: true}},
	{"no sync", kv.Options{PageSize: 1024, NoSync: true}},
	{"written early", kv.WriteEarly(kv.Options{PageSize: 1024}, 5000)},
}

// faultRules are the ways in which calls fail, by the number of the first.
var faultRules = []struct {
	name string
	set  func(f *file.Fault, k int)
}{
	{"once", func(f *file.Fault, k int) { f.FailAt(k) }},
	{"once, half a write", func(f *file.Fault, k int) { f.FailAt(k); f.ShortWrites(700) }},
	{"from then on", func(f *file.Fault, k int) { f.FailFrom(k) }},
	{"all but reads", func(f *file.Fault, k int) {
		f.FailIf(func(op file.Op) error {
			if op.N >= k && op.Kind != file.OpRead && op.Kind != file.OpStat {
				return file.ErrInjected
			}
			return nil
		})
	}},
	{"twice", func(f *file.Fault, k int) {
		f.FailIf(func(op file.Op) error {
			if op.N == k || op.N == k+1 {
				return file.ErrInjected
			}
			return nil
		})
	}},
}

// TestFaults makes every call of a session on a database fail, and demands that the error is returned, that the
// database goes on with what it has acknowledged or refuses to, and that the file is sound.
func TestFaults(t *testing.T) {
	step := 1
	if brief() {
		step = 4
	}
	for i, o := range faultOptions {
		for j, rule := range faultRules {
			if i > 0 && j%2 == 1 && !long() {
				continue
			}
			t.Run(o.name+"/"+rule.name, func(t *testing.T) {
				t.Parallel()
				for k := 1; ; k += step {
					s := newFaultSession(t, o.Options)
					rule.set(s.fault, k)
					s.run()
					if len(s.fault.Injected()) == 0 {
						if k < 30 {
							t.Fatalf("a session makes only %d calls", k-1)
						}
						return
					}
					s.finish()
					if t.Failed() {
						t.Fatalf("calls that failed: %v", s.fault.Injected())
					}
				}
			})
		}
	}
}

// faultSession uses a database on a file system that fails.
type faultSession struct {
	*testing.T
	options kv.Options
	disk    *file.Crash
	ledger  *ledger
	fault   *file.Fault
	db      *kv.DB
	sound   []string // what the database may hold: what was acknowledged last, and then what may have been committed
	refused bool     // it takes no more writes
}

// newFaultSession makes a database that is about to outgrow its file and its mapping.
func newFaultSession(t *testing.T, o kv.Options) *faultSession {
	s := &faultSession{T: t, options: o, disk: file.NewCrash()}
	db := mustOpenSim(t, s.disk, o)
	w := &world{db: db}
	must(t, puts(0, 20, 1, 700)(w))
	must(t, puts(5, 10, 1, 10)(w))
	text, err := soundContent(db)
	must(t, err)
	s.sound = []string{text}
	must(t, db.Sync())
	must(t, db.Close())
	s.ledger = &ledger{FS: s.disk}
	s.fault = file.NewFault(s.ledger)
	return s
}

// run is the session: everything that makes calls.
func (s *faultSession) run() {
	var err error
	if s.db, err = openSim(s.fault, s.options); err != nil {
		s.failed("open", err)
		if s.ledger.files != 0 || s.ledger.mappings != 0 && !s.unmapFailed() {
			s.Errorf("failed to open, but %d files and %d mappings are open", s.ledger.files, s.ledger.mappings)
		}
		return
	}
	s.commit(puts(10, 12, 1, 20))
	reader, err := s.db.Begin(false)
	must(s, err)
	before := contentOf(reader)
	s.commit(puts(30, 60, 1, 900)) // outgrows the file and the mapping
	s.commit(deletes(0, 20, 3))
	s.commit(puts(60, 62, 1, 4000))
	if text := contentOf(reader); text != before {
		s.Error("a reader no longer sees its snapshot:", firstDifference(text, before))
	}
	must(s, reader.Rollback())
	s.commit(puts(100, 140, 1, 1000))
	s.backUp()
	if err := s.db.Sync(); err != nil {
		s.failed("sync", err)
	}
	s.commit(deletes(30, 50, 1))
	if err := s.db.Close(); err != nil {
		s.failed("close", err)
	}
	s.db = nil
}

// commit runs a step, which may fail if a call did or if the database takes no more writes, and compares what a reader
// sees then.
func (s *faultSession) commit(step step) {
	injected := len(s.fault.Injected())
	tried, err := s.tryCommit(step)
	if err == nil {
		if s.refused {
			s.Fatal("the database has refused a write, and now takes one")
		}
		s.sound = []string{tried}
	} else {
		s.failed("commit", err)
		if len(s.fault.Injected()) == injected { // nothing failed this time
			s.refused = true
			if injected == 1 {
				s.Error("the database takes no more writes after a single call has failed")
			}
		}
		if tried != "" {
			s.sound = append(s.sound, tried)
		}
	}
	text, err := soundContent(s.db)
	if err != nil {
		s.Error("view:", err)
	}
	if text != s.sound[0] {
		s.Error("content:", firstDifference(text, s.sound[0]))
	}
}

// tryCommit returns what the database will hold if the step is committed, and nothing if it cannot even begin.
func (s *faultSession) tryCommit(step step) (text string, err error) {
	err = s.db.Update(func(tx *kv.Tx) error {
		err := runIn(tx, step)
		text = contentOf(tx)
		return err
	})
	return text, err
}

// failed demands that an error is that of a call that failed, as far as the caller can see.
func (s *faultSession) failed(what string, err error) {
	if !errors.Is(err, file.ErrInjected) {
		s.Errorf("%s: %v", what, err)
	}
}

func (s *faultSession) unmapFailed() bool {
	return slices.ContainsFunc(s.fault.Injected(), func(op file.Op) bool { return op.Kind == file.OpUnmap })
}

// backUp copies the database, and demands that the copy is whole or that there is an error.
func (s *faultSession) backUp() {
	var out bytes.Buffer
	err := s.db.View(func(tx *kv.Tx) error {
		_, err := tx.WriteTo(&out)
		return err
	})
	if err != nil {
		s.failed("backup", err)
		return
	}
	db := mustOpenSim(s, memoryWith(s, out.Bytes()), s.options)
	text, err := soundContent(db)
	must(s, err)
	if text != s.sound[0] {
		s.Error("backup:", firstDifference(text, s.sound[0]))
	}
	must(s, db.Close())
}

// finish lets calls succeed again, and demands that the database on disk is sound, also after a power cut now.
func (s *faultSession) finish() {
	for _, left := range []*file.Crash{
		s.disk.AfterCutKeeping(file.KeepAll), s.disk.AfterCutKeeping(file.KeepNone), s.disk.AfterCut(1), s.disk.AfterCut(2),
	} {
		if !s.options.NoSync {
			s.expectSound("after a power cut", left)
		}
	}
	if s.ledger.files != 0 || s.ledger.mappings != 0 && !s.unmapFailed() {
		s.Errorf("after the end, %d files and %d mappings are open", s.ledger.files, s.ledger.mappings)
	}
	s.expectSound("in the end", s.disk)
}

// expectSound opens the database on a disk and compares what it holds with what it may hold.
func (s *faultSession) expectSound(when string, disk file.FS) {
	db, err := openSim(disk, s.options)
	if err != nil {
		s.Errorf("%s: open: %v", when, err)
		return
	}
	text, err := soundContent(db)
	if err != nil {
		s.Errorf("%s: %v", when, err)
	}
	allowed := s.sound[:1]
	if s.refused || s.endedInDoubt() {
		allowed = s.sound
	}
	if !slices.Contains(allowed, text) {
		s.Errorf("%s: content: %s", when, firstDifference(text, s.sound[0]))
	}
	if err := useRecovered(db); err != nil {
		s.Errorf("%s: %v", when, err)
	}
	must(s, db.Close())
}

// endedInDoubt says whether the call that put the old meta page back may have failed too, after which the database
// would refuse writes: then the commit that failed may be found.
func (s *faultSession) endedInDoubt() bool { return len(s.fault.Injected()) > 1 }

// runIn runs a step, which is one that updates, in an open transaction.
func runIn(tx *kv.Tx, s step) error {
	return s(&world{tx: tx})
}

// ledger counts what is open.
type ledger struct {
	file.FS
	files, mappings int
}

func (l *ledger) OpenFile(name string, flag int, perm fs.FileMode) (file.File, error) {
	f, err := l.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	l.files++
	return ledgerFile{f, l}, nil
}

type ledgerFile struct {
	file.File
	ledger *ledger
}

func (f ledgerFile) Close() error {
	f.ledger.files--
	return f.File.Close()
}

func (f ledgerFile) Map(length int, o file.MapOptions) (file.Mapping, error) {
	m, err := f.File.Map(length, o)
	if err != nil {
		return nil, err
	}
	f.ledger.mappings++
	return ledgerMapping{m, f.ledger}, nil
}

type ledgerMapping struct {
	file.Mapping
	ledger *ledger
}

func (m ledgerMapping) Unmap() error {
	m.ledger.mappings--
	return m.Mapping.Unmap()
}

// TestFaultAtCreate makes every call fail while a new database is made: an error, and after it the next Open succeeds.
func TestFaultAtCreate(t *testing.T) {
	for _, rule := range faultRules {
		t.Run(rule.name, func(t *testing.T) {
			for k := 1; ; k++ {
				disk := file.NewCrash()
				fault := file.NewFault(disk)
				rule.set(fault, k)
				db, err := openSim(fault, kv.Options{PageSize: 1024})
				failed := len(fault.Injected()) > 0
				if failed != (err != nil) {
					t.Fatalf("open: %v, after calls failed: %v", err, fault.Injected())
				}
				if !failed {
					fault.FailIf(nil)
					must(t, db.Close())
					return
				}
				for _, left := range []file.FS{disk.AfterCut(uint64(k)), disk} {
					db := mustOpenSim(t, left, kv.Options{PageSize: 1024})
					must(t, useRecovered(db))
					must(t, db.Close())
				}
			}
		})
	}
}

// TestFaultAtMeta fails what writes the meta page and makes it durable, one commit after the other, and cuts the power
// after each: a commit that failed must not come back, unless the database takes no more writes.
func TestFaultAtMeta(t *testing.T) {
	const pageSize = 1024
	for _, test := range []struct {
		kind    file.OpKind
		written int // bytes of the page that are written, and durable, all the same
		single  bool
	}{
		{file.OpThrough, 0, false},
		{file.OpThrough, 512, false},
		{file.OpThrough, pageSize, false},
		{file.OpWrite, 0, true},
		{file.OpSyncData, 0, true},
	} {
		for fails := 1; fails <= 4; fails++ {
			t.Run(fmt.Sprintf("%s of %d, %d times", test.kind, test.written, fails), func(t *testing.T) {
				disk := file.NewCrash()
				fault := file.NewFault(disk)
				fault.ShortWrites(test.written)
				options := kv.Options{PageSize: pageSize, SingleSync: test.single}
				s := &faultSession{T: t, options: options, disk: disk, fault: fault, ledger: &ledger{}}
				s.db = mustOpenSim(t, fault, s.options)
				s.commit(puts(0, 20, 1, 100))
				for round := range 4 {
					failMeta(fault, test.kind, fails, pageSize)
					s.commit(puts(0, 20, 1, 90+round))
					for seed := range uint64(20) {
						s.expectSound("after a power cut", disk.AfterCut(seed))
					}
					fault.FailIf(nil)
					s.commit(puts(0, 1, 1, 101+round))
				}
				if refused := fails > 1; s.refused != refused {
					t.Errorf("the database takes no more writes: %t, want %t", s.refused, refused)
				}
				must(t, s.db.Close())
			})
		}
	}
}

// failMeta makes calls fail from the writing of a meta page on.
func failMeta(fault *file.Fault, kind file.OpKind, times, pageSize int) {
	seen, failed := false, 0
	fault.FailIf(func(op file.Op) error {
		meta := op.Off < 2*int64(pageSize) && (op.Kind == file.OpWrite || op.Kind == file.OpThrough)
		seen = seen || meta
		if !seen || op.Kind != kind || failed == times {
			return nil
		}
		failed++
		return file.ErrInjected
	})
}

// TestFaultDuringCopy makes every call fail while a database is copied, by Compact and by CopyFile: an error, or a whole
// copy.
func TestFaultDuringCopy(t *testing.T) {
	options := kv.Options{PageSize: 1024}
	disk := file.NewMemory()
	src := mustOpenSim(t, disk, options)
	w := &world{db: src}
	must(t, puts(0, 60, 1, 100)(w))
	for _, s := range buckets()[:4] {
		must(t, s(w))
	}
	want, err := soundContent(src)
	must(t, err)
	must(t, src.Close())
	for name, copyTo := range map[string]func(src *kv.DB, disk file.FS, path string) error{
		"Compact": func(src *kv.DB, disk file.FS, path string) error {
			dst, err := kv.OpenFS(disk, path, 0o600, &options)
			if err != nil {
				return err
			}
			return errors.Join(kv.Compact(dst, src, 2000), dst.Close())
		},
		"CopyFile": func(src *kv.DB, _ file.FS, path string) error {
			return src.View(func(tx *kv.Tx) error { return tx.CopyFile(path, 0o600) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			for k := 1; ; k++ {
				disk := disk.Clone()
				fault := file.NewFault(disk)
				src := mustOpenSim(t, fault, options)
				fault.FailAt(k)
				err := copyTo(src, fault, "dir/copy.db")
				failed := len(fault.Injected()) > 0
				if err != nil && !errors.Is(err, file.ErrInjected) {
					t.Error("copy:", err)
				}
				fault.FailIf(nil)
				if text, err := soundContent(src); text != want {
					t.Errorf("original: %v, %s", err, firstDifference(text, want))
				}
				must(t, src.Close())
				if err == nil {
					dst, err := kv.OpenFS(disk, "dir/copy.db", 0o600, &options)
					must(t, err)
					text, err := soundContent(dst)
					must(t, err)
					if text != want {
						t.Errorf("copy, after call %d failed: %s", k, firstDifference(text, want))
					}
					must(t, dst.Close())
				}
				if !failed {
					return
				}
			}
		})
	}
}

// TestFailedCommitWithoutSync has the meta page of a commit without sync arrive whole, although the write fails. The old one
// is put back, in the cache: the next commit, with sync, makes that durable before it writes over pages of the failed one.
// From then on no power cut brings that back.
func TestFailedCommitWithoutSync(t *testing.T) {
	const keys, pageSize = 300, 1024
	disk := file.NewCrash()
	fault := file.NewFault(disk)
	db := mustOpenSim(t, fault, kv.Options{PageSize: pageSize})
	must(t, db.Update(putNumbered("b", keys, 100)))
	put := func(v string) error {
		return db.Update(func(tx *kv.Tx) error {
			for i := 0; i < keys; i += 40 {
				if err := tx.Bucket([]byte("b")).Put(numbered(i), []byte(v)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(t, put("first"))
	must(t, put("second"))
	want, err := soundContent(db)
	must(t, err)

	db.NoSync = true
	fault.ShortWrites(pageSize - 1)
	failed := false
	fault.FailIf(func(op file.Op) error {
		if op.Kind == file.OpWrite && op.Off < 2*pageSize && !failed {
			failed = true
			return file.ErrInjected
		}
		return nil
	})
	if err := put("failed"); !errors.Is(err, file.ErrInjected) {
		t.Fatalf("have %v, want an injected fault", err)
	}

	db.NoSync = false
	var left []*file.Crash
	synced := false
	fault.FailIf(func(op file.Op) error {
		switch op.Kind {
		case file.OpWrite, file.OpWriteVec, file.OpThrough, file.OpSyncData:
			if n := len(disk.Unsynced()); synced || op.Kind != file.OpSyncData {
				for kept := range 1 << n {
					left = append(left, disk.AfterCutKeeping(func(k int) bool { return kept>>k&1 == 1 }))
				}
			}
			synced = synced || op.Kind == file.OpSyncData
		}
		return nil
	})
	must(t, put("third"))
	fault.FailIf(nil)
	must(t, db.Close())
	if len(left) < 4 {
		t.Fatalf("%d power cuts", len(left))
	}
	for i, d := range left {
		db := mustOpenSim(t, d, kv.Options{PageSize: pageSize})
		if have, err := soundContent(db); err != nil || have != want {
			t.Errorf("power cut %d of %d: %v, %s", i, len(left), err, firstDifference(have, want))
		}
		must(t, db.Close())
	}
}
