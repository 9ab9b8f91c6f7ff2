// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"syscall"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// Kinds of failures that users of such allocators report.

// crashesAnywhere runs something on a file with the power cut at each call, and makes sure that it has happened as a
// whole or not at all, and that it has if it was acknowledged.
func crashesAnywhere(t *testing.T, base *file.Crash, run func(a *alloc.GhostTree) error) {
	t.Helper()
	before := payloadOf(t, base.Clone())
	whole := base.Clone()
	a := mustOpenGhost(t, whole)
	check(t, run(a))
	after := mustPeek(t, a.Stack())
	closeGhost(t, a)
	if string(before) == string(after) {
		t.Fatal("nothing happens")
	}
	for call := 1; ; call++ {
		disk := base.Clone()
		disk.CutAt(call)
		a, err := openGhost(disk)
		if err == nil {
			err = run(a)
			_ = a.Stack().Close() // waits for what is under way
		}
		fates(disk, times(12, 60), func(fate string, left *file.Crash) {
			what := fmt.Sprintf("cut at call %d, %s of %q", call, fate, disk.Unsynced())
			a, openErr := openGhost(left)
			if openErr != nil || len(a.Repaired()) > 0 {
				t.Fatalf("%s: %v", what, openErr)
			}
			if got := mustPeek(t, a.Stack()); err == nil || string(got) != string(before) {
				same(t, what, got, after)
			}
			sound(t, a)
			closeGhost(t, a)
		})
		if !disk.IsCut() {
			check(t, err)
			return
		}
	}
}

// withFreeTail is a file with free blocks, the last of which is at the end, and some live regions.
func withFreeTail(t *testing.T) (*file.Crash, ghostImage, []freetree.Block) {
	t.Helper()
	free := []freetree.Block{units(1, 2), units(5, 1), units(9, 4), units(15, 2), units(20, 3), units(25, 1), units(34, 6)}
	p := newGhostImage(t, 40, free...)
	return p.disk(t), p, free
}

// Changes that make the payload longer, shorter, or both on the way, and change the tree as well.
func TestGhostTreeCrashesOfGrowthAndCuts(t *testing.T) {
	base, p, free := withFreeTail(t)
	in := func(k int, n int64) alloc.Region { return alloc.Region{Off: units(k, 0).Off, Len: n} }
	last := in(28, 6*ghostUnit) // in front of the free tail
	for what, run := range map[string]func(a *alloc.GhostTree) error{
		"alloc over the free tail": func(a *alloc.GhostTree) error {
			_, err := a.Alloc(1000)
			return err
		},
		"realloc over the free tail": func(a *alloc.GhostTree) error {
			_, err := a.Realloc(last, 1001)
			return err
		},
		"resize over the free tail": func(a *alloc.GhostTree) error {
			_, err := a.Resize(last, 0, 999)
			return err
		},
		"free before the free tail": func(a *alloc.GhostTree) error { return a.Free(last) },
		"trim": func(a *alloc.GhostTree) error {
			_, err := a.Trim()
			return err
		},
		"cut and grow in a unit": func(a *alloc.GhostTree) error {
			return a.Update(func(b *alloc.Batch) error {
				if err := b.Free(last); err != nil {
					return err
				}
				r, err := b.Alloc(2000)
				if err != nil {
					return err
				}
				return b.WriteAt(r, text(2000, 4), 0)
			})
		},
		"grow and cut in a unit": func(a *alloc.GhostTree) error {
			return a.Update(func(b *alloc.Batch) error {
				r, err := b.Alloc(3000)
				if err != nil {
					return err
				}
				return errors.Join(b.WriteAt(r, text(3000, 4), 0), b.Free(r), b.Free(in(0, ghostUnit)))
			})
		},
		"free the last and change the first": func(a *alloc.GhostTree) error {
			return a.Update(func(b *alloc.Batch) error {
				return errors.Join(b.Free(last), b.WriteAt(a.Reserved(), text(20, 5), 3))
			})
		},
		"bulk of one block": func(a *alloc.GhostTree) error {
			_, err := a.AllocBulk([]int64{33, 0, 1, 32})
			return err
		},
		"bulk of all": func(a *alloc.GhostTree) error {
			return a.FreeBulk([]alloc.Region{
				in(0, 32), in(3, 64), in(6, 96), in(13, 64), in(17, 96), in(23, 64), in(26, 2*32), last,
			})
		},
		"move of an odd length": func(a *alloc.GhostTree) error {
			_, err := a.Realloc(in(6, 95), 777)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) { crashesAnywhere(t, base, run) })
	}
	if len(p) != int(free[6].End()) {
		t.Error("the tail is not free")
	}
}

