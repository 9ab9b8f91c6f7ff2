// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// few is a smaller way to delete half of the keys.
var few = holey{"few", 8000, evenly(100), byChance, 300}

func length(t testing.TB, db *kv.DB) int64 {
	t.Helper()
	info, err := os.Stat(db.Path())
	must(t, err)
	return info.Size()
}

// TestShrinkReopen demands that a shrunk file stays as short as it is when it is closed, and can be used again.
func TestShrinkReopen(t *testing.T) {
	for name, o := range map[string]kv.Options{
		"default":     {NoSync: true},
		"free lists":  {NoSync: true, SyncFreelist: true},
		"no freelist": {NoSync: true, NoFreelistSync: true},
		"bolt":        {NoSync: true, BoltPlacement: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.db")
			db, err := kv.Open(path, 0o600, &o)
			must(t, err)
			few.fill(t, db)
			text := content(t, db)
			r, err := db.Shrink(t.Context(), kv.ShrinkOptions{})
			must(t, err)
			have := length(t, db)
			if have != r.After || have >= r.Before {
				t.Errorf("the file has %d bytes, reported are %d, %d at first", have, r.After, r.Before)
			}
			must(t, db.Close())
			db, err = kv.Open(path, 0o600, &o)
			must(t, err)
			if again := length(t, db); again != have {
				t.Errorf("%d bytes after Close, %d before", again, have)
			}
			if content(t, db) != text {
				t.Error("something else is in it now")
			}
			checkClean(t, db)
			again, err := db.Shrink(t.Context(), kv.ShrinkOptions{})
			must(t, err)
			if again.Written > again.Before/20 {
				t.Errorf("a second Shrink writes %d bytes", again.Written)
			}
			must(t, db.Update(func(tx *kv.Tx) error {
				for i := range 3000 {
					if err := tx.Bucket([]byte("b")).Put(numbered(i), filler(i, 200)); err != nil {
						return err
					}
				}
				return nil
			}))
			closeClean(t, db)
		})
	}
}

// TestShrinkUnderReader demands that a reader keeps what it sees, and that it holds nothing back once it has ended.
func TestShrinkUnderReader(t *testing.T) {
	db := openTemp(t, nil)
	few.fill(t, db)
	inParts(t, db, seq(few.n*3/4, few.n), 2000, func(b *kv.Bucket, i int) error { return b.Delete(numbered(i)) })
	reader, err := db.Begin(false)
	must(t, err)
	defer func() { _ = reader.Rollback() }() // if the test ends early
	text := contentOf(reader)
	inParts(t, db, seq(0, few.n/2), 500, func(b *kv.Bucket, i int) error { return b.Delete(numbered(i)) })

	under, err := db.Shrink(t.Context(), kv.ShrinkOptions{ReaderWait: time.Millisecond, StepBytes: 64 << 10})
	must(t, err)
	if under.Held == 0 {
		t.Error("the reader holds nothing")
	}
	if err := checked(reader); err != nil || contentOf(reader) != text {
		t.Errorf("the reader sees something else: %v", err)
	}
	for id := 0; id < int(reader.Size()/int64(db.Info().PageSize)); id++ { // free pages too
		if _, err := reader.Page(id); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := reader.WriteTo(io.Discard); err != nil || n != reader.Size() {
		t.Errorf("the reader writes %d bytes of %d: %v", n, reader.Size(), err)
	}
	must(t, reader.Rollback())
	after, err := db.Shrink(t.Context(), kv.ShrinkOptions{})
	must(t, err)
	if small := compactSize(t, db); after.After > small+small/10 || after.Held != 0 {
		t.Errorf("%d bytes are left (%d with the reader), Compact leaves %d; %d are held", after.After, under.After, small, after.Held)
	}
}

func seq(from, to int) (all []int) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// TestShrinkWaits lets a reader end while Shrink waits for it.
func TestShrinkWaits(t *testing.T) {
	db := openTemp(t, nil)
	few.fill(t, db)
	reader, err := db.Begin(false)
	must(t, err)
	ended := make(chan error, 1)
	go func() {
		time.Sleep(50 * time.Millisecond)
		ended <- reader.Rollback()
	}()
	r, err := db.Shrink(t.Context(), kv.ShrinkOptions{ReaderWait: -1})
	must(t, err)
	must(t, <-ended)
	if small := compactSize(t, db); r.After > small+small/10 {
		t.Errorf("%d bytes are left, Compact leaves %d", r.After, small)
	}
}

// TestShrinkEndsEarly ends Shrink after some steps, which stay, and has another one go on.
func TestShrinkEndsEarly(t *testing.T) {
	for name, end := range map[string]func(stop func(), db *kv.DB) error{
		"context": func(stop func(), _ *kv.DB) error { stop(); return context.Canceled },
		"close":   func(_ func(), db *kv.DB) error { return errors.Join(db.Close(), kv.ErrDatabaseNotOpen) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			db, err := kv.Open(path, 0o600, &kv.Options{NoSync: true})
			must(t, err)
			few.fill(t, db)
			text := content(t, db)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var want error
			r, err := db.Shrink(ctx, kv.ShrinkOptions{StepBytes: 64 << 10, Progress: func(r kv.ShrinkReport) {
				if r.Steps == 3 {
					want = end(stop, db)
				}
			}})
			if want == nil || err == nil || !errors.Is(want, err) {
				t.Fatalf("error %v, want %v", err, want)
			}
			if r.Steps != 3 {
				t.Errorf("%d steps, want 3", r.Steps)
			}
			must(t, db.Close())
			db, err = kv.Open(path, 0o600, &kv.Options{NoSync: true})
			must(t, err)
			defer closeClean(t, db)
			if content(t, db) != text {
				t.Error("something else is in it now")
			}
			all, err := db.Shrink(t.Context(), kv.ShrinkOptions{})
			must(t, err)
			if small := compactSize(t, db); all.After > small+small/10 {
				t.Errorf("%d bytes are left, Compact leaves %d", all.After, small)
			}
		})
	}
}

