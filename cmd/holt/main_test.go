// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/kv"
)

// result is what a command left behind.
type result struct {
	status         int
	stdout, stderr string
}

// holt runs the program in this process.
func holt(t testing.TB, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := run(args, strings.NewReader(""), &stdout, &stderr)
	return result{status, stdout.String(), stderr.String()}
}

// TestEveryCommand demands of each command what its users need to get along.
func TestEveryCommand(t *testing.T) {
	n := 0
	eachCommand(newRoot(), func(cmd *cobra.Command) {
		n++
		path := cmd.CommandPath()
		if cmd.Short == "" {
			t.Errorf("%s: no short description", path)
		}
		if strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: the short description ends with a full stop", path)
		}
		for line := range strings.Lines(cmd.Example) {
			if !strings.HasPrefix(line, "  ") || !strings.Contains(line, "holt ") {
				t.Errorf("%s: the example %q is not an indented command line", path, line)
			}
		}
		if cmd.Example == "" {
			t.Errorf("%s: no example", path)
		}
		if !strings.Contains(cmd.Example, strings.TrimPrefix(path, "holt ")) && path != "holt kv version" {
			t.Errorf("%s: the example is about something else: %s", path, cmd.Example)
		}
		if cmd.RunE == nil && cmd.Run == nil {
			t.Errorf("%s: cannot be run", path)
		}
		if cmd.Hidden {
			return
		}
		args := append(strings.Fields(path)[1:], "--help")
		r := holt(t, args...)
		if r.status != exitDone || r.stderr != "" {
			t.Errorf("%s --help: exit status %d, %s", path, r.status, r.stderr)
		}
		if !strings.Contains(r.stdout, exitNote) {
			t.Errorf("%s --help says nothing of the exit status", path)
		}
	})
	if n < 40 {
		t.Errorf("only %d commands", n)
	}
}

// TestFlagsAreDescribed demands a description of every flag.
func TestFlagsAreDescribed(t *testing.T) {
	eachCommand(newRoot(), func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.LocalFlags().FlagUsages()) {
			if len(strings.Fields(line)) < 3 {
				t.Errorf("%s: a flag without description: %s", cmd.CommandPath(), line)
			}
		}
	})
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputThatFails(t *testing.T) {
	var stderr bytes.Buffer
	status := run([]string{"version"}, strings.NewReader(""), failingWriter{}, &stderr)
	if status != exitFailed || !strings.Contains(stderr.String(), "writing the output: no space left") {
		t.Errorf("exit status %d, %q", status, stderr.String())
	}
}

func TestPanicIsReported(t *testing.T) {
	root := &cobra.Command{Use: "holt", RunE: func(*cobra.Command, []string) error { panic("oops") }}
	root.SetArgs([]string{})
	if _, err := execute(t.Context(), root); err == nil || !strings.Contains(err.Error(), "internal error, please report it: oops") {
		t.Errorf("error %v", err)
	}
}

// TestLockedFile has a writer keep the file: nobody else gets in, and nobody waits for ever.
func TestLockedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locked.db")
	db, err := kv.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"kv", "buckets", path},
		{"kv", "put", path, "b", "k", "v"},
		{"kv", "check", path},
		{"kv", "compact", "-o", path + ".new", path},
		{"kv", "import", path, t.TempDir()},
	} {
		r := holt(t, append(args, "--timeout", "60ms")...)
		if r.status != exitFailed || !strings.Contains(r.stderr, "is in use by another process") {
			t.Errorf("%s: exit status %d, %s", args[1], r.status, r.stderr)
		}
	}
	// Raw pages can be looked at all the same.
	if r := holt(t, "kv", "page", path, "0"); r.status != exitDone {
		t.Errorf("page: exit status %d, %s", r.status, r.stderr)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if r := holt(t, "kv", "buckets", path, "--timeout", "60ms"); r.status != exitDone {
		t.Errorf("afterwards: exit status %d, %s", r.status, r.stderr)
	}
}
