// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// A change is something that our engine commits in one way or another.
type change struct {
	name    string
	length  int64                   // of the payload it suits
	mode    uint64                  // of the journal
	earlier string                  // a command that is done before, and leaves its journal behind the payload
	line    string                  // a command
	update  func(*stack.Unit) error // or a unit, and what it makes of the payload
	after   func(b []byte) []byte
}

// changes are those that take every way there is to commit.
func (g generator) changes() []change {
	earlier := fmt.Sprintf("set_batched 10 %s 1500 %s", g.word(900), g.word(9)) // 941 bytes are staged
	return []change{
		{name: "set, filled up", length: 2000, earlier: earlier, mode: modeMultiWrite, line: "set 5 " + g.word(700)},
		{
			name: "set_batched, filled up", length: 2000, earlier: earlier, mode: modeMultiWrite,
			line: fmt.Sprintf("set_batched 20 %s 1400 %s", g.word(99), g.word(3)),
		},
		{name: "longer set", length: 2000, earlier: earlier, mode: modeSet, line: "set 5 " + g.word(926)},
		{
			name:    "shorter tail after a journal",
			length:  2000,
			earlier: earlier,
			mode:    modeSpliceShrink,
			line:    "atrunc 700 " + g.word(300),
		},
		{name: "extend after a journal", length: 2000, earlier: earlier, mode: noJournal, line: "extend 700"},
		{name: "push", length: 2000, mode: noJournal, line: "push " + g.word(700)},
		{name: "extend", length: 2000, mode: noJournal, line: "extend 700"},
		{name: "pop", length: 2000, mode: noJournal, line: "pop 700"},
		{name: "set in one block", length: 2000, mode: noJournal, line: "set 0 " + g.word(200)},
		{name: "set", length: 2000, mode: modeSet, line: "set 5 " + g.word(700)},
		{name: "zero", length: 140_000, mode: modeRepeat, line: "zero 5 70000"},
		{name: "repeat", length: 140_000, mode: modeRepeat, line: "repeat 5 " + g.word(7) + " 10000"},
		{name: "copy", length: 2000, mode: modeSet, line: "copy 10 1200 700"},
		{name: "large copy", length: 140_000, mode: modeCopy, line: "copy 10 70000 66000"},
		{
			name: "set_batched", length: 2000, mode: modeMultiWrite,
			line: fmt.Sprintf("set_batched 300 %s 10 %s 1500 %s", g.word(300), g.word(1), g.word(9)),
		},
		{name: "cross_exchange", length: 2000, mode: modeMultiWrite, line: "cross_exchange 700 10 300"},
		{name: "longer tail", length: 2000, mode: modeSet, line: "atrunc 300 " + g.word(700)},
		{name: "shorter tail", length: 2000, mode: modeSpliceShrink, line: "atrunc 700 " + g.word(300)},
		{
			name: "several pieces and growth", length: 2000, mode: modeMultiWrite,
			update: func(u *stack.Unit) error {
				_, err1 := u.WriteAt([]byte("one"), 5)
				_, err2 := u.WriteAt([]byte("two"), 50)
				_, err3 := u.Push([]byte("three"))
				return errors.Join(err1, err2, err3)
			},
			after: func(b []byte) []byte {
				copy(b[5:], "one")
				copy(b[50:], "two")
				return append(b, "three"...)
			},
		},
		{
			name: "a piece and a cut", length: 2000, mode: modeSpliceShrink,
			update: func(u *stack.Unit) error {
				_, err := u.WriteAt([]byte("one"), u.Len()-900)
				return errors.Join(err, u.Truncate(u.Len()-300))
			},
			after: func(b []byte) []byte {
				copy(b[len(b)-900:], "one")
				return b[:len(b)-300]
			},
		},
	}
}