// TestShrinkBesideOthers shrinks while readers and writers are at work. Each write transaction gives all keys of a group
// the same value, and each reader must see that.
func TestShrinkBesideOthers(t *testing.T) {
	const groups, members = 40, 30
	db := openTemp(t, nil)
	few.fill(t, db)
	put := func(g int, value []byte) error {
		return db.Update(func(tx *kv.Tx) error {
			b, err := tx.CreateBucketIfNotExists(fmt.Appendf(nil, "group %d", g%7))
			for i := range members {
				if err == nil {
					err = b.Put(fmt.Appendf(nil, "%d/%d", g, i*97%members), value)
				}
			}
			return err
		})
	}
	for g := range groups {
		must(t, put(g, filler(g, 300)))
	}
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for who := range 2 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(who), 3))
			for n := 0; ctx.Err() == nil; n++ {
				if err := put(r.IntN(groups), filler(n, r.IntN(2000))); err != nil {
					t.Error("writer:", err)
					return
				}
				time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
			}
		})
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(who), 4))
			for ctx.Err() == nil {
				err := db.View(func(tx *kv.Tx) error {
					g := r.IntN(groups)
					b := tx.Bucket(fmt.Appendf(nil, "group %d", g%7))
					first := string(b.Get(fmt.Appendf(nil, "%d/0", g)))
					for i := range members {
						if i == members/2 {
							time.Sleep(time.Duration(r.IntN(3000)) * time.Microsecond)
						}
						if v := b.Get(fmt.Appendf(nil, "%d/%d", g, i)); string(v) != first {
							return fmt.Errorf("%d of group %d has %.20q, 0 has %.20q", i, g, v, first)
						}
					}
					return nil
				})
				if err != nil {
					t.Error("reader:", err)
					return
				}
			}
		})
	}
	for i := range 6 {
		inParts(t, db, seq(i*1000, i*1000+900), 300, func(b *kv.Bucket, i int) error { return b.Delete(numbered(i)) })
		r, err := db.Shrink(ctx, kv.ShrinkOptions{StepBytes: 32 << 10, ReaderWait: 20 * time.Millisecond})
		must(t, err)
		t.Logf("%d -> %d bytes, %d in use, %d held, %d steps", r.Before, r.After, r.Used, r.Held, r.Steps)
	}
	stop()
	all.Wait()
}

