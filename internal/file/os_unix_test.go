// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package file_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/holtdb/holt/internal/file"
)

// TestNoFiles opens what is no file: it does not wait for the other end of a pipe.
func TestNoFiles(t *testing.T) {
	t.Chdir(t.TempDir()) // names of sockets must be short
	must(t, unix.Mkfifo("pipe", 0o600))
	l, err := net.Listen("unix", "socket")
	must(t, err)
	defer func() { must(t, l.Close()) }()
	must(t, os.Symlink("pipe", "link"))
	for _, name := range []string{"pipe", "socket", "link", os.DevNull} {
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE} {
			_, err := file.OS.OpenFile(name, flag, 0o666)
			wantErr(t, err, file.ErrNoFile)
			if err != nil && !strings.Contains(err.Error(), filepath.Base(name)) {
				t.Errorf("error %v, which does not name %s", err, name)
			}
		}
	}
}
