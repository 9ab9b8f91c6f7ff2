// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// crashFile is an open file of a [Crash]. Its fields do not change, but for closed.
type crashFile struct {
	disk   *Crash
	ino    *inode
	name   string
	flag   int
	closed bool // guarded by disk.mu
}

// do runs an operation under the file system's lock and names it in its error.
func (f *crashFile) do(op string, fn func() error) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	err := fs.ErrClosed
	if !f.closed {
		err = fn()
	}
	if err == nil || err == io.EOF { //nolint:errorlint // io.EOF of ReadAt goes unwrapped by its contract
		return err
	}
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

func (f *crashFile) Name() string { return f.name }

func (f *crashFile) Close() error {
	return f.do("close", func() error {
		f.closed = true
		delete(f.ino.locks, f)
		return nil
	})
}

func (f *crashFile) Stat() (info fs.FileInfo, err error) {
	err = f.do("stat", func() error {
		info = f.ino.info(f.name)
		return nil
	})
	return info, err
}

func (f *crashFile) Size() (size int64, err error) {
	err = f.do("stat", func() error {
		size = f.ino.seen.size()
		return nil
	})
	return size, err
}

func (f *crashFile) ReadAt(b []byte, off int64) (int, error) {
	return f.ReadVecAt([][]byte{b}, off)
}

func (f *crashFile) ReadVecAt(bufs [][]byte, off int64) (n int, err error) {
	err = f.do("read", func() error {
		switch {
		case f.flag&os.O_WRONLY != 0:
			return syscall.EBADF
		case off < 0:
			return syscall.EINVAL
		}
		rest := f.ino.seen.b[min(off, f.ino.seen.size()):]
		for _, b := range bufs {
			k := copy(b, rest)
			n, rest = n+k, rest[k:]
			if k < len(b) {
				err = io.EOF
				break
			}
		}
		f.disk.counts.Reads++
		f.disk.counts.ReadBytes += int64(n)
		return err
	})
	return n, err
}

func (f *crashFile) WriteAt(b []byte, off int64) (int, error) {
	return f.WriteVecAt([][]byte{b}, off)
}

func (f *crashFile) WriteVecAt(bufs [][]byte, off int64) (int, error) {
	data := slices.Concat(bufs...) // a copy: the log keeps it
	err := f.do("write", func() error {
		if err := f.writable(off); err != nil {
			return err
		}
		return f.disk.mutate(&f.disk.counts.Writes, f.changes(data, off)...)
	})
	if err != nil {
		return 0, err
	}
	return len(data), nil
}

func (f *crashFile) WriteThrough(b []byte, off int64) (int, error) {
	err := f.do("write", func() error {
		if err := f.writable(off); err != nil {
			return err
		}
		f.disk.counts.Throughs++
		changes := f.changes(slices.Clone(b), off)
		if err := f.disk.mutate(&f.disk.counts.Writes, changes...); err != nil || len(changes) == 0 {
			return err
		}
		f.disk.settleWrite(f.ino)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// changes are those of a write: the bytes, and before them the new length if there is one.
func (f *crashFile) changes(data []byte, off int64) []change {
	if len(data) == 0 {
		return nil
	}
	written := change{kind: written, ino: f.ino, off: off, data: data}
	if end := off + int64(len(data)); end > f.ino.seen.size() {
		return []change{{kind: grown, ino: f.ino, off: end}, written}
	}
	return []change{written}
}

// writable checks a call that changes the file from off on.
func (f *crashFile) writable(off int64) error {
	switch {
	case f.flag&(os.O_WRONLY|os.O_RDWR) == 0:
		return syscall.EBADF
	case f.flag&os.O_APPEND != 0:
		return errors.New("invalid use of WriteAt on file opened with O_APPEND")
	case off < 0:
		return syscall.EINVAL
	}
	return nil
}

func (f *crashFile) Truncate(size int64) error {
	return f.do("truncate", func() error {
		if err := f.writable(size); err != nil {
			return err
		}
		return f.disk.mutate(&f.disk.counts.Truncates, change{kind: resized, ino: f.ino, off: size})
	})
}

func (f *crashFile) PunchHole(off, length int64) error {
	return f.do("punch", func() error {
		if err := f.writable(min(off, length)); err != nil {
			return err
		}
		return f.disk.mutate(&f.disk.counts.Punches, change{kind: punched, ino: f.ino, off: off, n: length})
	})
}

func (f *crashFile) SyncData() error { return f.sync(&f.disk.counts.DataSyncs) }
func (f *crashFile) Sync() error     { return f.sync(&f.disk.counts.Syncs) }

func (f *crashFile) sync(counter *int) error {
	return f.do("sync", func() error {
		if err := f.disk.mutate(counter); err != nil {
			return err
		}
		f.disk.settle(func(ch change) bool { return ch.kind != named && ch.ino == f.ino })
		return nil
	})
}

func (f *crashFile) TryLock(exclusive bool) error {
	return f.do("lock", func() error { return f.ino.lock(f, exclusive) })
}

func (f *crashFile) TryLockRecord(exclusive bool) error { return f.TryLock(exclusive) }

func (f *crashFile) Unlock() error {
	return f.do("unlock", func() error {
		delete(f.ino.locks, f)
		return nil
	})
}

func (f *crashFile) Map(length int, _ MapOptions) (m Mapping, err error) {
	err = f.do("mmap", func() error {
		if length <= 0 {
			return syscall.EINVAL
		}
		view := &crashMapping{disk: f.disk, ino: f.ino, name: f.name, b: make([]byte, length)}
		copy(view.b, f.ino.seen.b)
		f.ino.seen.views = append(f.ino.seen.views, view)
		m = view
		return nil
	})
	return m, err
}

// errMappingWritten is returned by Unmap: a real mapping would have faulted at the write.
var errMappingWritten = errors.New("the mapping was written to")

// unmapped is what the bytes of a mapping are overwritten with in the end.
const unmapped = 0xdb

// crashMapping is a copy of a file's first bytes, kept up to date by [contents].
type crashMapping struct {
	disk *Crash
	ino  *inode
	name string
	b    []byte // guarded by disk.mu, but readers of Bytes do not take it
}

// from returns the mapped bytes from off on.
func (m *crashMapping) from(off int64) []byte {
	return m.b[min(off, int64(len(m.b))):]
}

func (m *crashMapping) Bytes() []byte { return m.b }

func (m *crashMapping) Lock(n int) error   { return m.lockable(n) }
func (m *crashMapping) Unlock(n int) error { return m.lockable(n) }

func (m *crashMapping) lockable(n int) error {
	if n < 0 || n > len(m.b) {
		return &fs.PathError{Op: "mlock", Path: m.name, Err: syscall.EINVAL}
	}
	return nil
}

func (m *crashMapping) Unmap() error {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	if m.b == nil {
		return nil
	}
	now := m.ino.seen
	now.views = slices.DeleteFunc(now.views, func(v *crashMapping) bool { return v == m })
	n := min(len(m.b), len(now.b))
	intact := bytes.Equal(m.b[:n], now.b[:n])
	for i := range m.b {
		m.b[i] = unmapped
	}
	m.b = nil
	if !intact {
		return &fs.PathError{Op: "munmap", Path: m.name, Err: errMappingWritten}
	}
	return nil
}
