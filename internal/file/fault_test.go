// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holtdb/holt/internal/file"
)

// everyCall makes each call that can fail once, and goes on when one does.
func everyCall(disk file.FS) (kinds []file.OpKind, errs []error) {
	do := func(kind file.OpKind, err error) {
		kinds = append(kinds, kind)
		errs = append(errs, err)
	}
	f, err := disk.OpenFile("f", os.O_RDWR|os.O_CREATE, 0o600)
	do(file.OpOpen, err)
	if f == nil {
		return kinds, errs
	}
	b := make([]byte, 4)
	_, err = f.WriteAt(b, 0)
	do(file.OpWrite, err)
	_, err = f.WriteVecAt([][]byte{b, b}, 0)
	do(file.OpWriteVec, err)
	_, err = f.WriteThrough(b, 4)
	do(file.OpThrough, err)
	do(file.OpTruncate, f.Truncate(4))
	_, err = f.ReadAt(b, 0)
	do(file.OpRead, err)
	_, err = f.ReadVecAt([][]byte{b}, 0)
	do(file.OpReadVec, err)
	_, err = f.Size()
	do(file.OpStat, err)
	_, err = f.Stat()
	do(file.OpStat, err)
	do(file.OpPunch, f.PunchHole(0, 1))
	do(file.OpSync, f.Sync())
	do(file.OpSyncData, f.SyncData())
	do(file.OpLock, f.TryLock(true))
	do(file.OpUnlock, f.Unlock())
	m, err := f.Map(4, file.MapOptions{})
	do(file.OpMap, err)
	if m != nil {
		do(file.OpMlock, m.Lock(4))
		do(file.OpMunlock, m.Unlock(4))
		do(file.OpUnmap, m.Unmap())
	}
	do(file.OpClose, f.Close())
	_, err = disk.Stat("f")
	do(file.OpStat, err)
	do(file.OpRename, disk.Rename("f", "g"))
	do(file.OpChtimes, disk.Chtimes("g", time.Unix(1, 0)))
	_, err = disk.ReadDir(".")
	do(file.OpReadDir, err)
	_, err = disk.Subdirs(".")
	do(file.OpReadDir, err)
	do(file.OpRemove, disk.Remove("g"))
	do(file.OpSyncDir, disk.SyncDir("."))
	return kinds, errs
}

func TestFaultFailsEachCall(t *testing.T) {
	disk := file.NewFault(file.NewMemory())
	all, errs := everyCall(disk)
	must(t, errors.Join(errs...))
	if disk.Calls() != len(all) || len(disk.Injected()) != 0 {
		t.Fatalf("%d calls counted of %d, injected %v", disk.Calls(), len(all), disk.Injected())
	}
	for k := 1; ; k++ {
		disk := file.NewFault(file.NewMemory())
		disk.FailAt(k)
		kinds, errs := everyCall(disk)
		injected := disk.Injected()
		if len(injected) == 0 {
			if k != len(all)+1 {
				t.Errorf("nothing failed at %d of %d", k, len(all))
			}
			break
		}
		wantErr(t, errs[k-1], file.ErrInjected)
		if len(injected) != 1 || injected[0].N != k || injected[0].Kind != all[k-1] || kinds[k-1] != all[k-1] {
			t.Errorf("call %d, a %s, was to fail; injected: %v", k, all[k-1], injected)
		}
		if !strings.Contains(errs[k-1].Error(), string(all[k-1])) {
			t.Errorf("%q does not name the %s", errs[k-1], all[k-1])
		}
	}
}

func TestFaultFailFrom(t *testing.T) {
	disk := file.NewFault(file.NewMemory())
	disk.FailFrom(3)
	_, errs := everyCall(disk)
	for i, err := range errs {
		if errors.Is(err, file.ErrInjected) != (i >= 2) {
			t.Errorf("call %d: %v", i+1, err)
		}
	}
	disk.FailIf(nil)
	_, errs = everyCall(disk)
	must(t, errors.Join(errs...))
}

func TestFaultFailIf(t *testing.T) {
	disk := file.NewFault(file.NewMemory())
	disk.FailIf(func(op file.Op) error {
		if op.Kind == file.OpWriteVec && op.Name == "f" && op.Off == 0 && op.Len == 8 {
			return syscall.ENOSPC
		}
		return nil
	})
	kinds, errs := everyCall(disk)
	err := errs[slices.Index(kinds, file.OpWriteVec)]
	wantErr(t, err, file.ErrInjected)
	wantErr(t, err, syscall.ENOSPC)
	fault, ok := errors.AsType[*file.FaultError](err)
	if !ok || fault.Op.Kind != file.OpWriteVec || len(disk.Injected()) != 1 {
		t.Errorf("error %v, injected %v", err, disk.Injected())
	}
}

func TestFaultFailRandomly(t *testing.T) {
	run := func(p float64, seed uint64) []file.Op {
		disk := file.NewFault(file.NewMemory())
		disk.FailRandomly(p, seed)
		for range 20 {
			everyCall(disk)
		}
		return disk.Injected()
	}
	if n := len(run(0, 1)); n != 0 {
		t.Errorf("%d failures with probability 0", n)
	}
	first := run(0.3, 1)
	if len(first) == 0 || !slices.Equal(first, run(0.3, 1)) || slices.Equal(first, run(0.3, 2)) {
		t.Error("failures do not follow the seed")
	}
}

func TestFaultShortWrites(t *testing.T) {
	for _, tc := range []struct {
		bufs  []string
		short int
		want  string
	}{
		{[]string{"012345"}, 0, "......"},
		{[]string{"012345"}, 4, "0123.."},
		{[]string{"012345"}, 6, "01234."},
		{[]string{"012345"}, 99, "01234."},
		{[]string{"012", "", "345"}, 4, "0123.."},
		{[]string{"012", "345"}, 3, "012..."},
		{[]string{"", ""}, 3, "......"},
		{nil, 3, "......"},
	} {
		under := file.NewMemory()
		disk := file.NewFault(under)
		f := fixture{disk, ""}.create(t, "f")
		write(t, f, 0, "......")
		ops := under.Counts().Ops
		disk.ShortWrites(tc.short)
		disk.FailAt(1)
		var bufs [][]byte
		for _, s := range tc.bufs {
			bufs = append(bufs, []byte(s))
		}
		var n int
		var err error
		if len(bufs) == 1 {
			n, err = f.WriteAt(bufs[0], 0)
		} else {
			n, err = f.WriteVecAt(bufs, 0)
		}
		wantErr(t, err, file.ErrInjected)
		wantContent(t, f, tc.want)
		if n != strings.IndexByte(tc.want+".", '.') {
			t.Errorf("%q, short %d: %d bytes said to be written", tc.bufs, tc.short, n)
		}
		if n == 0 && under.Counts().Ops != ops {
			t.Errorf("%q, short %d: an empty write was made", tc.bufs, tc.short)
		}
	}
}

func TestFaultCloseCloses(t *testing.T) {
	disk := file.NewFault(file.NewMemory())
	a, b := fixture{disk, ""}.create(t, "f"), fixture{disk, ""}.create(t, "f")
	must(t, a.TryLock(true))
	disk.FailAt(1)
	wantErr(t, a.Close(), file.ErrInjected)
	must(t, b.TryLock(true))
}
