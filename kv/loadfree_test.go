// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

const unlistedPageSize = 1024

// unlisted returns a database that does not name its free pages, of which there are many.
func unlisted(t *testing.T) *file.Crash {
	t.Helper()
	disk := file.NewCrash()
	db := mustOpenSim(t, disk, kv.Options{PageSize: unlistedPageSize, NoFreelistSync: true})
	must(t, db.Update(putNumbered("keep", 10, 50)))
	must(t, db.Update(putNumbered("b", 300, 100)))
	must(t, db.Update(putNumbered("gone", 600, 100)))
	must(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("gone")) }))
	must(t, db.Close())
	return disk
}

// watch has told count the pages that are looked at to find the free ones.
func watch(o kv.Options, told *atomic.Int64) kv.Options {
	o.Progress = func(n int64) { told.Add(n) }
	return o
}

// pagesToLook is how many pages that are.
func pagesToLook(t *testing.T) int64 {
	t.Helper()
	var told atomic.Int64
	must(t, mustOpenSim(t, unlisted(t), watch(kv.Options{ReadOnly: true, PreLoadFreelist: true}, &told)).Close())
	if told.Load() < 20 {
		t.Fatalf("the file has only %d pages in use", told.Load())
	}
	return told.Load()
}

// TestFreePagesAreFoundOnDemand: what needs the free pages of a file that does not name them looks for them, once, and
// Close stores them then. What does not need them leaves the file as it was.
func TestFreePagesAreFoundOnDemand(t *testing.T) {
	nothing := func(*kv.Tx) error { return nil }
	rolledBack := func(tx *kv.Tx, err error) error {
		if err != nil {
			return err
		}
		return tx.Rollback()
	}
	uses := map[string]struct {
		needs bool
		use   func(ctx context.Context, db *kv.DB) error
	}{
		"begin": {true, func(_ context.Context, db *kv.DB) error { return rolledBack(db.Begin(true)) }},
		"begin, context": {true, func(ctx context.Context, db *kv.DB) error {
			return rolledBack(db.BeginContext(ctx, true))
		}},
		"update": {true, func(_ context.Context, db *kv.DB) error { return db.Update(nothing) }},
		"batch":  {true, func(_ context.Context, db *kv.DB) error { return db.Batch(nothing) }},
		"shrink": {true, func(ctx context.Context, db *kv.DB) error {
			_, err := db.Shrink(ctx, kv.ShrinkOptions{})
			return err
		}},
		"punch holes": {true, func(ctx context.Context, db *kv.DB) error {
			_, err := db.PunchHoles(ctx)
			return err
		}},
		"page": {true, func(_ context.Context, db *kv.DB) error {
			return db.View(func(tx *kv.Tx) error {
				_, err := tx.Page(2)
				return err
			})
		}},
		"nothing": {false, func(context.Context, *kv.DB) error { return nil }},
		"view":    {false, func(_ context.Context, db *kv.DB) error { return db.View(walkAll) }},
		"check":   {false, func(_ context.Context, db *kv.DB) error { return db.View(checked) }},
		"backup": {false, func(_ context.Context, db *kv.DB) error {
			return db.View(func(tx *kv.Tx) error { return tx.Copy(io.Discard) })
		}},
		"update, too late": {false, func(ctx context.Context, db *kv.DB) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			if err := db.UpdateContext(ctx, nothing); !errors.Is(err, context.Canceled) {
				return errors.New("no error")
			}
			return nil
		}},
	}
	pages := pagesToLook(t)
	for name, u := range uses {
		t.Run(name, func(t *testing.T) {
			disk := unlisted(t)
			before := readSim(t, disk, simPath)
			var told atomic.Int64
			db := mustOpenSim(t, disk, watch(kv.Options{}, &told))
			if s := db.Stats(); told.Load() != 0 || s.FreePageN != 0 || s.PendingPageN != 0 || s.FreeAlloc != 0 {
				t.Errorf("Open looked at %d pages, and there are %d free ones", told.Load(), s.FreePageN)
			}
			want := int64(0)
			if u.needs {
				want = pages
			}
			for range 2 {
				must(t, u.use(t.Context(), db))
				if told.Load() != want {
					t.Errorf("looked at %d pages, want %d", told.Load(), want)
				}
			}
			if n := db.Stats().FreePageN; name != "shrink" && u.needs != (n > 0) {
				t.Errorf("%d pages are free", n)
			}
			checkClean(t, db)
			must(t, db.Close())
			after := readSim(t, disk, simPath)
			if u.needs {
				if storedFreelist(after, unlistedPageSize) == page.NoFreelist {
					t.Error("Close did not store what was found")
				}
			} else if !bytes.Equal(after, before) {
				t.Error("the file has changed")
			}
		})
	}
}