// What is allocated in bulk from a larger block leaves the rest of that free, and no more.
func TestGhostTreeBulkRemainder(t *testing.T) {
	disk, _, free := withFreeTail(t)
	a := mustOpenGhost(t, disk)
	lens := []int64{1, 0, 33, 32}
	rs, err := a.AllocBulk(lens)
	check(t, err)
	for i, r := range rs {
		if r.Len != lens[i] || r.Len > 0 && (r.Off < free[2].Off || r.End() > free[2].End()) {
			t.Errorf("region %d is %v, not in %v", i, r, free[2])
		}
	}
	accountedFree(t, a, bytesOf(free)-4*ghostUnit)
	sound(t, a)
	check(t, a.FreeBulk(rs))
	if got := freeOf(t, a); !slices.Equal(got, free) {
		t.Errorf("%v are free, want %v", got, free)
	}
	closeGhost(t, a)
}

func bytesOf(blocks []freetree.Block) (n int64) {
	for _, b := range blocks {
		n += b.Size
	}
	return n
}

// A region of any length, also one that is moved in several pieces if it is moved so at all, keeps its bytes.
func TestGhostTreeMovesOddLengths(t *testing.T) {
	for _, n := range []int64{1, 31, 33, 255, 4097, 65535, 65537, 200_001, 1<<20 + 7} {
		disk := newDisk()
		a := mustOpenGhost(t, disk)
		r, err := a.Alloc(n)
		check(t, err)
		_, err = a.View(r).WriteAt(text(int(n), 7), 0)
		check(t, err)
		_, err = a.Alloc(1) // so that it cannot grow where it is
		check(t, err)
		moved, err := a.Realloc(r, n+n/2+33)
		check(t, err)
		if moved.Off == r.Off {
			t.Errorf("%d bytes stayed", n)
		}
		got, err := a.View(moved).Bytes()
		check(t, err)
		same(t, fmt.Sprint(n, " bytes moved"), got, append(text(int(n), 7), make([]byte, n/2+33)...))
		sound(t, a)
		back, err := a.Realloc(moved, n)
		check(t, err)
		got, err = a.View(back).Bytes()
		check(t, err)
		same(t, fmt.Sprint(n, " bytes"), got, text(int(n), 7))
		accounted(t, a, back, alloc.Region{Len: 1})
		sound(t, a)
		closeGhost(t, a)
	}
}

