// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/internal/file"
)

// found returns the contents of a file, and false if there is none of that name.
func found(t *testing.T, disk file.FS, name string) (string, bool) {
	t.Helper()
	f, err := disk.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		wantErr(t, err, fs.ErrNotExist)
		return "", false
	}
	defer func() { must(t, f.Close()) }()
	return content(t, f), true
}

// durable makes a file whose name and contents are durable.
func durable(t *testing.T, disk *file.Crash, name, text string) file.File {
	t.Helper()
	f := fixture{disk, ""}.create(t, name)
	write(t, f, 0, text)
	must(t, f.Sync())
	must(t, disk.SyncDir("."))
	return f
}

// outcomes collects the contents of a file after many cuts.
func outcomes(t *testing.T, disk *file.Crash, name string, seeds uint64) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for seed := range seeds {
		text, ok := found(t, disk.AfterCut(seed), name)
		if !ok {
			text = "(none)"
		}
		seen[text]++
	}
	return seen
}

func wantOutcomes(t *testing.T, got map[string]int, want ...string) {
	t.Helper()
	for _, w := range want {
		if got[w] == 0 {
			t.Errorf("never found: %q", w)
		}
	}
	for g := range got {
		if !slices.Contains(want, g) {
			t.Errorf("impossible outcome: %q", g)
		}
	}
}

func TestCrashSubsets(t *testing.T) {
	disk := file.NewCrash()
	f := durable(t, disk, "f", "....")
	for i := range 4 {
		write(t, f, int64(i), "x")
	}
	var all []string
	for mask := range 16 {
		text := []byte("....")
		for i := range text {
			if mask>>i&1 == 1 {
				text[i] = 'x'
			}
		}
		all = append(all, string(text))
		after := disk.AfterCutKeeping(func(i int) bool { return mask>>i&1 == 1 })
		if got, _ := found(t, after, "f"); got != string(text) {
			t.Errorf("subset %04b: %q, want %q", mask, got, text)
		}
	}
	wantOutcomes(t, outcomes(t, disk, "f", 2000), all...)

	must(t, f.SyncData())
	wantOutcomes(t, outcomes(t, disk, "f", 20), "xxxx")
}

func TestCrashOverwrites(t *testing.T) {
	disk := file.NewCrash()
	f := durable(t, disk, "f", "old")
	write(t, f, 0, "one")
	write(t, f, 0, "two")
	wantOutcomes(t, outcomes(t, disk, "f", 200), "old", "one", "two")
}

// TestCrashWriteThrough demands that a write is durable, and that others stay at risk, but for what it has overwritten.
func TestCrashWriteThrough(t *testing.T) {
	through := func(f file.File, text string, off int64) {
		t.Helper()
		if n, err := f.WriteThrough([]byte(text), off); n != len(text) || err != nil {
			t.Fatalf("WriteThrough = %d, %v", n, err)
		}
	}
	disk := file.NewCrash()
	disk.SetSector(0)
	f := durable(t, disk, "f", "......")
	write(t, f, 0, "aa")
	write(t, f, 1, "bbbb")
	through(f, "cc", 2)
	wantOutcomes(t, outcomes(t, disk, "f", 500), "..cc..", "aacc..", ".bccb.", ".bcc..", "..ccb.", "abccb.", "abcc..", "aaccb.")
	through(f, "d", 7)
	write(t, f, 7, "e")
	wantContent(t, f, "abccb.\x00e")
	for text := range outcomes(t, disk, "f", 100) {
		if len(text) != 8 || text[2:4] != "cc" {
			t.Errorf("found %q", text)
		}
	}
	must(t, f.Truncate(3))
	through(f, "g", 4)
	wantOutcomes(t, outcomes(t, disk, "f", 100), "abc\x00g")

	disk.CutAt(1)
	if _, err := f.WriteThrough([]byte("h"), 0); err == nil {
		t.Error("no error when the power went")
	}
	wantOutcomes(t, outcomes(t, disk, "f", 100), "abc\x00g", "hbc\x00g")
}

func TestCrashLengthAndData(t *testing.T) {
	disk := file.NewCrash()
	f := durable(t, disk, "f", "ab")
	write(t, f, 3, "z")
	wantOutcomes(t, outcomes(t, disk, "f", 200),
		"ab",         // all lost
		"ab\x00\x00", // the length survived
		"ab\x00z",    // the data survived, and perhaps the length
	)
	must(t, f.Truncate(1))
	wantOutcomes(t, outcomes(t, disk, "f", 500), "ab", "ab\x00\x00", "ab\x00z", "a")
	must(t, f.Sync())
	wantOutcomes(t, outcomes(t, disk, "f", 20), "a")

	must(t, f.Truncate(3))
	wantOutcomes(t, outcomes(t, disk, "f", 50), "a", "a\x00\x00")
	must(t, f.SyncData())
	must(t, f.PunchHole(0, 1))
	wantOutcomes(t, outcomes(t, disk, "f", 50), "a\x00\x00", "\x00\x00\x00")
}

