// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/holtdb/holt/internal/file"
)

// TestAllocatorCut ends bstack in front of every write of some commands, among them those of opening the file. We must
// recover what it leaves: all regions that the command was not about are there, and both sides can go on.
func TestAllocatorCut(t *testing.T) {
	cut := cutLibrary(t)
	eachFormat(t, func(t *testing.T, f *format) {
		files := 0
		eachSeed(t, *histories/8, func(t *testing.T, seed uint64) {
			s := newSteps(t, f, seed)
			for i := range 4 {
				s.turn(t, s.sides[i%2])
			}
			for range 8 {
				st := s.next(t, crate)
				for k := 1; ; k++ {
					file, done := s.cutAt(t, cut, k, st)
					if done {
						break
					}
					files++
					s.verifyCut(t, file, st, k)
				}
			}
		})
		t.Logf("%d files", files)
	})
}

// TestAllocatorPowerCut cuts the power at every step of some operations of our allocators. Both sides must find the
// payload before the operation or the one after it, the same, and the latter if the operation was acknowledged.
func TestAllocatorPowerCut(t *testing.T) {
	eachFormat(t, func(t *testing.T, f *format) {
		s := newSteps(t, f, *seed)
		for i := range 4 {
			s.turn(t, s.sides[i%2])
		}
		seen := map[string]bool{}
		for range 16 {
			st := s.next(t, holt)
			before := &model{readFile(t, s.path)[headerSize:]}
			after := s.afterStep(t, before, st)
			for k := 1; !t.Failed(); k++ {
				disk, acknowledged := s.cutPowerAt(t, k, before, st)
				if !disk.IsCut() {
					break
				}
				for _, b := range findings(t, disk) {
					if key := fmt.Sprint(acknowledged, string(b)); !seen[key] {
						seen[key] = true
						verifyFinding(t, s.sides, b, acknowledged, before, after)
					}
				}
			}
			if t.Failed() {
				t.Fatalf("-seed %d: the power was cut during %s", *seed, short(st.line))
			}
		}
		t.Logf("-seed %d: %d files", *seed, len(seen))
	})
}

// afterStep is the payload when the step has been done.
func (s *steps) afterStep(t *testing.T, before *model, st step) *model {
	t.Helper()
	disk, acknowledged := s.cutPowerAt(t, math.MaxInt, before, st)
	if !acknowledged && !st.refused {
		t.Fatalf("%s was refused", short(st.line))
	}
	our := openOn(t, disk)
	b, err := our.Peek(0)
	if err = errors.Join(err, our.Close()); err != nil {
		t.Fatal(err)
	}
	return &model{b}
}

// cutPowerAt has our allocator do a step on a disk whose power goes at the k-th call, if there are so many.
func (s *steps) cutPowerAt(t *testing.T, k int, before *model, st step) (disk *file.Crash, acknowledged bool) {
	t.Helper()
	disk = diskWith(t, before.b)
	our := session{stack: openOn(t, disk)}
	var err error
	if our.allocator, err = s.f.open(our.stack, s.f.size); err != nil {
		t.Fatal(err)
	}
	disk.CutAt(k)
	answer := our.run(st.line)
	_ = our.stack.Close() // what is left of the step is done, or cannot be
	return disk, kind(answer) != "err"
}

// cutLibrary compiles what ends a program at a write of its.
func cutLibrary(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the library that cuts is for Linux")
	}
	path := filepath.Join(t.TempDir(), "cut.so")
	cc := exec.Command("cc", "-O2", "-shared", "-fPIC", "-o", path, "driver/cut.c", "-ldl")
	if out, err := cc.CombinedOutput(); err != nil {
		t.Skipf("no C compiler: %v\n%s", err, out)
	}
	return path
}

// cutAt has bstack do a step in a copy of the file, and ends it in front of its k-th write, unless it is done before.
func (s *steps) cutAt(t *testing.T, cut string, k int, st step) (file []byte, done bool) {
	t.Helper()
	path := filepath.Join(filepath.Dir(s.path), "cut")
	writeFile(t, path, readFile(t, s.path))
	p := side{crate.name, func(t *testing.T) *exec.Cmd {
		cmd := crate.command(t)
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+cut, fmt.Sprint("CUT_AT=", k))
		return cmd
	}}.start(t)
	for _, line := range []string{s.f.openLine(path), st.line, "close"} {
		answer, err := p.ask(line)
		switch {
		case err != nil:
			return readFile(t, path), false
		case kind(answer) == "err" && (line != st.line || !st.refused):
			t.Fatalf("%s, %s: %s", p.name, short(line), answer)
		}
	}
	return nil, true
}

func (s *steps) verifyCut(t *testing.T, file []byte, st step, k int) {
	t.Helper()
	again := *s
	again.path = filepath.Join(filepath.Dir(s.path), "copy")
	again.h = &holdings{slices.Clone(s.h.list), s.h.reserved}
	again.h.drop(st.about)
	writeFile(t, again.path, file)
	defer func() {
		if t.Failed() {
			t.Fatalf("%s was cut in front of write %d", short(st.line), k)
		}
	}()
	p := s.sides[0]
	again.open(t, p)
	again.h.verify(t, p)
	again.work(t, p, 5)
	p.do(t, "close")
	again.verifyAtRest(t, false)
}