// Lengths and places that are out of all bounds are refused. The file does not become longer, and nothing is touched.
func TestGhostTreeWildNumbers(t *testing.T) {
	disk, p, free := withFreeTail(t)
	a := mustOpenGhost(t, disk)
	live := alloc.Region{Off: ghostArena, Len: ghostUnit}
	was := disk.Counts()
	for what, err := range map[string]error{
		"alloc":             errOf(a.Alloc(math.MaxInt64)),
		"alloc, rounded":    errOf(a.Alloc(math.MaxInt64 - 30)),
		"alloc, negative":   errOf(a.Alloc(-1)),
		"alloc, lowest":     errOf(a.Alloc(math.MinInt64)),
		"alloc uninit":      errOf(a.AllocUninit(math.MaxInt64)),
		"bulk":              errOf(a.AllocBulk([]int64{1, math.MaxInt64, 1})),
		"bulk, sum":         errOf(a.AllocBulk([]int64{math.MaxInt64 / 2, math.MaxInt64 / 2, math.MaxInt64 / 2})),
		"bulk, negative":    errOf(a.AllocBulk([]int64{1, -1})),
		"realloc":           errOf(a.Realloc(live, math.MaxInt64)),
		"realloc, negative": errOf(a.Realloc(live, -5)),
		"resize":            errOf(a.Resize(live, 0, math.MaxInt64)),
		"resize, front":     errOf(a.Resize(live, math.MaxInt64, 0)),
		"resize, both":      errOf(a.Resize(live, math.MaxInt64, math.MaxInt64)),
		"resize, lowest":    errOf(a.Resize(live, math.MinInt64, math.MinInt64)),
		"free, behind":      a.Free(alloc.Region{Off: int64(len(p)), Len: 32}),
		"free, beyond":      a.Free(alloc.Region{Off: units(39, 0).Off, Len: 33}),
		"free, header":      a.Free(alloc.Region{Off: 32, Len: 16}),
		"free, reserved":    a.Free(a.Reserved()),
		"free, not a start": a.Free(alloc.Region{Off: ghostArena + 1, Len: 31}),
		"free, free":        a.Free(regionOf(free[0])),
		"free, partly free": a.Free(alloc.Region{Off: ghostArena, Len: 33}),
		"free, in free":     a.Free(alloc.Region{Off: free[2].Off + 32, Len: 32}),
		"free, negative":    a.Free(alloc.Region{Off: -32, Len: 32}),
		"free, overflow":    a.Free(alloc.Region{Off: math.MaxInt64 - 15, Len: math.MaxInt64}),
		"free, record":      a.Free(alloc.RegionFrom([16]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})),
		"bulk free":         a.FreeBulk([]alloc.Region{live, {Off: math.MaxInt64, Len: 1}}),
		"bulk free, twice":  a.FreeBulk([]alloc.Region{live, live}),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	rest(t, a.Stack())
	if got := disk.Counts().Minus(was); got.Ops != 0 {
		t.Errorf("the file was changed: %+v", got)
	}
	holds(t, a.Stack(), p)
	sound(t, a)
	closeGhost(t, a)
}

// A length that only the file system refuses.
func TestGhostTreeTooLong(t *testing.T) {
	disk, p, _ := withFreeTail(t)
	fault := file.NewFault(disk)
	a := mustOpenGhost(t, fault)
	fault.FailIf(func(op file.Op) error {
		if op.Kind == file.OpTruncate && op.Len > 1<<40 {
			return syscall.EFBIG
		}
		return nil
	})
	for _, n := range []int64{1 << 41, 1 << 62, math.MaxInt64 - 1<<40} {
		for what, err := range map[string]error{
			"alloc":   errOf(a.Alloc(n)),
			"realloc": errOf(a.Realloc(alloc.Region{Off: units(28, 0).Off, Len: 6 * ghostUnit}, n)),
			"move":    errOf(a.Realloc(alloc.Region{Off: ghostArena, Len: ghostUnit}, n)),
			"resize":  errOf(a.Resize(alloc.Region{Off: units(28, 0).Off, Len: 6 * ghostUnit}, 0, n-10*ghostUnit)),
			"bulk":    errOf(a.AllocBulk([]int64{100, n - 100, 0})),
		} {
			refused(t, what, err, syscall.EFBIG)
			holds(t, a.Stack(), p)
			sound(t, a)
		}
	}
	closeGhost(t, a)
}

func errOf[T any](_ T, err error) error { return err }

// In a batch a refusal has done nothing, and the rest goes on.
func TestGhostTreeWildNumbersInABatch(t *testing.T) {
	disk, _, free := withFreeTail(t)
	a := mustOpenGhost(t, disk)
	check(t, a.Update(func(b *alloc.Batch) error {
		_, err := b.Alloc(math.MaxInt64)
		refused(t, "alloc", err, alloc.ErrRange)
		refused(t, "free", b.Free(regionOf(free[1])), alloc.ErrNotAllocated)
		_, err = b.Resize(alloc.Region{Off: ghostArena, Len: 32}, 32, 0)
		refused(t, "resize", err, alloc.ErrUnsupported)
		_, err = b.Alloc(10)
		return err
	}))
	accountedFree(t, a, bytesOf(free)-ghostUnit)
	sound(t, a)
	closeGhost(t, a)
}