// prepare does what comes earlier, and returns p when nothing of it is under way any more.
func (c change) prepare(t *testing.T, p payload) payload {
	t.Helper()
	if c.earlier == "" {
		return p
	}
	if answer := run(p, c.earlier); kind(answer) == "err" {
		t.Fatal(answer)
	}
	if s, ok := p.(*stack.Stack); ok {
		if err := s.Update(func(*stack.Unit) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (c change) run(p payload) error {
	if s, ok := p.(*stack.Stack); ok && c.update != nil {
		return s.Update(c.update)
	}
	if m, ok := p.(*model); ok && c.after != nil {
		m.b = c.after(m.b)
		return nil
	}
	if answer := run(p, c.line); kind(answer) == "err" {
		return errors.New(answer)
	}
	return nil
}

// isArmed says whether a file has a journal.
func isArmed(b []byte) bool { return !bytes.Equal(b[16:headerSize], make([]byte, 16)) }

const (
	onDisk    = "stack"
	noJournal = 1 // is no mode
)

// TestCut cuts the power of our engine at every step of a change. Both sides must find the payload before the change
// or the one after it, the same, and the latter if the change was acknowledged.
func TestCut(t *testing.T) {
	g := newGenerator(*seed)
	sides := []*process{holt.start(t), crate.start(t)}
	for _, c := range g.changes() {
		t.Run(c.name, func(t *testing.T) {
			base := g.data(c.length)
			before := c.prepare(t, &model{bytes.Clone(base)}).(*model)
			after := before.clone()
			if err := c.run(after); err != nil {
				t.Fatal(err)
			}
			seen, modes := map[string]bool{}, map[uint64]bool{}
			for k := 1; !t.Failed(); k++ {
				disk, acknowledged := cutAt(t, k, base, c)
				if !disk.IsCut() {
					break
				}
				for _, b := range findings(t, disk) {
					if key := fmt.Sprint(acknowledged, string(b)); !seen[key] {
						seen[key] = true
						if isArmed(b) {
							modes[binary.LittleEndian.Uint64(b[24:])] = true
						}
						verifyFinding(t, sides, b, acknowledged, before, after)
					}
				}
			}
			if len(modes) > 1 || modes[c.mode] == (c.mode == noJournal) {
				t.Errorf("journals of the modes %#x, want %#x", slices.Collect(maps.Keys(modes)), c.mode)
			}
			t.Logf("-seed %d: %d files", *seed, len(seen))
		})
	}
}

// cutAt makes a change on a disk whose power goes at the k-th call, if there are so many.
func cutAt(t *testing.T, k int, base []byte, c change) (disk *file.Crash, acknowledged bool) {
	t.Helper()
	disk = diskWith(t, base)
	s := openOn(t, disk)
	c.prepare(t, s)
	disk.CutAt(k)
	err := c.run(s)
	_ = s.Close() // what is left of the change is done, or cannot be
	return disk, err == nil
}

// diskWith is a disk with a file of that payload.
func diskWith(t *testing.T, payload []byte) *file.Crash {
	t.Helper()
	disk := file.NewCrash()
	disk.SetSector(256) // the size of the atomic blocks of the format
	f, err := disk.OpenFile(onDisk, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(restingFile(payload), 0)
	if err := errors.Join(err, f.Sync(), f.Close(), disk.SyncDir(".")); err != nil {
		t.Fatal(err)
	}
	return disk
}

// openOn opens a stack on another file system than that of the operating system.
func openOn(t *testing.T, disk file.FS) *stack.Stack {
	t.Helper()
	real := file.OS
	file.OS = disk
	defer func() { file.OS = real }()
	s, err := stack.Open(onDisk, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// findings are files that may be there when the power comes back.
func findings(t *testing.T, disk *file.Crash) [][]byte {
	t.Helper()
	disks := []*file.Crash{disk.AfterCutKeeping(file.KeepAll), disk.AfterCutKeeping(file.KeepNone)}
	for i := range uint64(5) {
		disks = append(disks, disk.AfterCut(*seed+i))
	}
	var all [][]byte
	for _, d := range disks {
		f, err := d.OpenFile(onDisk, os.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<40))
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

func verifyFinding(t *testing.T, sides []*process, b []byte, acknowledged bool, before, after *model) {
	t.Helper()
	old, done := restingFile(before.b), restingFile(after.b)
	var results [2][]byte
	for i, p := range sides {
		results[i] = recovered(t, p, b)
		if got := results[i]; !bytes.Equal(got, done) && (acknowledged || !bytes.Equal(got, old)) {
			t.Errorf("%s recovers %s to %s, acknowledged: %t", p.name, outline(b), outline(got), acknowledged)
		}
	}
	if !bytes.Equal(results[0], results[1]) {
		t.Errorf("%s recovers %s, %s %s", sides[0].name, outline(results[0]), sides[1].name, outline(results[1]))
	}
}
