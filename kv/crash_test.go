// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// crashOptions are the options under which power is cut. Pages are small, so that little data makes a tree.
var crashOptions = []struct {
	name string
	kv.Options
}{
	{"default", kv.Options{PageSize: 1024}},
	{"bolt", kv.Options{PageSize: 1024, BoltPlacement: true}},
	{"single sync", kv.Options{PageSize: 1024, SingleSync: true}},
	{"single sync, freelist, no grow sync", kv.Options{PageSize: 1024, SingleSync: true, SyncFreelist: true, NoGrowSync: true}},
	{"freelist with each commit", kv.Options{PageSize: 1024, SyncFreelist: true}},
	{"no freelist", kv.Options{PageSize: 1024, NoFreelistSync: true}},
	{"no grow sync", kv.Options{PageSize: 1024, NoGrowSync: true}},
	{"bolt, neither", kv.Options{PageSize: 1024, BoltPlacement: true, NoFreelistSync: true, NoGrowSync: true}},
	{"large pages", kv.Options{PageSize: 4096}},
	{"written early", kv.WriteEarly(kv.Options{PageSize: 1024}, 5000)},
}

// crasher runs a workload and looks, ahead of every call that changes the disk or makes it durable, at what might be
// found if the power went there.
type crasher struct {
	options kv.Options
	disk    *file.Crash
	texts   []string // what the database holds after so many steps; texts[0] is the new file
	before  *string  // what it may hold as well until a step is done
	done    int      // steps that have been acknowledged
	opened  bool     // Open has returned
	seeds   int      // random disks per cut
	nest    int      // cut the power during recovery too, at every nest-th cut; 0 for never

	cuts  int
	found []error // what was wrong
}

// run returns an error if the workload itself fails. What the cuts found is in c.found.
func (c *crasher) run(disk file.FS, steps []step) error {
	w := &world{disk: disk, options: c.options}
	if err := w.open(); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	c.opened = true
	for i, s := range steps {
		if err := s(w); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		c.done++
	}
	return w.close()
}

// record runs the steps with no trouble, to learn what each makes of the database.
func (c *crasher) record(steps []step) error {
	w := &world{disk: file.NewMemory(), options: c.options}
	if err := w.open(); err != nil {
		return err
	}
	c.texts = []string{""}
	for i, s := range steps {
		if err := s(w); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		text, err := soundContent(w.db)
		if err != nil {
			return fmt.Errorf("after step %d: %w", i, err)
		}
		c.texts = append(c.texts, text)
	}
	return w.close()
}

// cut tries many of the disks that a power cut now may leave.
func (c *crasher) cut() {
	if len(c.found) >= 5 {
		return
	}
	c.cuts++
	changes := c.disk.Unsynced()
	for i, n := 0, len(changes); i < n; i++ {
		c.try(fmt.Sprint("only change ", i), c.disk.AfterCutKeeping(func(k int) bool { return k == i }))
		c.try(fmt.Sprint("all but change ", i), c.disk.AfterCutKeeping(func(k int) bool { return k != i }))
	}
	c.try("all changes", c.disk.AfterCutKeeping(file.KeepAll))
	c.try("no changes", c.disk.AfterCutKeeping(file.KeepNone))
	if len(changes) == 0 {
		return
	}
	for _, sector := range []int{512, 1} {
		c.disk.SetSector(sector)
		for i := range c.seeds {
			seed := uint64(c.cuts*1000 + i)
			c.try(fmt.Sprintf("seed %d, sector %d", seed, sector), c.disk.AfterCut(seed))
		}
	}
}

// try recovers one disk.
func (c *crasher) try(how string, disk *file.Crash) {
	var err error
	if c.nest > 0 && c.cuts%c.nest == 0 {
		err = c.recoverInStages(disk)
	} else {
		err = c.recover(disk)
	}
	if err != nil {
		c.found = append(c.found, fmt.Errorf("cut %d (%s, after %d steps; unsynced %v): %w",
			c.cuts, how, c.done, c.disk.Unsynced(), err))
	}
}

// recoverInStages recovers with the power failing once more, at every call that recovery makes.
func (c *crasher) recoverInStages(disk *file.Crash) error {
	var again error
	n := 0
	watched := observed{disk, func() {
		n++
		for _, left := range []*file.Crash{
			disk.AfterCutKeeping(file.KeepAll), disk.AfterCutKeeping(file.KeepNone), disk.AfterCut(uint64(n)),
		} {
			if err := c.recover(left); err != nil && again == nil {
				again = fmt.Errorf("power cut at call %d of the recovery: %w", n, err)
			}
		}
	}}
	return errors.Join(c.recover(watched), again)
}