func walkAll(tx *kv.Tx) error { return walk(tx.Cursor().Bucket(), 0) }

// TestFreePagesAreFoundByOpen lists the options that have Open look for the free pages, and those that store them then.
func TestFreePagesAreFoundByOpen(t *testing.T) {
	pages := pagesToLook(t)
	for _, test := range []struct {
		name          string
		o             kv.Options
		looks, stores bool
	}{
		{"none", kv.Options{}, false, false},
		{"not stored", kv.Options{NoFreelistSync: true}, false, false},
		{"loaded", kv.Options{PreLoadFreelist: true}, true, false},
		{"loaded, not stored", kv.Options{PreLoadFreelist: true, NoFreelistSync: true}, true, false},
		{"always stored", kv.Options{SyncFreelist: true}, true, true},
		{"as bbolt", kv.Options{BoltPlacement: true}, true, true},
		{"as bbolt, not stored", kv.Options{BoltPlacement: true, NoFreelistSync: true}, true, false},
		{"read-only", kv.Options{ReadOnly: true}, false, false},
		{"read-only, as bbolt", kv.Options{ReadOnly: true, BoltPlacement: true}, false, false},
		{"read-only, loaded", kv.Options{ReadOnly: true, PreLoadFreelist: true}, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			disk := unlisted(t)
			var told atomic.Int64
			db := mustOpenSim(t, disk, watch(test.o, &told))
			if looks := told.Load() == pages; looks != test.looks || !looks && told.Load() != 0 {
				t.Errorf("Open looked at %d pages of %d, want %t", told.Load(), pages, test.looks)
			}
			if stores := storedFreelist(readSim(t, disk, simPath), unlistedPageSize) != page.NoFreelist; stores != test.stores {
				t.Errorf("Open stored a free list: %t, want %t", stores, test.stores)
			}
			err := db.View(func(tx *kv.Tx) error {
				_, err := tx.Page(2)
				return err
			})
			if test.o.ReadOnly && !test.looks {
				wantErr(t, err, kv.ErrFreePagesNotLoaded)
			} else {
				must(t, err)
			}
			closeClean(t, db)
		})
	}
}

// TestOpenRefusesMissingPages cuts off the last page of a file that does not name its free pages: that is found out by
// Open, not by the first write.
func TestOpenRefusesMissingPages(t *testing.T) {
	image := readSim(t, unlisted(t), simPath)
	last := newestMeta(image).HWM() - 1
	image = image[:last*unlistedPageSize]
	for _, o := range []kv.Options{
		{}, {NoFreelistSync: true}, {PreLoadFreelist: true}, {PreLoadFreelist: true, ReadOnly: true},
	} {
		_, err := openSim(memoryWith(t, image), o)
		if damage := (*kv.CorruptError)(nil); !errors.As(err, &damage) || damage.Page != kv.Pgid(last) {
			t.Errorf("%v: open says %v, want that page %d is missing", &o, err, last)
		}
	}
	must(t, mustOpenSim(t, memoryWith(t, image), kv.Options{ReadOnly: true}).Close())
}

// TestFreePagesAreLookedForAgain demands that a write transaction that could not find the free pages says why, that
// nothing but writing suffers from it, and that the next one tries again.
func TestFreePagesAreLookedForAgain(t *testing.T) {
	disk := unlisted(t)
	whole := readSim(t, disk, simPath)
	root := rootOf(t, whole, "b")
	overwrite := func(b []byte) {
		f, err := disk.OpenFile(simPath, os.O_RDWR, 0)
		must(t, err)
		_, err = f.WriteAt(b, int64(root)*unlistedPageSize)
		must(t, err)
		must(t, f.Close())
	}
	ctx, cancel := context.WithCancel(t.Context())
	looks := 0
	db := mustOpenSim(t, disk, kv.Options{Progress: func(int64) { looks++; cancel() }})
	_, err := db.BeginContext(ctx, true)
	wantErr(t, err, context.Canceled)
	if looks == 0 {
		t.Error("canceled before anything was looked at")
	}
	readsOn := func() {
		t.Helper()
		must(t, db.View(func(tx *kv.Tx) error { return walk(tx.Bucket([]byte("keep")), 0) }))
		if n := db.Stats().FreePageN; n != 0 {
			t.Errorf("%d pages are free", n)
		}
	}
	readsOn()

	overwrite(make([]byte, unlistedPageSize))
	put := func(tx *kv.Tx) error { return tx.Bucket([]byte("keep")).Put([]byte("k"), []byte("v")) }
	for name, use := range map[string]func() error{
		"update": func() error { return db.Update(put) },
		"batch":  func() error { return db.Batch(put) },
		"begin": func() error {
			_, err := db.Begin(true)
			return err
		},
		"shrink": func() error {
			_, err := db.Shrink(t.Context(), kv.ShrinkOptions{})
			return err
		},
		"page": func() error {
			return db.View(func(tx *kv.Tx) error {
				_, err := tx.Page(2)
				return err
			})
		},
	} {
		before := looks
		err := use()
		damage := (*kv.CorruptError)(nil)
		if !errors.As(err, &damage) || damage.Path != simPath || damage.Page != kv.Pgid(root) || damage.Reason == "" {
			t.Errorf("%s: %v, want the damage of page %d", name, err, root)
		}
		if looks == before {
			t.Errorf("%s did not look for the free pages", name)
		}
		readsOn()
	}

	overwrite(whole[root*unlistedPageSize:][:unlistedPageSize])
	must(t, db.Update(put))
	if db.Stats().FreePageN == 0 {
		t.Error("no page is free")
	}
	closeClean(t, db)
}