func TestCrashNames(t *testing.T) {
	disk := file.NewCrash()
	f := fixture{disk, ""}.create(t, "f")
	write(t, f, 0, "text")
	must(t, f.Sync())
	wantOutcomes(t, outcomes(t, disk, "f", 100), "(none)", "text") // synced contents are no use without a name
	must(t, disk.SyncDir("elsewhere"))
	wantOutcomes(t, outcomes(t, disk, "f", 100), "(none)", "text")
	must(t, disk.SyncDir(""))
	wantOutcomes(t, outcomes(t, disk, "f", 20), "text")

	g := fixture{disk, ""}.create(t, "g")
	write(t, g, 0, "new")
	must(t, disk.SyncDir("."))
	wantOutcomes(t, outcomes(t, disk, "g", 100), "", zeros(3), "new") // a name is no use without contents
	must(t, g.SyncData())

	must(t, disk.Rename("g", "f"))
	wantOutcomes(t, outcomes(t, disk, "f", 100), "text", "new")
	for seed := range uint64(100) {
		after := disk.AfterCut(seed)
		text, _ := found(t, after, "f")
		if _, ok := found(t, after, "g"); ok == (text == "new") {
			t.Fatalf("seed %d: half a rename: f has %q, g exists: %v", seed, text, ok)
		}
	}
	must(t, disk.SyncDir("."))
	must(t, disk.Remove("f"))
	wantOutcomes(t, outcomes(t, disk, "f", 100), "(none)", "new")
	must(t, disk.SyncDir("."))
	wantOutcomes(t, outcomes(t, disk, "f", 20), "(none)")
}

func TestCrashSyncsOneFile(t *testing.T) {
	disk := file.NewCrash()
	f, g := durable(t, disk, "f", "old"), durable(t, disk, "g", "old")
	write(t, f, 0, "new")
	write(t, g, 0, "new")
	must(t, g.Sync())
	wantOutcomes(t, outcomes(t, disk, "f", 100), "old", "new")
	wantOutcomes(t, outcomes(t, disk, "g", 20), "new")
	must(t, fixture{disk, ""}.create(t, "f").Sync()) // whoever wrote
	wantOutcomes(t, outcomes(t, disk, "f", 20), "new")
}

func TestCrashAgain(t *testing.T) {
	disk := file.NewCrash()
	write(t, durable(t, disk, "f", "old"), 0, "one")
	disk.Cut()
	after := disk.AfterCutKeeping(file.KeepAll)
	f := fixture{after, ""}.create(t, "f")
	write(t, f, 0, "two")
	wantOutcomes(t, outcomes(t, after, "f", 100), "one", "two")
	wantOutcomes(t, outcomes(t, disk, "f", 100), "old", "one")
}

func TestCrashTearing(t *testing.T) {
	for _, sector := range []int{0, 1, 512, 4096} {
		t.Run(fmt.Sprint(sector), func(t *testing.T) {
			disk := file.NewCrash()
			disk.SetSector(sector)
			f := durable(t, disk, "f", strings.Repeat("o", 10000))
			const start, end = 100, 9000
			write(t, f, start, strings.Repeat("n", end-start))
			torn, headless := 0, 0
			for seed := range uint64(300) {
				text, _ := found(t, disk.AfterCut(seed), "f")
				checkTorn(t, text, start, end, sector)
				news := strings.Count(text, "n")
				if news > 0 && news < end-start {
					torn++
					if text[start] == 'o' {
						headless++
					}
				}
			}
			if sector == 0 && torn > 0 {
				t.Errorf("%d torn writes, though writes are whole", torn)
			}
			if sector != 0 && (headless == 0 || headless == torn) {
				t.Errorf("%d torn writes, of which %d lost their beginning", torn, headless)
			}
		})
	}
}

