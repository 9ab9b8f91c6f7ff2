// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holtdb/holt/stack"
)

// newStackFile makes a stack that holds a payload.
func newStackFile(t *testing.T, payload string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.stack")
	if r := holt(t, "stack", "push", path, payload, "--create"); r.status != exitDone {
		t.Fatal(r.stderr)
	}
	return path
}

// TestPopThatCannotPrint demands that bytes stay which nobody has seen.
func TestPopThatCannotPrint(t *testing.T) {
	path := newStackFile(t, "hello")
	for _, args := range [][]string{
		{"stack", "pop", path, "2"}, {"stack", "pop", path, "2", "--raw"}, {"stack", "pop", path, "2", "--json"},
	} {
		var stderr bytes.Buffer
		if status := run(args, strings.NewReader(""), failingWriter{}, &stderr); status != exitFailed {
			t.Errorf("%v: exit status %d, %s", args[3:], status, stderr.String())
		}
		if r := holt(t, "stack", "peek", path); r.stdout != "hello\n" {
			t.Errorf("%v: %q is left", args[3:], r.stdout)
		}
	}
}

// TestLockedStack has somebody use the file: nobody else gets in, and nobody waits.
func TestLockedStack(t *testing.T) {
	path := newStackFile(t, "hello")
	s, err := stack.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	commands := [][]string{
		{"info"},
		{"check"},
		{"dump"},
		{"free-map"},
		{"peek"},
		{"push", "x"},
		{"pop", "1"},
		{"recover"},
		{"alloc", "1"},
	}
	for _, words := range commands {
		args := append([]string{"stack", words[0], path}, words[1:]...)
		if r := holt(t, args...); r.status != exitFailed || !strings.Contains(r.stderr, "is in use by another process") {
			t.Errorf("%v: exit status %d, %s", words, r.status, r.stderr)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file has changed (%v)", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if r := holt(t, "stack", "info", path); r.status != exitDone {
		t.Errorf("afterwards: exit status %d, %s", r.status, r.stderr)
	}
}

// TestReadersTogether has two programs read a stack at the same time.
func TestReadersTogether(t *testing.T) {
	path := newStackFile(t, "hello")
	s, err := stack.Open(path, &stack.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if r := holt(t, "stack", "peek", path); r.stdout != "hello\n" {
		t.Errorf("%q, exit status %d, %s", r.stdout, r.status, r.stderr)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
