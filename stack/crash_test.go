// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// outcome is what a run tells that the power cut at some moment: the payload that was acknowledged last, and that which
// the change under way would have made, if there is one.
type outcome struct{ sure, maybe []byte }

func (o outcome) allows(payload []byte) bool {
	return bytes.Equal(payload, o.sure) || bytes.Equal(payload, o.maybe)
}

// step changes the stack, or closes it and opens it again if it has no run.
type step struct {
	name string
	run  func(s *stack.Stack) (any, error)
	want func(p []byte) (after []byte, result any)
}

var reopen = step{name: "reopen"}

func (m mutation) step() step { return step{m.name, m.run, m.want} }

func grow(n int, seed byte) step {
	return step{
		fmt.Sprint("push ", n),
		func(s *stack.Stack) (any, error) { return s.Push(text(n, seed)) },
		grows(text(n, seed)),
	}
}

func zero(n int) step {
	return step{
		fmt.Sprint("extend ", n),
		func(s *stack.Stack) (any, error) { return s.Extend(int64(n)) },
		grows(zeros[:n]),
	}
}

func cut(n int) step {
	return step{
		fmt.Sprint("discard ", n),
		func(s *stack.Stack) (any, error) { return nil, s.Discard(int64(n)) },
		replaces(n, nil, false),
	}
}

func set(off, n int, seed byte) step {
	return step{
		fmt.Sprint("set ", n),
		func(s *stack.Stack) (any, error) { return nil, s.Set(int64(off), text(n, seed)) },
		sets(off, text(n, seed)),
	}
}

func replace(n, by int, seed byte) step {
	return step{
		fmt.Sprint("replace ", n, by),
		func(s *stack.Stack) (any, error) { return nil, s.Atrunc(int64(n), text(by, seed)) },
		replaces(n, text(by, seed), false),
	}
}

// play runs steps on a disk that holds a payload until one fails, which has to be because of a power cut.
func play(t testing.TB, disk *file.Crash, opts *stack.Options, fs file.FS, payload []byte, steps []step) outcome {
	t.Helper()
	o := outcome{payload, payload}
	fail := func(err error) outcome {
		if !disk.IsCut() {
			t.Fatalf("the power is on: %v", err)
		}
		return o
	}
	s, err := stack.OpenFS(fs, name, opts)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = s.Close() }() // waits for what is under way
	for _, st := range steps {
		if st.run == nil {
			_ = s.Close()
			again, err := stack.OpenFS(fs, name, opts)
			if err != nil {
				return fail(err)
			}
			s = again
			continue
		}
		o.maybe, _ = st.want(bytes.Clone(o.sure))
		if _, err := st.run(s); err != nil {
			return fail(err)
		}
		o.sure = o.maybe
	}
	return o
}

// allFates is up to how many un-synced changes all their subsets are tried. Beyond that chance picks some.
const allFates = 5

// fates calls fn with what may be left of a disk: if there are not many, all subsets of the changes that were not
// synced, and some more in which writes are torn.
func fates(disk *file.Crash, torn int, fn func(what string, left *file.Crash)) {
	if n := len(disk.Unsynced()); n <= allFates {
		for kept := range 1 << n {
			fn(fmt.Sprintf("kept %b", kept), disk.AfterCutKeeping(func(i int) bool { return kept>>i&1 != 0 }))
		}
	} else {
		fn("kept all", disk.AfterCutKeeping(file.KeepAll))
		fn("kept none", disk.AfterCutKeeping(file.KeepNone))
		torn += 1 << allFates
	}
	for seed := range torn {
		fn(fmt.Sprint("seed ", seed), disk.AfterCut(uint64(seed)))
	}
}

// crashes cuts the power at each call of a run in turn, and calls fn with each disk that may be found, and what has to
// be on it.
func crashes(
	t testing.TB,
	base *file.Crash,
	torn int,
	run func(disk *file.Crash) outcome,
	fn func(what string, left *file.Crash, o outcome),
) {
	t.Helper()
	for k := 1; ; k++ {
		disk := base.Clone()
		disk.CutAt(k)
		o := run(disk)
		fates(disk, torn, func(what string, left *file.Crash) {
			fn(fmt.Sprintf("cut at call %d, %s of %q", k, what, disk.Unsynced()), left, o)
		})
		if !disk.IsCut() {
			return
		}
	}
}

// survives makes sure that a disk can be opened after a crash and shows what it has to, at rest, and can be used.
func survives(t *testing.T, what string, left *file.Crash, o outcome) {
	t.Helper()
	s, err := stack.OpenFS(left, name, nil)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got, err := s.Peek(0)
	check(t, err)
	if !o.allows(got) {
		t.Fatalf(
			"%s: found %d bytes\n%x\nacknowledged %d\n%x\nunder way %d\n%x",
			what,
			len(got),
			got,
			len(o.sure),
			o.sure,
			len(o.maybe),
			o.maybe,
		)
	}
	same(t, raw(t, left), resting(got))
	_, err = s.Push(text(3, 9))
	check(t, err)
	check(t, s.Close())
	rests(t, left, append(got, text(3, 9)...))
}