// recover opens the database as it was found and demands that it is sound and holds what was acknowledged, or that and
// the whole commit in flight; and that it can be used.
func (c *crasher) recover(disk file.FS) error {
	if _, err := disk.Stat(simPath); c.opened && errors.Is(err, fs.ErrNotExist) {
		return errors.New("the file is gone")
	}
	db, err := openSim(disk, c.options)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer func() { _ = db.Close() }() // of a simulated file
	text, err := soundContent(db)
	if err != nil {
		return err
	}
	if !c.allows(text) {
		return fmt.Errorf("content: %s", firstDifference(text, c.texts[c.done]))
	}
	if _, nested := disk.(observed); nested {
		return nil // a commit after it would be one more acknowledged state
	}
	return useRecovered(db)
}

// allows says whether the database may hold text.
func (c *crasher) allows(text string) bool {
	if c.done == 0 && c.before != nil && text == *c.before {
		return true
	}
	return text == c.texts[c.done] || c.done+1 < len(c.texts) && text == c.texts[c.done+1]
}

// useRecovered commits something to a recovered database.
func useRecovered(db *kv.DB) error {
	value := strings.Repeat("v", 1500)
	err := db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte("after the crash"))
		if err != nil {
			return err
		}
		return b.Put([]byte("k"), []byte(value))
	})
	if err != nil {
		return fmt.Errorf("update after recovery: %w", err)
	}
	return db.View(func(tx *kv.Tx) error {
		if got := tx.Bucket([]byte("after the crash")).Get([]byte("k")); string(got) != value {
			return fmt.Errorf("a value put after recovery reads back as %d bytes", len(got))
		}
		if err := checked(tx); err != nil {
			return fmt.Errorf("check after an update after recovery: %w", err)
		}
		return nil
	})
}

func TestCrash(t *testing.T) {
	for i, o := range crashOptions {
		for j, work := range workloads() {
			if brief() && (i+j)%4 != 0 {
				continue
			}
			t.Run(o.name+"/"+work.name, func(t *testing.T) {
				t.Parallel()
				c := &crasher{
					options: o.Options, disk: file.NewCrash(),
					seeds: times(4, 20), nest: times(16, 1),
				}
				must(t, c.record(work.steps))
				must(t, c.run(observed{c.disk, c.cut}, work.steps))
				for _, err := range c.found {
					t.Error(err)
				}
				t.Logf("power cut at %d calls", c.cuts)
			})
		}
	}
}

// TestCrashDetectsLies demands that the tests above fail when the disk forgets what it said was safe: they would prove
// nothing otherwise.
func TestCrashDetectsLies(t *testing.T) {
	for i, work := range workloads() {
		if brief() && i%3 != 0 {
			continue
		}
		for name, lie := range map[string]func(*crasher) file.FS{
			"NoSync": func(c *crasher) file.FS {
				c.options.NoSync = true
				return c.disk
			},
			"disk": func(c *crasher) file.FS { return lying{c.disk} },
		} {
			t.Run(work.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				c := &crasher{options: kv.Options{PageSize: 1024}, disk: file.NewCrash(), seeds: 2}
				under := lie(c)
				must(t, c.record(work.steps))
				must(t, c.run(observed{under, c.cut}, work.steps))
				if len(c.found) == 0 {
					t.Errorf("%d cuts found nothing wrong", c.cuts)
				}
			})
		}
	}
}

// TestCrashNeedsSums demands the same when commits have a single sync and nobody looks at the checksums.
func TestCrashNeedsSums(t *testing.T) {
	for i, work := range workloads() {
		if brief() && i%3 != 0 {
			continue
		}
		t.Run(work.name, func(t *testing.T) {
			t.Parallel()
			c := &crasher{
				options: kv.Gullible(kv.Options{PageSize: 1024, SingleSync: true}), disk: file.NewCrash(), seeds: 2,
			}
			must(t, c.record(work.steps))
			must(t, c.run(observed{c.disk, c.cut}, work.steps))
			if len(c.found) == 0 {
				t.Errorf("%d cuts found nothing wrong", c.cuts)
			}
		})
	}
}

// lying is a file system that makes nothing durable by SyncData and WriteThrough.
type lying struct{ file.FS }

func (l lying) OpenFile(name string, flag int, perm fs.FileMode) (file.File, error) {
	f, err := l.FS.OpenFile(name, flag, perm)
	return lyingFile{f}, err
}

