// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// Each mutation costs exactly as many syncs as it should: until it is acknowledged, and altogether.
func TestSyncs(t *testing.T) {
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			disk := diskWith(t, m.before())
			fs, gate := gated(disk)
			s := open(t, fs, nil)
			gate.Allow(1)
			warm(t, s)
			s.Rest()
			was := disk.Counts().DataSyncs
			if s.IsEmpty() {
				gate.Allow(-1)
			}
			gate.Allow(m.cost.acked)
			_, err := m.run(s)
			check(t, err)
			if n := disk.Counts().DataSyncs - was; n != m.cost.acked {
				t.Errorf("%d syncs until it was acknowledged, want %d", n, m.cost.acked)
			}
			gate.Open()
			s.Rest()
			now := disk.Counts()
			if n := now.DataSyncs - was; n != m.cost.total {
				t.Errorf("%d syncs altogether, want %d", n, m.cost.total)
			}
			check(t, s.Close())
			if left := minus(disk.Counts(), now); left != (file.Counts{Ops: left.Truncates, Truncates: min(left.Truncates, 1)}) {
				t.Errorf("Close made calls other than to cut off what was left of the journal: %+v", left)
			}
		})
	}
}

// What some mutations do to the file, to the last call.
func TestCalls(t *testing.T) {
	far := make([]stack.Piece, 100)
	for i := range far {
		far[i] = stack.Piece{Off: int64(i * 7), Data: text(5, 1)}
	}
	for _, c := range []struct {
		name string
		run  func(s *stack.Stack) error
		want file.Counts
	}{
		{"push", only(func(s *stack.Stack) (int64, error) { return s.Push(text(300, 1)) }), file.Counts{
			Writes: 2, WriteBytes: 300 + 24, DataSyncs: 2,
		}},
		{"extend", only(func(s *stack.Stack) (int64, error) { return s.Extend(300) }), file.Counts{
			Writes: 1, WriteBytes: 24, Truncates: 1, DataSyncs: 1,
		}},
		{"pop", only(func(s *stack.Stack) ([]byte, error) { return s.Pop(300) }), file.Counts{
			Reads: 1, ReadBytes: 300, Writes: 1, WriteBytes: 24, Truncates: 1, DataSyncs: 1,
		}},
		{"discard", func(s *stack.Stack) error { return s.Discard(300) }, file.Counts{
			Writes: 1, WriteBytes: 24, Truncates: 1, DataSyncs: 1,
		}},
		{"set in a block", func(s *stack.Stack) error { return s.Set(0, text(224, 1)) }, file.Counts{
			Reads: 1, ReadBytes: 224, Writes: 1, WriteBytes: 224, DataSyncs: 1,
		}},
		{"set across blocks", func(s *stack.Stack) error { return s.Set(0, text(225, 1)) }, file.Counts{
			Writes: 4, WriteBytes: 225 + 24 + 225 + 24, DataSyncs: 4,
		}},
		{"set a hundred pieces", func(s *stack.Stack) error { return s.SetBatched(far) }, file.Counts{
			Writes: 103, WriteBytes: 100*(16+5) + 24 + 100*5 + 24, DataSyncs: 4,
		}},
		{"set neighbours", func(s *stack.Stack) error {
			return s.SetBatched([]stack.Piece{{Off: 300, Data: text(300, 1)}, {Off: 0, Data: text(300, 2)}})
		}, file.Counts{
			Writes: 4, WriteBytes: 2*(16+300) + 24 + 600 + 24, DataSyncs: 4,
		}},
		{"zero much", func(s *stack.Stack) error { return s.Zero(100, 100<<10) }, file.Counts{
			Writes: 4, WriteBytes: 9 + 24 + 100<<10 + 24, DataSyncs: 4,
		}},
		{"copy much", func(s *stack.Stack) error { return s.Copy(0, 100<<10, 100<<10) }, file.Counts{
			Reads: 1, ReadBytes: 100 << 10, Writes: 4, WriteBytes: 16 + 24 + 100<<10 + 24, DataSyncs: 4,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, disk := openWith(t, text(200<<10, 0))
			warm(t, s)
			s.Rest()
			was := disk.Counts()
			check(t, c.run(s))
			s.Rest()
			c.want.Ops = c.want.Writes + c.want.Truncates + c.want.DataSyncs
			if got := minus(disk.Counts(), was); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func minus(a, b file.Counts) file.Counts {
	return file.Counts{
		Ops:        a.Ops - b.Ops,
		Writes:     a.Writes - b.Writes,
		WriteBytes: a.WriteBytes - b.WriteBytes,
		Truncates:  a.Truncates - b.Truncates,
		Punches:    a.Punches - b.Punches,
		DataSyncs:  a.DataSyncs - b.DataSyncs,
		Syncs:      a.Syncs - b.Syncs,
		DirSyncs:   a.DirSyncs - b.DirSyncs,
		Creates:    a.Creates - b.Creates,
		Renames:    a.Renames - b.Renames,
		Removes:    a.Removes - b.Removes,
		Reads:      a.Reads - b.Reads,
		ReadBytes:  a.ReadBytes - b.ReadBytes,
	}
}

// Changes of many sizes one after the other leave the size of the file as it is, and cost nothing for that.
func TestSizeStays(t *testing.T) {
	s, disk := openWith(t, text(10_000, 0))
	spread := func(n int) error { // a journal of 2 × 16 + n bytes
		return s.SetBatched([]stack.Piece{{Off: 10, Data: text(n-3, byte(n))}, {Off: 9000, Data: text(3, byte(n))}})
	}
	check(t, spread(1000))
	s.Rest()
	size := len(raw(t, disk))
	was := disk.Counts()
	const changes = 100
	for i := range changes {
		n := 5 + i*7%990
		if i%10 == 0 {
			check(t, s.Set(100, text(250+i, 1))) // one piece, across blocks
		} else {
			check(t, spread(n))
		}
	}
	s.Rest()
	if got := len(raw(t, disk)); got < size || got > size+16 {
		t.Errorf("the file has %d bytes, had %d", got, size)
	}
	if now := minus(disk.Counts(), was); now.Truncates != 0 || now.DataSyncs != 4*changes {
		t.Errorf("%+v", now)
	}
	check(t, spread(9000-20)) // larger than all before
	check(t, spread(5))       // so much smaller that what is left over is cut off
	s.Rest()
	if got := len(raw(t, disk)); got != headerSize+10_000+2*16+5 {
		t.Errorf("the file has %d bytes", got)
	}
	check(t, s.Close())
	if got := len(raw(t, disk)); got != headerSize+10_000 {
		t.Errorf("the file has %d bytes when it is closed", got)
	}
}

// What is cut off together with a change in place is given back to the file system before the file is closed.
func TestMuchIsNotLeftBehind(t *testing.T) {
	s, disk := openWith(t, text(3<<20, 0))
	check(t, s.Atrunc(2<<20, text(10, 1)))
	s.Rest()
	rests(t, disk, append(text(1<<20, 0), text(10, 1)...))
}

// Zeros at a place where other bytes may still be on the disk take another sync: after the payload was cut, also by the
// process before.
func TestSyncsOfZerosOverOldBytes(t *testing.T) {
	s, disk := openWith(t, text(100, 0))
	for i, want := range []int{2, 1, 1} { // the handle knows nothing, then it has synced
		was := disk.Counts().DataSyncs
		_, err := s.Extend(10)
		check(t, err)
		if n := disk.Counts().DataSyncs - was; n != want {
			t.Errorf("extending, %d: %d syncs, want %d", i, n, want)
		}
	}
	check(t, s.Discard(20))
	was := disk.Counts().DataSyncs
	_, err := s.Extend(10)
	check(t, err)
	if n := disk.Counts().DataSyncs - was; n != 2 {
		t.Errorf("after a cut: %d syncs", n)
	}
}

// Mutations of any number of callers share the syncs of one.
func TestSyncsAreShared(t *testing.T) {
	const callers = 16
	for _, c := range []struct {
		name string
		run  func(s *stack.Stack, i int) error
		cost int // of all together
	}{
		{"push", func(s *stack.Stack, i int) error {
			_, err := s.Push(text(10, byte(i)))
			return err
		}, 2},
		{"set", func(s *stack.Stack, i int) error { return s.Set(int64(i)*10, text(10, byte(i))) }, 4},
		{"set_batched", func(s *stack.Stack, i int) error {
			off := int64(i) * 20
			return s.SetBatched([]stack.Piece{{Off: off, Data: text(5, 1)}, {Off: off + 10, Data: text(5, 2)}})
		}, 4},
		{"push and set", func(s *stack.Stack, i int) error {
			if i%2 == 0 {
				return s.Set(int64(i)*10, text(10, byte(i)))
			}
			_, err := s.Push(text(10, byte(i)))
			return err
		}, 4},
		{"discard", func(s *stack.Stack, _ int) error { return s.Discard(10) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk := diskWith(t, text(700, 0))
			fs, gate := gated(disk)
			s := open(t, fs, nil)
			errs := make([]error, callers+1)
			var all sync.WaitGroup
			all.Go(func() { errs[callers] = s.Set(699, []byte{1}) }) // for the others to queue behind
			gate.Await()
			for i := range callers {
				all.Go(func() { errs[i] = c.run(s, i) })
			}
			queued(s, callers)
			was := disk.Counts().DataSyncs
			gate.Open()
			all.Wait()
			check(t, errors.Join(errs...))
			s.Rest()
			if n := disk.Counts().DataSyncs - was - 1; n != c.cost {
				t.Errorf("%d syncs for %d callers, want %d", n, callers, c.cost)
			}
			check(t, s.Close())
		})
	}
}
