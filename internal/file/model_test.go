// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/holtdb/holt/internal/file"
)

// side is one of the file systems that FuzzCrashLikeOS compares, with two handles of one file and a mapping.
type side struct {
	fixture
	files [2]file.File
	m     file.Mapping
}

const mapped = 4 << 10

func newSide(t *testing.T, fx fixture) *side {
	s := &side{fixture: fx}
	for i := range s.files {
		s.files[i] = fx.create(t, "f")
	}
	return s
}

// op is a call to make on both sides.
type op struct{ code, handle, off, n byte }

// do makes the call and says what came of it.
func (s *side) do(o op) string {
	f, off, n := s.files[o.handle&1], int64(o.off)*29, int(o.n)*7
	switch o.code % 11 {
	case 0, 1:
		k, err := f.WriteAt(pattern(o, n), off)
		return outcome("write", k, err)
	case 2, 3:
		data := pattern(o, n)
		k, err := f.WriteVecAt([][]byte{data[:n/3], nil, data[n/3 : n/2], data[n/2:]}, off)
		return outcome("writev", k, err)
	case 4:
		b := make([]byte, n)
		k, err := f.ReadAt(b, off)
		return outcome("read", k, err) + string(b[:k])
	case 5:
		b := make([]byte, n)
		k, err := f.ReadVecAt([][]byte{b[:n/4], b[n/4:]}, off)
		return outcome("readv", k, err) + string(b[:k])
	case 6:
		return outcome("truncate", 0, f.Truncate(off))
	case 7:
		return outcome("punch", 0, f.PunchHole(off, int64(n)))
	case 8:
		return s.remap(f)
	case 9:
		k, err := f.WriteThrough(pattern(o, n), off)
		return outcome("through", k, err)
	}
	return s.move()
}

// remap gives the old mapping back and makes a new one.
func (s *side) remap(f file.File) string {
	if s.m != nil {
		if err := s.m.Unmap(); err != nil {
			return err.Error()
		}
	}
	var err error
	s.m, err = f.Map(mapped, file.MapOptions{})
	return outcome("map", 0, err)
}

// move renames the file away and back, and looks for it.
func (s *side) move() string {
	away := s.Rename(s.path("f"), s.path("g"))
	_, gone := s.Stat(s.path("f"))
	back := s.Rename(s.path("g"), s.path("f"))
	return outcome("away", 0, away) + outcome("gone", 0, gone) + outcome("back", 0, back)
}

func pattern(o op, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = o.code ^ o.off ^ byte(i)
	}
	return b
}

func outcome(call string, n int, err error) string {
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Sprintln(call, n, "failed")
	}
	return fmt.Sprintln(call, n, err)
}

// view is what the mapping shows of the file: what lies beyond its end would fault.
func (s *side) view(size int) string {
	if s.m == nil {
		return ""
	}
	return string(s.m.Bytes()[:min(size, mapped)])
}

func compare(t *testing.T, program []byte) {
	a := newSide(t, fixture{file.OS, t.TempDir()})
	b := newSide(t, fixture{file.NewCrash(), "dir"})
	for ; len(program) >= 4; program = program[4:] {
		o := op{program[0], program[1], program[2], program[3]}
		if got, want := b.do(o), a.do(o); got != want {
			t.Fatalf("%+v: crash file system: %q, operating system: %q", o, got, want)
		}
		text := content(t, a.files[0])
		wantContent(t, b.files[1], text)
		for _, s := range []*side{a, b} {
			if s.view(len(text)) != text[:len(s.view(len(text)))] {
				t.Fatalf("%+v: a mapping is not what the file is", o)
			}
		}
	}
	for _, s := range []*side{a, b} {
		if s.m != nil {
			must(t, s.m.Unmap())
		}
	}
}

// FuzzCrashLikeOS demands that the file system in memory does what that of the operating system does.
func FuzzCrashLikeOS(f *testing.F) {
	if probe := punchError(f); probe != nil {
		f.Skip("the operating system has no holes:", probe)
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		program := make([]byte, 4*60)
		for i := range program {
			program[i] = byte(r.Int())
		}
		f.Add(program)
	}
	f.Fuzz(compare)
}

func punchError(f *testing.F) error {
	h, err := file.OS.OpenFile(f.TempDir()+"/probe", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(h.PunchHole(0, 1), h.Close())
}