type lyingFile struct{ file.File }

func (lyingFile) SyncData() error { return nil }

func (f lyingFile) WriteThrough(b []byte, off int64) (int, error) { return f.WriteAt(b, off) }

// TestCrashHandle cuts the power at every call of a workload and goes on using the open database: it must return errors
// and keep showing what it has acknowledged.
func TestCrashHandle(t *testing.T) {
	for _, o := range crashOptions {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			c := &crasher{options: o.Options}
			steps := shrinking()
			must(t, c.record(steps))
			step := 1
			if brief() {
				step = 5
			}
			for k := 1; c.cutWhileOpen(t, steps, k); k += step {
			}
		})
	}
}

// cutWhileOpen cuts the power at call k. It returns false if there are not that many.
func (c *crasher) cutWhileOpen(t *testing.T, steps []step, k int) bool {
	c.disk, c.done, c.opened = file.NewCrash(), 0, false
	c.disk.CutAt(k)
	err := c.run(c.disk, steps)
	if err == nil {
		return false
	}
	if !errors.Is(err, file.ErrPowerCut) {
		t.Fatalf("cut %d: %v", k, err)
	}
	for seed := range uint64(3) {
		if err := c.recover(c.disk.AfterCut(seed)); err != nil {
			t.Errorf("cut %d, seed %d: %v", k, seed, err)
		}
	}
	return true
}

// TestCrashAfterKill ends the process at any call, without the system, so that what it wrote can be seen and is not
// durable; opens the database anew, with the same options or with the other number of syncs, and cuts the power while that
// goes on.
func TestCrashAfterKill(t *testing.T) {
	for _, o := range crashOptions {
		other := o.Options
		other.SingleSync = !o.SingleSync
		for name, after := range map[string]kv.Options{o.name: o.Options, o.name + ", then the other number of syncs": other} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				every := times(3, 1)
				if brief() {
					every = 31
				}
				for i, steps := range [][]step{shrinking(), shorteningAlone()} {
					whole := &crasher{options: o.Options}
					must(t, whole.record(steps))
					for k := 1; killThenCut(t, whole, after, steps, k); k += every * (1 + 5*i) { // the latter has many calls
					}
				}
			})
		}
	}
}

// killThenCut returns false if there is no call k.
func killThenCut(t *testing.T, whole *crasher, after kv.Options, steps []step, k int) bool {
	disk := file.NewCrash()
	calls, seen := 0, 0
	w := &world{disk: mortal{disk, func() bool { calls++; return calls >= k }}, options: whole.options}
	err := w.open()
	if err != nil {
		return true // the file is not made yet
	}
	for ; seen < len(steps) && err == nil; seen++ {
		err = steps[seen](w)
	}
	if err != nil {
		seen--
	}
	_ = w.close() // which gives the lock back, as the end of a process does
	if calls < k {
		must(t, err)
		return false
	}
	db := mustOpenSim(t, disk, kv.Options{ReadOnly: true})
	text, err := soundContent(db)
	must(t, err)
	must(t, db.Close())

	c := &crasher{options: after, disk: disk, opened: true, seeds: 2}
	if text != whole.texts[seen] {
		c.before = &whole.texts[seen]
		seen++
	}
	last := min(seen+2, len(steps))
	c.texts = whole.texts[seen : last+1]
	must(t, c.run(observed{disk, c.cut}, steps[seen:last]))
	for _, err := range c.found {
		t.Errorf("killed at call %d: %v", k, err)
	}
	return true
}

// errKilled is what a dead process gets from every call.
var errKilled = errors.New("killed")

// mortal is a file system that changes nothing more once dead says so.
type mortal struct {
	file.FS
	dead func() bool
}

func (m mortal) OpenFile(name string, flag int, perm fs.FileMode) (file.File, error) {
	f, err := m.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return mortalFile{f, m.dead}, nil
}

func (m mortal) SyncDir(dir string) error {
	if m.dead() {
		return errKilled
	}
	return m.FS.SyncDir(dir)
}

// mortalFile is a file of such a file system.
type mortalFile struct {
	file.File
	dead func() bool
}

func (f mortalFile) WriteAt(b []byte, off int64) (int, error) {
	if f.dead() {
		return 0, errKilled
	}
	return f.File.WriteAt(b, off)
}

func (f mortalFile) WriteVecAt(bufs [][]byte, off int64) (int, error) {
	if f.dead() {
		return 0, errKilled
	}
	return f.File.WriteVecAt(bufs, off)
}