// checkTorn demands old bytes outside [start, end), and inside changes between old and new ones at sectors only.
func checkTorn(t *testing.T, text string, start, end, sector int) {
	t.Helper()
	if len(text) != 10000 || strings.Trim(text, "on") != "" {
		t.Fatalf("%d bytes, some neither old nor new: %q", len(text), text)
	}
	if strings.Contains(text[:start]+text[end:], "n") {
		t.Fatal("new bytes outside the write")
	}
	for i := start + 1; i < end; i++ {
		if text[i] != text[i-1] && (sector == 0 || i%sector != 0) {
			t.Fatalf("torn at byte %d", i)
		}
	}
}

// workload is a run of mutating calls, of which it reports how many succeeded.
func workload(disk file.FS) (done int, err error) {
	var f file.File
	steps := []func() error{
		func() (err error) { f, err = disk.OpenFile("tmp", os.O_RDWR|os.O_CREATE, 0o600); return err },
		func() error { _, err := f.WriteAt([]byte("1234"), 0); return err },
		func() error { _, err := f.WriteVecAt([][]byte{[]byte("56"), []byte("78")}, 4); return err },
		func() error { _, err := f.WriteThrough([]byte("78"), 6); return err },
		func() error { return f.Truncate(7) },
		func() error { return f.SyncData() },
		func() error { return f.PunchHole(0, 1) },
		func() error { return f.Sync() },
		func() error { return disk.Rename("tmp", "f") },
		func() error { return disk.SyncDir(".") },
		func() error { return disk.Remove("f") },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			return i, err
		}
	}
	return len(steps), nil
}

func TestCrashCutAt(t *testing.T) {
	total, err := workload(file.NewCrash())
	must(t, err)
	for k := 1; k <= total+1; k++ {
		disk := file.NewCrash()
		disk.CutAt(k)
		done, err := workload(disk)
		if k > total {
			must(t, err)
			if disk.IsCut() {
				t.Error("cut after the end")
			}
			break
		}
		wantErr(t, err, file.ErrPowerCut)
		if done != k-1 || !disk.IsCut() || disk.Counts().Ops != k {
			t.Errorf("cut at %d: %d calls succeeded, cut: %v, counts %+v", k, done, disk.IsCut(), disk.Counts())
		}
		_, err = workload(disk)
		wantErr(t, err, file.ErrPowerCut)
		if disk.Counts().Ops != k {
			t.Errorf("cut at %d: later calls are counted: %+v", k, disk.Counts())
		}
	}
}

func TestCrashFailingCallTakesEffectLater(t *testing.T) {
	disk := file.NewCrash()
	f := durable(t, disk, "f", "old")
	disk.CutAt(1)
	_, err := f.WriteAt([]byte("new"), 0)
	wantErr(t, err, file.ErrPowerCut)
	_, err = f.WriteAt([]byte("xxx"), 0)
	wantErr(t, err, file.ErrPowerCut)
	wantContent(t, f, "old")
	wantOutcomes(t, outcomes(t, disk, "f", 100), "old", "new")

	disk = file.NewCrash()
	f = durable(t, disk, "f", "old")
	write(t, f, 0, "new")
	disk.CutAt(1)
	wantErr(t, f.Sync(), file.ErrPowerCut)
	wantOutcomes(t, outcomes(t, disk, "f", 100), "old", "new")
}

func TestCrashExtremes(t *testing.T) {
	disk := file.NewCrash()
	f := durable(t, disk, "f", "old")
	write(t, f, 2, "new")
	must(t, disk.Rename("f", "g"))
	fixture{disk, ""}.create(t, "h")

	want := []string{"grow g to 5", "write g [2,5)", "rename f to g", "create h"}
	if got := disk.Unsynced(); !slices.Equal(got, want) {
		t.Errorf("Unsynced() = %q, want %q", got, want)
	}
	best, worst := disk.AfterCutKeeping(file.KeepAll), disk.AfterCutKeeping(file.KeepNone)
	if text, _ := found(t, best, "g"); text != "olnew" {
		t.Errorf("all kept: %q", text)
	}
	if text, _ := found(t, worst, "f"); text != "old" {
		t.Errorf("none kept: %q", text)
	}
	if _, ok := found(t, worst, "h"); ok {
		t.Error("none kept, but the new file is there")
	}
	if left := best.Unsynced(); len(left) != 0 {
		t.Errorf("not durable after the power came back: %q", left)
	}
}

