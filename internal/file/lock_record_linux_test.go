// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/holtdb/holt/internal/file"
)

// otherProcess names the file of which TestRecordLockHelper, in a process of its own, takes a classic record lock.
const otherProcess = "HOLT_TEST_RECORD_LOCK"

// TestRecordLockExcludesOthers takes a lock that another process then cannot have, by the call that Java uses; also not
// after another File of the same file was closed, at which a classic lock would vanish.
func TestRecordLockExcludesOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	fx := fixture{file.OS, ""}
	f, other := fx.create(t, path), fx.create(t, path)
	attempt := func() string {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRecordLockHelper$")
		cmd.Env = append(os.Environ(), otherProcess+"="+path)
		err := cmd.Run()
		if err == nil {
			return "taken"
		}
		if cmd.ProcessState.ExitCode() == 3 {
			return "excluded"
		}
		return err.Error()
	}
	for i, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return f.TryLock(true) }, "taken"}, // by flock, which is another matter
		{f.Unlock, "taken"},
		{func() error { return f.TryLockRecord(true) }, "excluded"},
		{other.Close, "excluded"},
		{f.Unlock, "taken"},
	} {
		must(t, step.do())
		if got := attempt(); got != step.want {
			t.Errorf("after step %d the other process's lock is %s, want %s", i, got, step.want)
		}
	}
}

func TestRecordLockHelper(t *testing.T) {
	path := os.Getenv(otherProcess)
	if path == "" {
		t.Skip("for TestRecordLockExcludesOthers")
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	err = unix.FcntlFlock(f.Fd(), unix.F_SETLK, &lock)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		os.Exit(3)
	}
	must(t, err)
}
