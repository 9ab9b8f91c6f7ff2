// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

func TestOpenCreates(t *testing.T) {
	disk := file.NewCrash()
	s := open(t, disk, nil)
	rests(t, disk.AfterCutKeeping(file.KeepNone), nil) // durably, name and all
	holds(t, s, nil)
	if s.Path() != name || s.String() != `Stack<"test.stack", 0 bytes>` {
		t.Errorf("%s, %s", s.Path(), s)
	}
	check(t, s.Close())
}

func TestOpenKeepsThePatchNumber(t *testing.T) {
	for patch := range byte(4) {
		for _, payload := range [][]byte{nil, text(20, 0)} {
			disk := file.NewCrash()
			old := resting(payload)
			old[6] = patch
			put(t, disk, old)
			check(t, open(t, disk, nil).Close())
			same(t, raw(t, disk), old)
		}
	}
}

// A process that was killed may have created the file, and not made its name durable.
func TestOpenFinishesACreation(t *testing.T) {
	disk := file.NewCrash()
	f, err := disk.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	check(t, err)
	_, err = f.WriteAt(resting(nil), 0)
	check(t, errors.Join(err, f.Close()))
	s := open(t, disk, nil)
	_, err = s.Push(text(5, 0))
	check(t, err)
	rests(t, disk.AfterCutKeeping(file.KeepNone), text(5, 0))
	check(t, s.Close())
}

// A crash during its creation may leave a part of a file, or zeros.
func TestOpenUnfinishedFiles(t *testing.T) {
	for n := range headerSize + 1 {
		header := resting(nil)[:n]
		for _, content := range [][]byte{header, make([]byte, n), over(make([]byte, n), 0, header[:n/2])} {
			disk := file.NewCrash()
			put(t, disk, content)
			if !bytes.Equal(content, resting(nil)) && n < headerSize {
				if _, err := stack.OpenFS(disk, name, &stack.Options{ReadOnly: true}); !isCorrupt(err) && !isVersion(err, "0.0") {
					t.Errorf("read-only, %x: %v", content, err)
				}
			}
			same(t, raw(t, disk), content)
			s := open(t, disk, nil)
			holds(t, s, nil)
			check(t, s.Close())
		}
	}
}

func TestOpenRefusesShortFiles(t *testing.T) {
	for n := 1; n < headerSize; n++ {
		disk := file.NewCrash()
		content := over(resting(nil)[:n], n-1, []byte{0x55})
		put(t, disk, content)
		if _, err := stack.OpenFS(disk, name, nil); !isCorrupt(err) && !isVersion(err, "0.85", "85.4") {
			t.Errorf("%x: %v", content, err)
		}
		same(t, raw(t, disk), content)
	}
}

func isCorrupt(err error) bool {
	c, ok := errors.AsType[*stack.CorruptError](err)
	return ok && c.Path == name && strings.Contains(c.Error(), name)
}

func isVersion(err error, versions ...string) bool {
	v, ok := errors.AsType[*stack.VersionError](err)
	for _, want := range versions {
		if ok && v.Path == name && v.Version == want && strings.Contains(v.Error(), want) {
			return true
		}
	}
	return false
}