// TestCrashRenameElsewhere is about the two directories of a rename, of which each is durable for itself.
func TestCrashRenameElsewhere(t *testing.T) {
	disk := file.NewCrash()
	durable(t, disk, filepath.Join("x", "f"), "text")
	must(t, disk.SyncDir("x"))
	must(t, disk.Rename(filepath.Join("x", "f"), filepath.Join("y", "f")))
	ways := func() map[string]bool {
		all := map[string]bool{}
		for seed := range uint64(100) {
			after, where := disk.AfterCut(seed), ""
			for _, dir := range []string{"x", "y"} {
				if text, ok := found(t, after, filepath.Join(dir, "f")); ok && text == "text" {
					where += dir
				}
			}
			all[where] = true
		}
		return all
	}
	if got := ways(); !maps.Equal(got, map[string]bool{"": true, "x": true, "y": true, "xy": true}) {
		t.Errorf("renamed: %v", got)
	}
	must(t, disk.SyncDir("y"))
	if got := ways(); !maps.Equal(got, map[string]bool{"y": true, "xy": true}) {
		t.Errorf("new directory synced: %v", got)
	}
	must(t, disk.SyncDir("x"))
	if got := ways(); !maps.Equal(got, map[string]bool{"y": true}) {
		t.Errorf("both synced: %v", got)
	}
}

func TestCrashCounts(t *testing.T) {
	disk := file.NewCrash()
	_, err := workload(disk)
	must(t, err)
	want := file.Counts{
		Ops: 11, Writes: 3, Throughs: 1, WriteBytes: 10, Truncates: 1, Punches: 1, DataSyncs: 1, Syncs: 1, DirSyncs: 1,
		Creates: 1, Renames: 1, Removes: 1,
	}
	if got := disk.Counts(); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

func TestCrashClone(t *testing.T) {
	disk := file.NewCrash()
	f := durable(t, disk, "f", "old")
	write(t, f, 0, "one")
	disk.CutAt(1)
	clone := disk.Clone()
	g := fixture{clone, ""}.create(t, "f")
	wantContent(t, g, "one")
	wantOutcomes(t, outcomes(t, clone, "f", 50), "old", "one")
	write(t, g, 0, "two") // its power is on, and stays
	wantContent(t, f, "one")
	wantOutcomes(t, outcomes(t, disk, "f", 50), "old", "one")
	must(t, g.Sync())
	wantOutcomes(t, outcomes(t, clone, "f", 20), "two")
	wantOutcomes(t, outcomes(t, disk, "f", 50), "old", "one")
}

func TestMemoryLosesNothing(t *testing.T) {
	disk := file.NewMemory()
	f := fixture{disk, ""}.create(t, "f")
	write(t, f, 0, "one")
	if left := disk.Unsynced(); len(left) != 0 {
		t.Errorf("not durable: %q", left)
	}
	disk.Cut()
	_, err := f.WriteAt([]byte("two"), 0)
	wantErr(t, err, file.ErrPowerCut)
	for _, after := range []*file.Crash{disk.AfterCut(1), disk.Clone(), disk.AfterCutKeeping(file.KeepNone)} {
		g := fixture{after, ""}.create(t, "f")
		wantContent(t, g, "one")
		write(t, g, 3, "more")
		wantContent(t, f, "one")
		wantOutcomes(t, outcomes(t, after, "f", 5), "onemore")
	}
}

func TestCrashMappingMisuse(t *testing.T) {
	f := fixture{file.NewCrash(), ""}.create(t, "f")
	write(t, f, 0, "text")
	m, err := f.Map(4, file.MapOptions{})
	must(t, err)
	b := m.Bytes()
	must(t, m.Unmap())
	if string(b) == "text" {
		t.Error("the bytes are still good after Unmap")
	}
	wantContent(t, f, "text")

	m, err = f.Map(4, file.MapOptions{})
	must(t, err)
	m.Bytes()[1] = 'x'
	if err := m.Unmap(); err == nil {
		t.Error("a mapping that was written to went unnoticed")
	}
	wantContent(t, f, "text")
}

// TestCrashMappingReaders is for the race detector: bytes may be read while others are written.
func TestCrashMappingReaders(t *testing.T) {
	f := fixture{file.NewCrash(), ""}.create(t, "f")
	write(t, f, 0, "fixed")
	m, err := f.Map(4096, file.MapOptions{})
	must(t, err)
	defer func() { must(t, m.Unmap()) }()
	done := make(chan bool)
	go func() {
		defer close(done)
		for range 1000 {
			if string(m.Bytes()[:5]) != "fixed" {
				t.Error("bytes changed that were not written")
				return
			}
		}
	}()
	for i := range 100 {
		write(t, f, int64(5+i), "moving")
		must(t, f.Truncate(int64(5+i)))
		must(t, f.Truncate(int64(4096+i)))
	}
	<-done
}