// TestFreePagesAreFoundTogether has others use the database while one looks for the free pages: readers go on, writers
// and who else needs them wait, unless their context ends.
func TestFreePagesAreFoundTogether(t *testing.T) {
	pages := pagesToLook(t)
	var told atomic.Int64
	looking, goOn := make(chan struct{}), make(chan struct{})
	var first sync.Once
	db := mustOpenSim(t, unlisted(t), kv.Options{Progress: func(n int64) {
		told.Add(n)
		first.Do(func() {
			close(looking)
			<-goOn
		})
	}})
	var others sync.WaitGroup
	put := func(key string) {
		err := db.Update(func(tx *kv.Tx) error { return tx.Bucket([]byte("keep")).Put([]byte(key), make([]byte, 2000)) })
		if err != nil {
			t.Error(err)
		}
	}
	others.Go(func() { put("first") })
	<-looking

	reader, err := db.Begin(false)
	must(t, err)
	seen := contentOf(reader)
	must(t, checked(reader))
	soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := db.BeginContext(soon, true); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("begin a second time: %v", err)
	}
	if _, err := db.Shrink(soon, kv.ShrinkOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("shrink: %v", err)
	}
	for _, key := range []string{"second", "third"} {
		others.Go(func() { put(key) })
	}
	others.Go(func() {
		if err := db.View(func(tx *kv.Tx) error { _, err := tx.Page(2); return err }); err != nil {
			t.Error(err)
		}
	})
	close(goOn)
	others.Wait()

	if told.Load() != pages {
		t.Errorf("looked at %d pages, want %d", told.Load(), pages)
	}
	for i := range 5 {
		must(t, db.Update(putNumbered("b", 100+i, 100)))
	}
	if text := contentOf(reader); text != seen {
		t.Error("a reader of before sees something else:", firstDifference(text, seen))
	}
	must(t, reader.Rollback())
	must(t, db.View(func(tx *kv.Tx) error {
		for _, key := range []string{"first", "second", "third"} {
			if v := tx.Bucket([]byte("keep")).Get([]byte(key)); len(v) != 2000 {
				t.Errorf("%s has %d bytes", key, len(v))
			}
		}
		return nil
	}))
	closeClean(t, db)
}

// TestCloseEndsTheSearch closes a database while a write transaction that is about to begin looks for the free pages, and
// Shrink waits for them: both are refused, and the file stays as it is.
func TestCloseEndsTheSearch(t *testing.T) {
	pages := pagesToLook(t)
	disk := unlisted(t)
	before := readSim(t, disk, simPath)
	var told atomic.Int64
	var first sync.Once
	var closing sync.WaitGroup
	refused := func(use func(ctx context.Context) error) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := use(ctx); !errors.Is(err, kv.ErrDatabaseNotOpen) {
			t.Errorf("have %v, want %v", err, kv.ErrDatabaseNotOpen)
		}
	}
	var db *kv.DB
	shrink := func(ctx context.Context) error {
		_, err := db.Shrink(ctx, kv.ShrinkOptions{})
		return err
	}
	db = mustOpenSim(t, disk, kv.Options{Progress: func(n int64) {
		told.Add(n)
		first.Do(func() {
			closing.Go(func() { must(t, db.Close()) })
			refused(shrink) // once Close has begun
		})
	}})
	ends(t, func() {
		refused(func(ctx context.Context) error {
			_, err := db.BeginContext(ctx, true)
			return err
		})
		closing.Wait()
	})
	if told.Load() >= pages {
		t.Errorf("all %d pages were looked at", pages)
	}
	if !bytes.Equal(readSim(t, disk, simPath), before) {
		t.Error("the file has changed")
	}
}