// When the disk is full, what needs room is refused and has done nothing; what is at the end can be freed, and with
// the room that comes back everything else.
func TestGhostTreeFullDisk(t *testing.T) {
	var live []alloc.Region
	disk := newDisk()
	fault := file.NewFault(disk)
	a := mustOpenGhost(t, fault)
	for i := range 60 {
		r, err := a.Alloc(int64(50 + 10*(i%9)))
		check(t, err)
		live = append(live, r)
	}
	for i := 0; i < 40; i += 3 {
		check(t, a.Free(live[i]))
		live[i] = alloc.Region{}
	}
	rest(t, a.Stack())
	limit := headerSize + a.Stack().Len()
	fault.FailIf(func(op file.Op) error {
		grows := op.Kind == file.OpTruncate && op.Len > limit ||
			(op.Kind == file.OpWrite || op.Kind == file.OpWriteVec) && op.Off+op.Len > limit
		if grows {
			return syscall.ENOSPC
		}
		return nil
	})
	before := mustPeek(t, a.Stack())
	for what, err := range map[string]error{
		"alloc":   errOf(a.Alloc(5000)),
		"free":    a.Free(live[10]),
		"realloc": errOf(a.Realloc(live[10], 1000)),
	} {
		refused(t, what, err, syscall.ENOSPC)
		holds(t, a.Stack(), before)
		sound(t, a)
	}
	for i := len(live) - 1; i >= 45; i-- { // from the end: nothing needs room
		check(t, a.Free(live[i]))
		sound(t, a)
	}
	for _, r := range live[:45] { // and now there is some
		check(t, a.Free(r))
		sound(t, a)
	}
	if a.Stack().Len() != ghostArena {
		t.Errorf("%d bytes are left", a.Stack().Len())
	}
	closeGhost(t, a)
}

// Freeing what was just allocated leaves the blocks that were free before, except one at the end, and no byte of it.
func TestGhostTreeFreesWhatItAllocated(t *testing.T) {
	disk, p, free := withFreeTail(t)
	a := mustOpenGhost(t, disk)
	for n := int64(1); n < 400; n += 3 {
		r, err := a.Alloc(n)
		check(t, err)
		_, err = a.View(r).WriteAt(text(int(n), 3), 0)
		check(t, err)
		check(t, a.Free(r))
		sound(t, a)
		if got := freeOf(t, a); !slices.Equal(got, free) && !slices.Equal(got, free[:6]) {
			t.Fatalf("after %d bytes %v are free, before %v", n, got, free)
		}
		untouched(t, "live bytes", a, p, free)
	}
	closeGhost(t, a)
}

// The length of the file is durable with the change that needs it, and a file that lost its end is a shorter payload,
// not a wild tree.
func TestGhostTreeLostEnd(t *testing.T) {
	disk := newDisk()
	a := mustOpenGhost(t, disk)
	var live []alloc.Region
	for i := range 20 {
		r, err := a.Alloc(int64(100 + i))
		check(t, err)
		live = append(live, r)
		left, err := openGhost(disk.AfterCutKeeping(file.KeepNone))
		check(t, err)
		accounted(t, left, live...)
		closeGhost(t, left)
	}
	for i := 0; i < 18; i += 2 {
		check(t, a.Free(live[i]))
	}
	whole := ghostImage(mustPeek(t, a.Stack()))
	closeGhost(t, a)
	for n := range len(whole) {
		p := whole[:n].clone()
		a, err := openGhost(p.disk(t))
		if err != nil {
			if _, ok := errors.AsType[*stack.CorruptError](err); !ok && (n >= ghostArena || !errors.Is(err, alloc.ErrFormat)) {
				t.Fatalf("%d bytes: %v", n, err)
			}
			continue
		}
		if n > 0 { // an empty one is new
			for _, b := range freeOf(t, a) {
				if b.End() > int64(n+ghostUnit) {
					t.Fatalf("%d bytes: %v is free", n, b)
				}
			}
		}
		sound(t, a)
		closeGhost(t, a)
	}
}
