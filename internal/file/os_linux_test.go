// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/holtdb/holt/internal/file"
)

func TestSyncsDoNotAllocate(t *testing.T) {
	f := fixture{file.OS, t.TempDir()}.create(t, "f")
	page := make([]byte, 4096)
	allocs := testing.AllocsPerRun(5, func() {
		must(t, f.SyncData())
		if n, err := f.WriteThrough(page, 4096); n != len(page) || err != nil {
			t.Fatalf("WriteThrough = %d, %v", n, err)
		}
	})
	if allocs != 0 && !raceEnabled {
		t.Errorf("SyncData and WriteThrough allocate %v times", allocs)
	}
}

func TestVectorsDoNotAllocate(t *testing.T) {
	f := fixture{file.OS, t.TempDir()}.create(t, "f")
	bufs := make([][]byte, 1500)
	for i := range bufs {
		bufs[i] = make([]byte, 16)
	}
	allocs := testing.AllocsPerRun(20, func() {
		if n, err := f.WriteVecAt(bufs, 0); n != 1500*16 || err != nil {
			t.Fatalf("WriteVecAt = %d, %v", n, err)
		}
		if n, err := f.ReadVecAt(bufs, 0); n != 1500*16 || err != nil {
			t.Fatalf("ReadVecAt = %d, %v", n, err)
		}
	})
	if allocs != 0 && !raceEnabled {
		t.Errorf("WriteVecAt and ReadVecAt allocate %v times", allocs)
	}
}

func TestDiskFull(t *testing.T) {
	dev, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no device that is always full:", err)
	}
	f := file.Wrap(dev)
	defer func() { must(t, f.Close()) }()
	_, err = f.WriteAt([]byte("x"), 0)
	wantErr(t, err, unix.ENOSPC)
	_, err = f.WriteThrough([]byte("x"), 0)
	wantErr(t, err, unix.ENOSPC)
	n, err := f.WriteVecAt([][]byte{{'x'}, {'y'}}, 0)
	wantErr(t, err, unix.ENOSPC)
	if n != 0 {
		t.Errorf("%d bytes written to a full device", n)
	}
}

// TestFileSizeLimit makes the kernel cut a vectored write short and demands that the count is right.
func TestFileSizeLimit(t *testing.T) {
	f := fixture{file.OS, t.TempDir()}.create(t, "f")
	var old unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &old))
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 10, Max: old.Max}))
	n, err := f.WriteVecAt([][]byte{[]byte("01234"), nil, []byte("56"), []byte("789abcd"), []byte("ef")}, 0)
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &old))
	if n != 10 {
		t.Errorf("%d bytes written, want 10", n)
	}
	wantErr(t, err, unix.EFBIG)
	wantContent(t, f, "0123456789")
}

// TestShortReads reads a file that the kernel hands out in pieces, of which several fit into one buffer.
func TestShortReads(t *testing.T) {
	proc, err := os.Open("/proc/kallsyms")
	if err != nil {
		t.Skip("no file that is read in pieces:", err)
	}
	f := file.Wrap(proc)
	defer func() { must(t, f.Close()) }()
	want := make([]byte, 100_000)
	if _, err := f.ReadAt(want, 0); err != nil {
		t.Skip("too short a file:", err)
	}
	got := make([]byte, len(want))
	n, err := f.ReadVecAt([][]byte{got[:10], got[10:70_000], got[70_000:]}, 0)
	must(t, err)
	if n != len(want) || !bytes.Equal(got, want) {
		t.Errorf("%d bytes read, differing from those of ReadAt", n)
	}
}

func TestMappingFaultsBeyondTheEnd(t *testing.T) {
	f := fixture{file.OS, t.TempDir()}.create(t, "f")
	must(t, f.Truncate(1))
	page := os.Getpagesize()
	m, err := f.Map(4*page, file.MapOptions{Flags: unix.MAP_POPULATE})
	must(t, err)
	defer func() { must(t, m.Unmap()) }()
	faults := func(i int) (faulted bool) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() { faulted = recover() != nil }()
		return m.Bytes()[i] == 1
	}
	if faults(0) || !faults(2*page) {
		t.Error("faults where the file is, or not where it is not")
	}
	must(t, f.Truncate(int64(3*page)))
	if faults(2*page) || !faults(3*page) {
		t.Error("the mapping did not grow with the file")
	}
}

func TestPunchHoleFreesSpace(t *testing.T) {
	f := fixture{file.OS, t.TempDir()}.create(t, "f")
	write(t, f, 0, string(make([]byte, 1<<20)))
	must(t, f.Sync())
	before := blocks(t, f)
	if err := f.PunchHole(0, 1<<20); err != nil {
		t.Skip("no holes here:", err)
	}
	if after := blocks(t, f); after >= before {
		t.Errorf("%d blocks before and %d after", before, after)
	}
}

func blocks(t *testing.T, f file.File) int64 {
	t.Helper()
	info, err := f.Stat()
	must(t, err)
	return info.Sys().(*syscall.Stat_t).Blocks
}

func TestSyncDirOfNothing(t *testing.T) {
	wantErr(t, file.OS.SyncDir(filepath.Join(t.TempDir(), "none")), os.ErrNotExist)
}