func TestOpenRefusesOtherGenerations(t *testing.T) {
	for version, prefix := range map[string]string{
		"0.5": "BSTK\x00\x05", "0.1": "BSTK\x00\x01", "0.2": "BSTK\x00\x02", "1.4": "BSTK\x01\x04",
		"255.255": "BSTK\xff\xff",
	} {
		content := over(resting(text(40, 0)), 0, []byte(prefix))
		for _, opts := range []*stack.Options{nil, {ReadOnly: true}} {
			if version == "0.1" && opts != nil {
				continue // can be read
			}
			disk := file.NewCrash()
			put(t, disk, content)
			if _, err := stack.OpenFS(disk, name, opts); !isVersion(err, version) {
				t.Errorf("%s: %v", version, err)
			}
			same(t, raw(t, disk), content)
			put(t, disk, resting(nil)) // the lock was given back
			check(t, open(t, disk, nil).Close())
		}
	}
	for _, prefix := range []string{"bSTK", "BSTL", "\x00STK", "SQLite", "ALGT"} {
		disk := file.NewCrash()
		put(t, disk, over(resting(text(40, 0)), 0, []byte(prefix)))
		if _, err := stack.OpenFS(disk, name, nil); !isCorrupt(err) {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}

// Bytes 6 and 7 of the magic say nothing.
func TestOpenIgnoresTheRestOfTheMagic(t *testing.T) {
	disk := file.NewCrash()
	content := over(resting(text(40, 0)), 6, []byte{0xFF, 0xFF})
	put(t, disk, content)
	s := open(t, disk, nil)
	holds(t, s, text(40, 0))
	check(t, s.Close())
	same(t, raw(t, disk), content)
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := stack.Open(filepath.Join(dir, "none", name), nil)
	refused(t, err, fs.ErrNotExist)
	_, err = stack.Open(filepath.Join(dir, name), &stack.Options{ReadOnly: true})
	refused(t, err, fs.ErrNotExist)
	if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a read-only Open created a file: %v", err)
	}
}

func TestLocking(t *testing.T) {
	for what, disk := range map[string]file.FS{"simulated": file.NewCrash(), "real": file.OS} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			writing, reading := (*stack.Options)(nil), &stack.Options{ReadOnly: true}
			s, err := stack.OpenFS(disk, path, writing)
			check(t, err)
			for _, opts := range []*stack.Options{writing, reading} {
				_, err = stack.OpenFS(disk, path, opts)
				refused(t, err, stack.ErrLocked)
			}
			refused(t, stack.MigrateFS(t.Context(), disk, path, nil), stack.ErrLocked)
			check(t, s.Close())

			a, err := stack.OpenFS(disk, path, reading)
			check(t, err)
			b, err := stack.OpenFS(disk, path, reading)
			check(t, err)
			_, err = stack.OpenFS(disk, path, writing)
			refused(t, err, stack.ErrLocked)
			check(t, errors.Join(a.Close(), b.Close()))

			s, err = stack.OpenFS(disk, path, writing)
			check(t, err)
			check(t, s.Close())
		})
	}
}