func (f mortalFile) WriteThrough(b []byte, off int64) (int, error) {
	if f.dead() {
		return 0, errKilled
	}
	return f.File.WriteThrough(b, off)
}

func (f mortalFile) Truncate(size int64) error {
	if f.dead() {
		return errKilled
	}
	return f.File.Truncate(size)
}

func (f mortalFile) PunchHole(off, length int64) error {
	if f.dead() {
		return errKilled
	}
	return f.File.PunchHole(off, length)
}

func (f mortalFile) SyncData() error {
	if f.dead() {
		return errKilled
	}
	return f.File.SyncData()
}

func (f mortalFile) Sync() error {
	if f.dead() {
		return errKilled
	}
	return f.File.Sync()
}

// TestCrashDuringCompact cuts the power while a database is copied. The copy may be incomplete then, but must be sound,
// and nothing may happen to the original.
func TestCrashDuringCompact(t *testing.T) {
	for _, txMaxSize := range []int64{0, 500} {
		t.Run(fmt.Sprint(txMaxSize), func(t *testing.T) {
			c := &crasher{options: kv.Options{PageSize: 1024}, disk: file.NewCrash()}
			w := &world{disk: c.disk, options: c.options}
			must(t, w.open())
			for _, s := range buckets()[:8] {
				must(t, s(w))
			}
			text, err := soundContent(w.db)
			must(t, err)
			c.texts, c.opened = []string{text}, true

			var complete bool
			n := 0
			disk := observed{c.disk, func() {
				for seed := range uint64(times(3, 100)) {
					left := c.disk.AfterCut(seed)
					n++
					if err := c.recover(left); err != nil {
						t.Errorf("original after cut %d: %v", n, err)
					}
					if err := checkCopy(left, text, complete); err != nil {
						t.Errorf("copy after cut %d: %v", n, err)
					}
				}
			}}
			dst, err := kv.OpenFS(disk, "dir/copy.db", 0o600, &c.options)
			must(t, err)
			must(t, kv.Compact(dst, w.db, txMaxSize))
			complete = true
			must(t, dst.Update(func(*kv.Tx) error { return nil }))
			must(t, dst.Close())
			must(t, w.close())
		})
	}
}

// checkCopy examines an unfinished copy of a database that holds text.
func checkCopy(disk file.FS, text string, complete bool) error {
	db, err := kv.OpenFS(disk, "dir/copy.db", 0o600, &kv.Options{PageSize: 1024})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // of a simulated file
	have, err := soundContent(db)
	if err != nil {
		return err
	}
	if complete && have != text {
		return fmt.Errorf("it is complete, but %s", firstDifference(have, text))
	}
	whole := strings.Split(text, "\n")
	for line := range strings.SplitSeq(have, "\n") {
		for len(whole) > 0 && whole[0] != line {
			whole = whole[1:]
		}
		if len(whole) == 0 {
			return fmt.Errorf("it has %q, and the original does not", line)
		}
	}
	return nil
}

// TestCrashDuringCreate cuts the power while the file is made, and then while it is made again.
func TestCrashDuringCreate(t *testing.T) {
	for _, size := range []int{1024, 4096} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			c := &crasher{
				options: kv.Options{PageSize: size}, disk: file.NewCrash(), texts: []string{""},
				seeds: times(60, 500), nest: times(7, 1),
			}
			must(t, c.run(observed{c.disk, c.cut}, nil))
			for _, err := range c.found {
				t.Error(err)
			}
		})
	}
}

// TestCreateTornHeaders has the meta records of a new file arrive, and nothing else of the write that had them.
func TestCreateTornHeaders(t *testing.T) {
	disk := file.NewCrash()
	var durable []byte
	db, err := openSim(observed{disk, func() {
		if len(disk.Unsynced()) == 2 { // the new name, and a write
			durable = readSim(t, disk.AfterCutKeeping(func(k int) bool { return k == 0 }), simPath)
		}
	}}, kv.Options{PageSize: 1024})
	must(t, err)
	whole := readSim(t, disk, simPath)
	must(t, db.Close())
	if len(durable) != len(whole) {
		t.Fatalf("%d of %d bytes were durable before the last write", len(durable), len(whole))
	}
	for _, at := range []int{16, 1024 + 16} {
		copy(durable[at:at+64], whole[at:])
	}
	db = mustOpenSim(t, memoryWith(t, durable), kv.Options{PageSize: 1024})
	closeClean(t, db)
}
