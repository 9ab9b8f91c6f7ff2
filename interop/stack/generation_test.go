// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/stack"
)

const oldHeaderSize = 16

// TestOlderGeneration takes files that bstack 0.2 wrote over to the format of 0.4.
func TestOlderGeneration(t *testing.T) {
	eachSeed(t, *histories/2, func(t *testing.T, seed uint64) {
		path := filepath.Join(scratch(t), "stack")
		g := newGenerator(seed)
		g.older = true
		m := new(model)
		p := old.start(t)
		for range 3 {
			p.do(t, "open "+path)
			work(t, p, g, m, 12)
			p.do(t, "close")
		}
		verifyOlder(t, path, m)
		verifyMigrated(t, readFile(t, path), m)
	})
}

// TestOlderGenerationAfterCrash takes over files that the older version left longer or shorter than they say.
func TestOlderGenerationAfterCrash(t *testing.T) {
	for name, test := range map[string]struct {
		length  uint64
		stored  int
		payload int
	}{
		"empty":           {0, 0, 0},
		"growth":          {10, 25, 10},
		"growth from 0":   {0, 25, 0},
		"shrink":          {25, 10, 10},
		"shrink to 0":     {25, 0, 0},
		"absurd":          {1<<64 - 1, 10, 10},
		"absurd, signed":  {1<<63 - 1, 10, 10},
		"several blocks":  {1000, 1000, 1000},
		"part of a block": {300, 299, 299},
	} {
		t.Run(name, func(t *testing.T) {
			body := newGenerator(1).data(int64(test.stored))
			file := binary.LittleEndian.AppendUint64([]byte("BSTK\x00\x01\x0f\x00"), test.length)
			file = append(file, body...)
			m := &model{body[:test.payload]}
			path := filepath.Join(t.TempDir(), "stack")
			writeFile(t, path, file)
			verifyOlder(t, path, m)
			verifyMigrated(t, file, m)
		})
	}
}

// verifyOlder demands that our engine refuses the file, and shows it to those who only read.
func verifyOlder(t *testing.T, path string, m *model) {
	t.Helper()
	file := readFile(t, path)
	_, err := stack.Open(path, nil)
	if wrong, ok := errors.AsType[*stack.VersionError](err); !ok || wrong.Version != "0.1" {
		t.Fatalf("open: %v, want a version error for 0.1", err)
	}
	s, err := stack.Open(path, &stack.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Peek(0); err != nil || !bytes.Equal(got, m.b) {
		t.Errorf("read-only: %d bytes, %v; want the %d that were written", len(got), err, m.Len())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(readFile(t, path), file) {
		t.Error("the file was changed by looking at it")
	}
}

// verifyMigrated demands that both sides turn the file into the same one, which bstack can open.
func verifyMigrated(t *testing.T, file []byte, m *model) {
	t.Helper()
	p := crate.start(t)
	dir := t.TempDir()
	ours, theirs := filepath.Join(dir, "ours"), filepath.Join(dir, "theirs")
	writeFile(t, ours, file)
	writeFile(t, theirs, file)
	if err := stack.Migrate(t.Context(), ours, nil); err != nil {
		t.Fatal(err)
	}
	verifyAtRest(t, ours, m)
	p.do(t, "migrate "+theirs)
	verifyAtRest(t, theirs, m)
	p.do(t, "open "+ours)
	verify(t, p, m)
	p.do(t, "push 01")
}

// TestRefusals holds the errors of files that one side cannot have.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	current, older := filepath.Join(dir, "current"), filepath.Join(dir, "older")
	for path, s := range map[string]side{current: holt, older: old} {
		p := s.start(t)
		p.do(t, "open "+path)
		p.do(t, "close")
	}
	if got := len(readFile(t, older)); got != oldHeaderSize {
		t.Errorf("%s makes files of %d bytes, want %d", old.name, got, oldHeaderSize)
	}
	for _, test := range []struct {
		side side
		line string
	}{
		{old, "open " + current},
		{crate, "open " + older},
		{holt, "open " + older},
		{crate, "migrate " + current},
	} {
		if got := test.side.start(t).try(t, test.line); got != "err" {
			t.Errorf("%s, %s: %s, want an error", test.side.name, test.line, got)
		}
	}
	if _, ok := errors.AsType[*stack.VersionError](stack.Migrate(t.Context(), current, nil)); !ok {
		t.Error("a file of 0.4 can be migrated")
	}
}

// TestLock has each side keep the other out of a file that it has open.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stack")
	c := crate.start(t)
	c.do(t, "open "+path)
	for _, readOnly := range []bool{false, true} {
		if _, err := stack.Open(path, &stack.Options{ReadOnly: readOnly}); !errors.Is(err, stack.ErrLocked) {
			t.Errorf("read-only %t, while %s has it open: %v, want ErrLocked", readOnly, c.name, err)
		}
	}
	c.do(t, "push 010203")
	c.do(t, "close")
	for _, readOnly := range []bool{false, true} {
		s, err := stack.Open(path, &stack.Options{ReadOnly: readOnly})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.try(t, "open "+path); got != "err" {
			t.Errorf("%s opens what we have open, read-only %t", c.name, readOnly)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	c.do(t, "open "+path)
}