func TestReadOnly(t *testing.T) {
	disk := diskWith(t, text(700, 0))
	s := open(t, disk, &stack.Options{ReadOnly: true, LockPrefix: 5})
	holds(t, s, text(700, 0))
	for what, err := range reads(s) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, m := range mutations {
		if m.size > 700 {
			continue
		}
		if _, err := m.run(s); !errors.Is(err, stack.ErrReadOnly) {
			t.Errorf("%s: %v", m.name, err)
		}
	}
	refused(t, s.LockUpTo(701), stack.ErrRange)
	refused(t, s.LockUpTo(4), stack.ErrRange)
	check(t, s.LockUpTo(50))
	check(t, s.Close())
	refused(t, s.LockUpTo(60), stack.ErrClosed)
	for what, err := range reads(s) {
		if !errors.Is(err, stack.ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	rests(t, disk, text(700, 0))
}

// A read-only stack shows what recovery would leave where it can be known without changing the file.
func TestReadOnlyAfterACrash(t *testing.T) {
	for _, c := range []struct {
		name    string
		content []byte
		want    []byte // nil: an error
	}{
		{"bytes that were not committed", image(5, 0, 0, text(9, 0)), text(5, 0)},
		{"a length that was not committed", image(9, 0, 0, text(5, 0)), text(5, 0)},
		{"a wild length", image(1<<64-1, 0, 0, text(5, 0)), text(5, 0)},
		{"a length just below the sign", image(1<<63-1, 0, 0, text(5, 0)), text(5, 0)},
		{"an armed journal", image(5, headerSize, modeSet, text(5, 0), text(2, 1)), nil},
		{"an armed journal without a target", image(5, 0, modeMultiWrite, text(5, 0)), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk := file.NewCrash()
			put(t, disk, c.content)
			s, err := stack.OpenFS(disk, name, &stack.Options{ReadOnly: true})
			if c.want == nil {
				if !isCorrupt(err) {
					t.Errorf("got %v", err)
				}
			} else {
				check(t, err)
				holds(t, s, c.want)
				check(t, s.Close())
			}
			same(t, raw(t, disk), c.content)
		})
	}
}

func TestReadOnlyOldGeneration(t *testing.T) {
	payload := text(60, 0)
	for _, length := range []uint64{60, 50, 70, 1<<64 - 1} {
		disk := file.NewCrash()
		content := oldImage(length, payload)
		put(t, disk, content)
		s := open(t, disk, &stack.Options{ReadOnly: true, LockPrefix: 10})
		holds(t, s, payload[:min(length, 60)])
		got, err := s.Get(7, 20)
		check(t, err)
		same(t, got, payload[7:20])
		check(t, s.Close())
		same(t, raw(t, disk), content)
	}
	disk := file.NewCrash()
	put(t, disk, oldImage(0, nil))
	s := open(t, disk, &stack.Options{ReadOnly: true})
	holds(t, s, nil)
	check(t, s.Close())
}

// oldImage is a file of generation 0.1.
func oldImage(length uint64, payload []byte) []byte {
	return append(le.AppendUint64([]byte{'B', 'S', 'T', 'K', 0, 1, 8, 0}, length), payload...)
}

func TestLockPrefix(t *testing.T) {
	disk := diskWith(t, text(100, 0))
	for _, n := range []int64{101, -1} {
		_, err := stack.OpenFS(disk, name, &stack.Options{LockPrefix: n})
		refused(t, err, stack.ErrRange)
	}
	s := open(t, disk, &stack.Options{LockPrefix: 20})
	refused(t, s.Set(19, text(2, 1)), stack.ErrPrefix)
	check(t, s.Set(20, text(2, 1)))
	check(t, s.Discard(80))
	check(t, s.LockUpTo(20))
	refused(t, s.Discard(1), stack.ErrPrefix)
	_, err := s.Push(text(5, 1))
	check(t, err)
	check(t, s.LockUpTo(25))
	if s.LockedLen() != 25 {
		t.Errorf("%d bytes are locked", s.LockedLen())
	}
	check(t, s.Close())
	s = open(t, disk, nil) // it is not stored
	if s.LockedLen() != 0 {
		t.Errorf("%d bytes are locked", s.LockedLen())
	}
	check(t, s.Discard(25))
	check(t, s.Close())
}

// Who was told that the prefix is locked does not see it change afterwards, not even by what was under way.
func TestLockUpToWaitsForItsTurn(t *testing.T) {
	for what, run := range map[string]func(s *stack.Stack) error{
		"Set":     func(s *stack.Stack) error { return s.Set(0, text(2, 1)) },
		"Atrunc":  func(s *stack.Stack) error { return s.Atrunc(99, text(2, 1)) },
		"Discard": func(s *stack.Stack) error { return s.Discard(99) },
	} {
		t.Run(what, func(t *testing.T) {
			disk, gate := gated(diskWith(t, text(100, 0)))
			s := open(t, disk, nil)
			changed, locked := make(chan error), make(chan []byte)
			go func() { changed <- run(s) }()
			gate.Await()
			go func() {
				if err := s.LockUpTo(50); err != nil && !errors.Is(err, stack.ErrRange) {
					t.Error(err)
				}
				p, _ := s.Get(0, s.LockedLen())
				locked <- p
			}()
			queued(s, 1)
			gate.Open()
			check(t, <-changed)
			p := <-locked
			got, err := s.Get(0, s.LockedLen())
			check(t, err)
			same(t, got, p)
			check(t, s.Close())
		})
	}
}

func TestLogger(t *testing.T) {
	for _, c := range []struct {
		content []byte
		want    string
	}{
		{image(5, headerSize, modeSet, text(5, 0), text(2, 1)), "recovering an interrupted change"},
		{image(5, 0, 0, text(9, 0)), "dropping bytes that were not committed"},
		{image(9, 0, 0, text(5, 0)), "the payload was cut"},
		{resting(text(5, 0)), ""},
	} {
		disk := file.NewCrash()
		put(t, disk, c.content)
		var log strings.Builder
		s := open(t, disk, &stack.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		check(t, s.Close())
		if !strings.Contains(log.String(), c.want) || (c.want == "") != (log.String() == "") {
			t.Errorf("logged %q, want %q", log.String(), c.want)
		}
	}
}