// TestAutoShrink lets the database become smaller by itself, where pages are free, and where leaves are sparse.
func TestAutoShrink(t *testing.T) {
	keys := 40_000
	if brief() {
		keys = 20_000
	}
	for _, test := range []struct {
		name string
		gone func(i int) bool
		free bool // whether that leaves many pages free
	}{
		{"free pages", func(i int) bool { return i > keys/4 }, true},
		{"sparse leaves", func(i int) bool { return i%3 > 0 }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.db")
			db, err := kv.Open(path, 0o600, &kv.Options{NoSync: true})
			must(t, err)
			must(t, db.Update(putNumbered("b", keys, 100)))
			gone := slices.DeleteFunc(seq(0, keys), func(i int) bool { return !test.gone(i) })
			inParts(t, db, gone, 100, func(b *kv.Bucket, i int) error { return b.Delete(numbered(i)) })
			text, small := content(t, db), compactSize(t, db)
			must(t, db.View(func(tx *kv.Tx) error {
				if s := db.Stats(); int64(s.FreeAlloc)*8 > tx.Size() != test.free {
					t.Errorf("%d of %d bytes are free", s.FreeAlloc, tx.Size())
				}
				return nil
			}))
			must(t, db.Close())
			autoShrink(t, path, small*3/2)
			db, err = kv.Open(path, 0o600, nil)
			must(t, err)
			checkClean(t, db)
			if content(t, db) != text {
				t.Error("something else is in it now")
			}
			must(t, db.Close())
		})
	}
}

// autoShrink keeps a database open until it has become small.
func autoShrink(t *testing.T, path string, small int64) {
	t.Helper()
	steps := make(chan int64, 1000)
	o := kv.AutoShrinkEvery(kv.Options{NoSync: true, AutoShrink: &kv.ShrinkOptions{
		BytesPerSecond: 1 << 30,
		Progress: func(r kv.ShrinkReport) {
			select {
			case steps <- r.After:
			default:
			}
		},
	}}, time.Millisecond)
	db, err := kv.Open(path, 0o600, &o)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	deadline := time.After(time.Minute)
	for size := small + 1; size > small; {
		select {
		case size = <-steps:
		case <-deadline:
			t.Fatalf("%d bytes, to become %d", size, small)
		}
	}
}

// TestSparse compares the estimate of what is to be gained from sparse leaves with what is.
func TestSparse(t *testing.T) {
	keys := 40_000
	if brief() {
		keys = 20_000
	}
	for _, test := range []struct {
		name   string
		order  func(i int) int
		gone   func(i int) bool
		sparse bool
	}{
		{"in order", func(i int) int { return i }, func(int) bool { return false }, false},
		{"at random", func(i int) int { return i * 7919 % keys }, func(int) bool { return false }, false},
		{"in order, a third deleted", func(i int) int { return i }, func(i int) bool { return i%3 == 0 }, false},
		{"in order, two thirds deleted", func(i int) int { return i }, func(i int) bool { return i%3 > 0 }, true},
		{"at random, half deleted", func(i int) int { return i * 7919 % keys }, func(i int) bool { return i%2 > 0 }, true},
	} {
		db := openTemp(t, &kv.Options{NoSync: true, PageSize: 4096})
		var order, gone []int
		for i := range keys {
			order = append(order, test.order(i))
			if test.gone(i) {
				gone = append(gone, i)
			}
		}
		inParts(t, db, order, 1000, func(b *kv.Bucket, i int) error { return b.Put(numbered(i), filler(i, 100)) })
		inParts(t, db, gone, 1000, func(b *kv.Bucket, i int) error { return b.Delete(numbered(i)) })
		got := int(kv.Sparse(db))
		var s kv.BucketStats
		must(t, db.View(func(tx *kv.Tx) error { s = tx.Bucket(nameB).Stats(); return nil }))
		want := (s.LeafAlloc - s.LeafInuse) / 4096
		if !test.sparse {
			want = 0
		}
		if low, high := want*7/10, want*13/10; got < low || got > high {
			t.Errorf("%s: about %d pages to gain, there are %d", test.name, got, want)
		}
	}
	if n := kv.Sparse(openTemp(t, nil)); n != 0 {
		t.Errorf("%d pages to gain in an empty database", n)
	}
}

func TestShrinkReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := kv.Open(path, 0o600, nil)
	must(t, err)
	must(t, db.Close())
	_, err = db.Shrink(t.Context(), kv.ShrinkOptions{})
	wantErr(t, err, kv.ErrDatabaseNotOpen)
	_, err = db.PunchHoles(t.Context())
	wantErr(t, err, kv.ErrDatabaseNotOpen)
	db, err = kv.Open(path, 0o600, &kv.Options{ReadOnly: true})
	must(t, err)
	defer closeClean(t, db)
	_, err = db.Shrink(t.Context(), kv.ShrinkOptions{})
	wantErr(t, err, kv.ErrDatabaseReadOnly)
	_, err = db.PunchHoles(t.Context())
	wantErr(t, err, kv.ErrDatabaseReadOnly)
}

// TestShrinkDamaged demands the error of damage, and that nothing is lost by it.
func TestShrinkDamaged(t *testing.T) {
	disk := file.NewMemory()
	db := mustOpenSim(t, disk, kv.Options{PageSize: 1024})
	few.fill(t, db)
	must(t, db.Close())
	b := readSim(t, disk, simPath)
	hit := 0
	for id := 2; id < len(b)/1024; id++ {
		if p := b[id*1024:]; p[8] == 2 && p[0] == byte(id) { // a leaf
			clear(p[8:10])
			hit++
		}
	}
	db = mustOpenSim(t, memoryWith(t, b), kv.Options{PageSize: 1024})
	_, err := db.Shrink(t.Context(), kv.ShrinkOptions{})
	if corrupt := (*kv.CorruptError)(nil); !errors.As(err, &corrupt) {
		t.Errorf("error %v after damage to %d pages, want a CorruptError", err, hit)
	}
	must(t, db.Close())
}

// TestPunchHoles demands that nothing but free pages is given back, neither of the current state nor of the one before.
func TestPunchHoles(t *testing.T) {
	disk := file.NewCrash()
	db := mustOpenSim(t, disk, kv.Options{PageSize: 1024})
	few.fill(t, db)
	inParts(t, db, seq(1000, 5000), 2000, func(b *kv.Bucket, i int) error { return b.Delete(numbered(i)) })
	text := content(t, db)
	n, err := db.PunchHoles(t.Context())
	must(t, err)
	if holes := disk.Counts().Punches; n < 100<<10 || holes == 0 {
		t.Errorf("%d bytes in %d holes", n, holes)
	}
	eitherState(t, readSim(t, disk, simPath), text)
	must(t, db.Close())
}

// eitherState demands that each of the two states in a file is sound and holds text.
func eitherState(t *testing.T, b []byte, text string) {
	t.Helper()
	for _, lost := range []int{-1, 0, 1} { // the meta page that cannot be read
		b := append([]byte(nil), b...)
		if lost >= 0 {
			clear(b[lost*1024+16:][:64])
		}
		db, err := openSim(memoryWith(t, b), kv.Options{PageSize: 1024})
		if err != nil {
			t.Errorf("without meta page %d: %v", lost, err)
			continue
		}
		if content(t, db) != text {
			t.Errorf("without meta page %d: something else is in it", lost)
		}
		checkClean(t, db)
		must(t, db.Close())
	}
}

// TestShrinkEitherState demands after each step that the file is long enough for both states that it holds.
func TestShrinkEitherState(t *testing.T) {
	disk := file.NewMemory()
	db := mustOpenSim(t, disk, kv.Options{PageSize: 1024})
	some := holey{"", 1000, evenly(50), byChance, 100}
	some.fill(t, db)
	inParts(t, db, seq(500, 1000), 100, func(b *kv.Bucket, i int) error { return b.Delete(numbered(i)) })
	text := content(t, db)
	lengths := map[int64]bool{}
	_, err := db.Shrink(t.Context(), kv.ShrinkOptions{StepBytes: 8 << 10, Progress: func(r kv.ShrinkReport) {
		lengths[r.After] = true
		eitherState(t, readSim(t, disk, simPath), text)
	}})
	must(t, err)
	if len(lengths) < 3 {
		t.Errorf("the file was cut to %v, less than three times", lengths)
	}
	must(t, db.Close())
}

