// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestAllocatorKilled kills each side at random moments of its work. Both sides then find every region that was
// acknowledged, and go on. What ours was at when it was killed is done or not, as a whole.
func TestAllocatorKilled(t *testing.T) {
	eachFormat(t, func(t *testing.T, f *format) {
		for i, victim := range []side{holt, crate} {
			t.Run(victim.name, func(t *testing.T) {
				armed, commands := 0, 0
				eachSeed(t, *kills/4, func(t *testing.T, seed uint64) {
					s := newSteps(t, f, seed)
					file, lines := s.killAtWork(t, victim)
					commands += len(lines)
					if isArmed(file) {
						armed++
					}
					if victim.name == holt.name {
						s.verifyWhole(t, file, lines)
					}
					for k, witness := range s.sides {
						s.verifyRecovered(t, file, witness, s.sides[(int(seed)+i+k)%2])
					}
				})
				t.Logf("%d commands; %d of %d files had an armed journal", commands, armed, *kills/4)
			})
		}
	})
}

// killAtWork has a side work on the file, and kills it. It returns the file, and the commands that the side got. What
// the last one was about is no longer in the holdings.
func (s *steps) killAtWork(t *testing.T, victim side) (file []byte, lines []string) {
	t.Helper()
	s.path = filepath.Join(t.TempDir(), s.f.name) // where a sync takes its time
	p := victim.start(t)
	s.open(t, p)
	if s.h.reserved != nil {
		lines = append(lines, "write_reserved 0 "+bytesWord(s.h.reserved))
	}
	time.AfterFunc(time.Duration(s.IntN(60_000))*time.Microsecond, func() {
		_ = p.cmd.Process.Kill() // it cannot be gone already
	})
	for {
		st := s.next(t, victim)
		lines = append(lines, st.line)
		answer, err := p.ask(st.line)
		if err != nil {
			s.h.drop(st.about)
			return readFile(t, s.path), lines
		}
		s.h.take(t, p, st, answer)
	}
}

// verifyWhole demands that our engine made of the file what all commands make of it, or all but the last.
func (s *steps) verifyWhole(t *testing.T, file []byte, lines []string) {
	t.Helper()
	before, after := s.replay(t, lines)
	for _, p := range s.sides {
		got := recovered(t, p, file)
		if got == nil {
			t.Fatalf("%s refuses the file", p.name)
		}
		if got = got[headerSize:]; !bytes.Equal(got, before) && !bytes.Equal(got, after) {
			t.Errorf("%s finds neither what was there before %s nor what it was to make", p.name, short(lines[len(lines)-1]))
		}
	}
}

// replay is what our engine makes of a new file with all commands but the last, and with all.
func (s *steps) replay(t *testing.T, lines []string) (before, after []byte) {
	t.Helper()
	var our session
	do := func(line string) {
		if got := our.run(line); kind(got) == "err" && !slices.Contains(lines, line) {
			t.Fatalf("%s: %s", short(line), got)
		}
	}
	do(s.f.openLine(filepath.Join(scratch(t), "replay")))
	for i, line := range lines {
		if i == len(lines)-1 {
			before = s.payloadOf(t, &our)
		}
		do(line)
	}
	after = s.payloadOf(t, &our)
	do("close")
	return before, after
}

func (s *steps) payloadOf(t *testing.T, our *session) []byte {
	t.Helper()
	b, err := our.stack.Peek(0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// verifyRecovered demands that a side recovers the file, and that another goes on with it.
func (s *steps) verifyRecovered(t *testing.T, file []byte, p, next *process) {
	t.Helper()
	again := *s
	again.path = filepath.Join(scratch(t), "copy")
	again.h = &holdings{slices.Clone(s.h.list), s.h.reserved}
	writeFile(t, again.path, file)
	for _, p := range []*process{p, next} {
		again.open(t, p)
		again.h.verify(t, p)
		again.work(t, p, 20)
		p.do(t, "close")
	}
	again.verifyAtRest(t, false)
}