// TestAutoShrinkWaitsForAWrite: looking whether to shrink does not look for free pages; once these are known it does
// shrink.
func TestAutoShrinkWaitsForAWrite(t *testing.T) {
	disk := file.NewMemory()
	db := mustOpenSim(t, disk, kv.Options{NoFreelistSync: true})
	must(t, db.Update(putNumbered("b", 100, 100)))
	must(t, db.Update(putNumbered("gone", 30_000, 100)))
	must(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("gone")) }))
	must(t, db.Close())

	var told atomic.Int64
	shrunk := make(chan struct{})
	var once sync.Once
	o := watch(kv.Options{AutoShrink: &kv.ShrinkOptions{
		BytesPerSecond: 1 << 30,
		Progress: func(r kv.ShrinkReport) {
			if r.After < r.Before/2 {
				once.Do(func() { close(shrunk) })
			}
		},
	}}, &told)
	db = mustOpenSim(t, disk, kv.AutoShrinkEvery(o, time.Millisecond))
	time.Sleep(20 * time.Millisecond) // it looks several times, or not at all
	if told.Load() != 0 {
		t.Errorf("%d pages were looked at before anything was written", told.Load())
	}
	must(t, db.Update(putNumbered("b", 1, 100)))
	select {
	case <-shrunk:
	case <-time.After(time.Minute):
		t.Error("it did not shrink")
	}
	closeClean(t, db)
}

// TestCrashFirstWrite cuts the power while a database that does not name its free pages is opened, written to for the
// first time, and closed.
func TestCrashFirstWrite(t *testing.T) {
	made := shrinking()
	steps := []step{openReader, puts(0, 40, 3, 90), deletes(5, 30, 2), closeReader, puts(3, 9, 1, 400), puts(0, 60, 1, 30)}
	for _, o := range crashOptions {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			c := &crasher{
				options: o.Options, disk: file.NewCrash(), opened: true, seeds: times(4, 40), nest: times(8, 1),
			}
			must(t, c.record(slices.Concat(made, steps)))
			c.texts = c.texts[len(made):]
			w := &world{disk: c.disk, options: o.Options}
			w.options.NoFreelistSync = true
			must(t, w.open())
			for _, s := range made {
				must(t, s(w))
			}
			must(t, w.close())
			if storedFreelist(readSim(t, c.disk, simPath), o.PageSize) != page.NoFreelist {
				t.Fatal("the file has a free list")
			}
			must(t, c.run(observed{c.disk, c.cut}, steps))
			for _, err := range c.found {
				t.Error(err)
			}
			if c.cuts < 10 {
				t.Errorf("power was cut at %d calls only", c.cuts)
			}
		})
	}
}

// TestCrashCloseUnknowing cuts the power while a database is opened and closed whose last commit had one sync, before
// Close: the meta page must become a plain one, and nobody need know the free pages for that.
func TestCrashCloseUnknowing(t *testing.T) {
	o := kv.Options{PageSize: unlistedPageSize, SingleSync: true}
	running := file.NewCrash()
	w := &world{disk: running, options: o}
	must(t, w.open())
	for _, s := range shrinking() {
		must(t, s(w))
	}
	text, err := soundContent(w.db)
	must(t, err)
	disk := running.AfterCutKeeping(file.KeepAll)
	must(t, w.close())

	var told atomic.Int64
	c := &crasher{
		options: watch(o, &told), disk: disk, opened: true, seeds: times(20, 200), nest: 1, texts: []string{text},
	}
	if !newestMeta(readSim(t, disk, simPath)).Paired() {
		t.Fatal("the last commit had two syncs")
	}
	must(t, c.run(observed{disk, func() {
		if told.Load() != 0 {
			t.Error("pages were looked at")
		}
		c.cut()
		told.Store(0) // of what was recovered and then written to
	}}, nil))
	for _, err := range c.found {
		t.Error(err)
	}
	if told.Load() != 0 || c.cuts == 0 {
		t.Errorf("%d cuts; pages were looked at: %d", c.cuts, told.Load())
	}
	closed := readSim(t, disk, simPath)
	if newestMeta(closed).Paired() || storedFreelist(closed, unlistedPageSize) != page.NoFreelist {
		t.Error("Close left a meta page that needs checksums, or a free list that it cannot know")
	}
	db := mustOpenSim(t, disk, kv.Options{})
	have, err := soundContent(db)
	must(t, err)
	if have != text {
		t.Error(firstDifference(have, text))
	}
	must(t, db.Close())
}