// TestShrinkFaults makes each call of Shrink fail, which must lose no page, and has another one go on.
func TestShrinkFaults(t *testing.T) {
	disk := file.NewMemory()
	db := mustOpenSim(t, disk, kv.Options{PageSize: 1024})
	some := holey{"", 600, evenly(50), byChance, 100}
	some.fill(t, db)
	text, small := content(t, db), compactSize(t, db)
	must(t, db.Close())
	b := readSim(t, disk, simPath)
	step := 1
	if brief() {
		step = 5
	}
	for k := 1; ; k += step {
		fault := file.NewFault(memoryWith(t, b))
		db := mustOpenSim(t, fault, kv.Options{PageSize: 1024})
		fault.FailAt(k)
		_, err := db.Shrink(t.Context(), kv.ShrinkOptions{StepBytes: 8 << 10})
		failed := fault.Injected()
		fault.FailIf(nil)
		if len(failed) == 0 {
			if must(t, err); k < 20 {
				t.Fatalf("Shrink makes only %d calls", k-1)
			}
			must(t, db.Close())
			return
		}
		if now, checks := soundContent(db); checks != nil || now != text {
			t.Errorf("call %d, %v: %v; %s", k, failed, checks, firstDifference(now, text))
		}
		r, err := db.Shrink(t.Context(), kv.ShrinkOptions{})
		if err != nil || r.After > small+small/5 {
			t.Errorf("call %d, %v: then %d bytes, %d when compacted: %v", k, failed, r.After, small, err)
		}
		if now, checks := soundContent(db); checks != nil || now != text {
			t.Errorf("call %d, %v: after another: %v; %s", k, failed, checks, firstDifference(now, text))
		}
		must(t, db.Close())
	}
}

// TestPunchHolesOS looks whether the file system gets its space.
func TestPunchHolesOS(t *testing.T) {
	db := openTemp(t, nil)
	few.fill(t, db)
	inParts(t, db, seq(1000, 5000), 4000, func(b *kv.Bucket, i int) error { return b.Delete(numbered(i)) })
	before, text := blocks(t, db.Path()), content(t, db)
	n, err := db.PunchHoles(t.Context())
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("the file system has no holes")
	}
	must(t, err)
	if after := blocks(t, db.Path()); before >= 0 && after >= before || n == 0 {
		t.Errorf("%d blocks after %d bytes were given back, %d before", after, n, before)
	}
	if content(t, db) != text {
		t.Error("something else is in it now")
	}
}

// TestShrinkWaitsForEver demands that Shrink waits for a reader that does not end until its context does, and does not
// walk over the database all the time.
func TestShrinkWaitsForEver(t *testing.T) {
	db := openTemp(t, nil)
	few.fill(t, db)
	reader, err := db.Begin(false)
	must(t, err)
	ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer stop()
	r, err := db.Shrink(ctx, kv.ShrinkOptions{ReaderWait: -1})
	must(t, reader.Rollback())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shrink did not wait: %v", err)
	}
	if r.Held == 0 || r.Looked > 5*r.Used {
		t.Errorf("%d bytes are held; %d of %d bytes in use were looked at", r.Held, r.Looked, r.Used)
	}
}