func survivesAll(t *testing.T, payload []byte, steps []step) {
	t.Helper()
	run := func(disk *file.Crash) outcome { return play(t, disk, nil, disk, payload, steps) }
	crashes(t, diskWith(t, payload), 6, run, func(what string, left *file.Crash, o outcome) {
		t.Helper()
		survives(t, what, left, o)
	})
}

func TestCrash(t *testing.T) {
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) { survivesAll(t, m.before(), []step{m.step()}) })
	}
}

// Each kind of commit after each other kind: what the one has left un-synced must not harm the next.
func TestCrashOfPairs(t *testing.T) {
	kinds := []step{
		grow(300, 1), zero(300), cut(90), set(0, 200, 2), set(0, 400, 3), replace(20, 60, 4), replace(60, 20, 5),
	}
	for _, a := range kinds {
		for _, b := range kinds {
			t.Run(a.name+", "+b.name, func(t *testing.T) {
				survivesAll(t, text(600, 0), []step{a, b})
				if a.name == "discard 90" || a.name == "replace 60 20" {
					survivesAll(t, text(600, 0), []step{a, reopen, b})
				}
			})
		}
	}
}

func TestCrashOfCreation(t *testing.T) {
	run := func(disk *file.Crash) outcome { return play(t, disk, nil, disk, nil, []step{grow(10, 1)}) }
	empty := file.NewCrash()
	empty.SetSector(blockSize)
	crashes(t, empty, 20, run, func(what string, left *file.Crash, o outcome) { survives(t, what, left, o) })
}

// The recovery that follows a crash can be interrupted by others, and finds the same.
func TestCrashDuringRecovery(t *testing.T) {
	for _, m := range mutations {
		if m.size > 1000 {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			run := func(disk *file.Crash) outcome { return play(t, disk, nil, disk, m.before(), []step{m.step()}) }
			crashes(t, diskWith(t, m.before()), 1, run, func(what string, left *file.Crash, o outcome) {
				found, ok := recovered(raw(t, left))
				if !ok || !o.allows(found) {
					t.Fatalf("%s: the reference finds %x", what, found)
				}
				interrupt(t, left, bytes.Clone(found), 1)
			})
		})
	}
}

// If the disk tears writes inside blocks too, only those that are within one can suffer. (Nothing is safe if the
// record, bytes 8 to 31, is torn, so that these tears are at multiples of 32.)
func TestCrashWithWeakerDisk(t *testing.T) {
	for _, m := range mutations {
		if m.size > 1000 {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			torn := false
			base := diskWith(t, m.before())
			base.SetSector(headerSize)
			run := func(disk *file.Crash) outcome { return play(t, disk, nil, disk, m.before(), []step{m.step()}) }
			crashes(t, base, 30, run, func(what string, left *file.Crash, o outcome) {
				if !m.cost.tears {
					survives(t, what, left, o)
					return
				}
				s := open(t, left, nil)
				got, err := s.Peek(0)
				check(t, err)
				check(t, s.Close())
				if len(got) != len(o.sure) || !mixed(got, o.sure, o.maybe) {
					t.Fatalf("%s: found %x", what, got)
				}
				torn = torn || !o.allows(got)
			})
			if torn != m.cost.tears {
				t.Errorf("torn: %v", torn)
			}
		})
	}
}

// mixed says whether each byte is that of a or that of b.
func mixed(p, a, b []byte) bool {
	for i := range p {
		if p[i] != a[i] && p[i] != b[i] {
			return false
		}
	}
	return true
}

// The tests above can fail: without syncs they find lost changes, of every mutation, and half-done ones, of all that
// take more than one write.
func TestCrashWithoutSyncs(t *testing.T) {
	lying := func(disk file.FS) file.FS {
		return file.WithSync(disk, func(file.File) error { return nil })
	}
	honest := func(disk file.FS) file.FS { return disk }
	for _, c := range []struct {
		name string
		opts *stack.Options
		fs   func(file.FS) file.FS
	}{
		{"NoSync", &stack.Options{NoSync: true}, honest},
		{"a disk that lies", nil, lying},
	} {
		for _, m := range mutations {
			if m.size > 1000 {
				continue
			}
			t.Run(c.name+"/"+m.name, func(t *testing.T) {
				lost, broken := false, false
				run := func(disk *file.Crash) outcome {
					return play(t, disk, c.opts, c.fs(disk), m.before(), []step{m.step()})
				}
				crashes(t, diskWith(t, m.before()), 50, run, func(_ string, left *file.Crash, o outcome) {
					found, ok := recovered(raw(t, left))
					lost = lost || ok && bytes.Equal(found, m.before()) && bytes.Equal(o.sure, o.maybe)
					broken = broken || !ok || !o.allows(found) && !bytes.Equal(found, m.before())
				})
				if !lost || !broken && m.cost.acked > 1 {
					t.Errorf("found lost changes: %v; half-done ones: %v", lost, broken)
				}
			})
		}
	}
}
