// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
)

// OS is the file system of the operating system.
var OS FS = osFS{}

type osFS struct{}

// OpenFile asks first what is there: to open a pipe would wait for its other end.
func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if info, err := os.Stat(name); err == nil {
		if err := refuse(info.Mode()); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return newOSFile(f), nil
}

// refuse says why a file of a kind cannot be one of an engine's. Block devices have bytes as files do.
func refuse(mode fs.FileMode) error {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return fmt.Errorf("%w: a named pipe", ErrNoFile)
	case mode&fs.ModeSocket != 0:
		return fmt.Errorf("%w: a socket", ErrNoFile)
	case mode&fs.ModeCharDevice != 0:
		return fmt.Errorf("%w: a character device", ErrNoFile)
	}
	return nil // directories are refused when they are used as a file
}

func (osFS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }
func (osFS) SameFile(a, b fs.FileInfo) bool        { return os.SameFile(a, b) }
func (osFS) Rename(oldName, newName string) error  { return os.Rename(oldName, newName) }
func (osFS) Remove(name string) error              { return os.Remove(name) }
func (osFS) SyncDir(dir string) error              { return syncDir(dir) }

func (osFS) MkdirAll(dir string, perm fs.FileMode) error { return os.MkdirAll(dir, perm) }

func (osFS) Chtimes(name string, modified time.Time) error {
	return os.Chtimes(name, modified, modified)
}

func (osFS) ReadDir(dir string) ([]string, error) { return list(dir, false) }
func (osFS) Subdirs(dir string) ([]string, error) { return list(dir, true) }

// list lists the directories in a directory, or everything else.
func list(dir string, dirs bool) ([]string, error) {
	entries, err := os.ReadDir(dir)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.IsDir() == dirs {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// osFile adds to an os.File what that package has no portable call for. ReadAt, Close, Name, Stat, Truncate and Sync
// are those of os.File; its Sync is F_FULLFSYNC on macOS, FlushFileBuffers on Windows and fsync elsewhere.
type osFile struct {
	*os.File
	raw   syscall.RawConn // lends the descriptor out and keeps it open meanwhile, even if Close is called
	views views
}

func newOSFile(f *os.File) *osFile {
	raw, err := f.SyscallConn()
	if err != nil {
		panic("file: Wrap of a nil *os.File") // the only error there is
	}
	return &osFile{File: f, raw: raw}
}

// control calls fn with the descriptor and names op and the file in its error.
func (f *osFile) control(op string, fn func(fd uintptr) error) error {
	c := controls.Get().(*control)
	c.fn, c.err = fn, nil
	err := f.raw.Control(c.run)
	if err != nil {
		err = fs.ErrClosed // Control itself fails for no other reason
	} else {
		err = c.err
	}
	c.fn = nil
	controls.Put(c)
	return f.pathError(op, err)
}

// control is a call of Control, whose closure is made once: it is used for every sync.
type control struct {
	fn  func(fd uintptr) error
	err error
	run func(fd uintptr)
}

var controls = sync.Pool{New: func() any {
	c := new(control)
	c.run = func(fd uintptr) { c.err = c.fn(fd) }
	return c
}}

func (f *osFile) pathError(op string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: f.Name(), Err: err}
}

func (f *osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f *osFile) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(b, off)
	return n, f.written(off, n, err)
}

// writeAndSync is WriteThrough where the system has no call for it.
func writeAndSync(f *osFile, b []byte, off int64) (int, error) {
	n, err := f.WriteAt(b, off)
	if err != nil {
		return n, err
	}
	return n, f.SyncData()
}

// written must follow every write: it lets the mappings of f see the n bytes at off. err is the error of the write.
func (f *osFile) written(off int64, n int, err error) error {
	if verr := f.views.refresh(off, n); verr != nil && err == nil {
		err = f.pathError("msync", verr)
	}
	return err
}