// TestShrinkWaitsUntilClose has Close begin while Shrink waits for a reader, for which Close has to wait too.
func TestShrinkWaitsUntilClose(t *testing.T) {
	db, err := kv.Open(filepath.Join(t.TempDir(), "x.db"), 0o600, &kv.Options{NoSync: true})
	must(t, err)
	few.fill(t, db)
	reader, err := db.Begin(false)
	must(t, err)
	shrunk, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := db.Shrink(t.Context(), kv.ShrinkOptions{ReaderWait: -1})
		shrunk <- err
	}()
	time.Sleep(100 * time.Millisecond)
	go func() { closed <- db.Close() }()
	select {
	case err := <-shrunk:
		if !errors.Is(err, kv.ErrDatabaseNotOpen) {
			t.Errorf("error %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("Shrink goes on waiting for the reader")
	}
	must(t, reader.Rollback())
	must(t, <-closed)
}

// TestAutoShrinkAfterReader has readers end that kept the database from becoming smaller by itself.
func TestAutoShrinkAfterReader(t *testing.T) {
	for name, early := range map[string]bool{"pages": true, "end of the file": false} {
		t.Run(name, func(t *testing.T) {
			db := openTemp(t, nil)
			must(t, db.Update(putNumbered("b", 20_000, 100)))
			var reader *kv.Tx
			begin := func() {
				var err error
				reader, err = db.Begin(false)
				must(t, err)
			}
			if early {
				begin()
			}
			inParts(t, db, seq(0, 15_000), 15_000, func(b *kv.Bucket, i int) error { return b.Delete(numbered(i)) })
			if !early {
				begin()
			}
			look := kv.AutoShrinkLook(db, kv.ShrinkOptions{ReaderWait: 1})
			for range 3 {
				must(t, look(t.Context()))
			}
			small := compactSize(t, db) * 5 / 4
			if n := length(t, db); n <= small {
				t.Errorf("%d bytes under a reader: nothing is left to be done", n)
			}
			must(t, reader.Rollback())
			must(t, look(t.Context()))
			if n := length(t, db); n > small {
				t.Errorf("%d bytes after the reader has ended, want at most %d", n, small)
			}
			checkClean(t, db)
		})
	}
}

// TestShrinkMaxSize shrinks where MaxSize leaves no room for anything but the keys: none is needed unless each commit is to
// store a free list.
func TestShrinkMaxSize(t *testing.T) {
	for _, test := range []struct {
		name string
		o    kv.Options
		want error
	}{
		{"default", kv.Options{}, nil},
		{"free lists", kv.Options{SyncFreelist: true}, kv.ErrMaxSizeReached},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			db, err := kv.Open(path, 0o600, nil)
			must(t, err)
			must(t, db.Update(putNumbered("b", 2000, 100)))
			_, err = db.Shrink(t.Context(), kv.ShrinkOptions{})
			must(t, err)
			size := length(t, db)
			must(t, db.Close())
			test.o.MaxSize = int(size)
			db, err = kv.Open(path, 0o600, &test.o)
			must(t, err)
			defer closeClean(t, db)
			r, err := db.Shrink(t.Context(), kv.ShrinkOptions{})
			if !errors.Is(err, test.want) || r.Before != size || r.After > size || r.Used == 0 {
				t.Errorf("error %v, %+v", err, r)
			}
		})
	}
}

// TestShrinkJustFull has leaves moved that are full to the last byte. They must stay whole.
func TestShrinkJustFull(t *testing.T) {
	const n = 40_000
	db := openTemp(t, &kv.Options{PageSize: 4096})
	must(t, db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		for i := 0; i < n && err == nil; i++ {
			err = b.Put(fmt.Appendf(nil, "%08d", i), make([]byte, 16)) // 40 bytes with the element, 102 of them in a page
		}
		return err
	}))
	must(t, db.View(func(tx *kv.Tx) error {
		if s := tx.Bucket([]byte("b")).Stats(); s.LeafPageN != (n+101)/102 {
			t.Errorf("%d leaves: they are not full", s.LeafPageN)
		}
		return nil
	}))
	must(t, db.Update(func(tx *kv.Tx) error {
		var err error
		for i := 0; i < n/2 && err == nil; i++ {
			err = tx.Bucket([]byte("b")).Delete(fmt.Appendf(nil, "%08d", i))
		}
		return err
	}))
	r, err := db.Shrink(t.Context(), kv.ShrinkOptions{})
	must(t, err)
	if small := compactSize(t, db); r.After > small+small/10 || r.Written > small+small/4 {
		t.Errorf("%d bytes are left, Compact leaves %d; %d were written", r.After, small, r.Written)
	}
	checkClean(t, db)
}
