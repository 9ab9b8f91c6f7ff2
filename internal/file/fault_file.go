// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import "io/fs"

// faultFile is an open file of a [Fault].
type faultFile struct {
	under File
	fault *Fault
}

func (f *faultFile) check(kind OpKind, off, length int64) error {
	return f.fault.check(Op{Kind: kind, Name: f.under.Name(), Off: off, Len: length})
}

func (f *faultFile) Name() string { return f.under.Name() }

func (f *faultFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.check(OpRead, off, int64(len(b))); err != nil {
		return 0, err
	}
	return f.under.ReadAt(b, off)
}

func (f *faultFile) ReadVecAt(bufs [][]byte, off int64) (int, error) {
	if err := f.check(OpReadVec, off, totalLen(bufs)); err != nil {
		return 0, err
	}
	return f.under.ReadVecAt(bufs, off)
}

func (f *faultFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.check(OpWrite, off, int64(len(b))); err != nil {
		return f.writeShort([][]byte{b}, off), err
	}
	return f.under.WriteAt(b, off)
}

func (f *faultFile) WriteVecAt(bufs [][]byte, off int64) (int, error) {
	if err := f.check(OpWriteVec, off, totalLen(bufs)); err != nil {
		return f.writeShort(bufs, off), err
	}
	return f.under.WriteVecAt(bufs, off)
}

// WriteThrough that fails may have made something durable all the same, or everything.
func (f *faultFile) WriteThrough(b []byte, off int64) (int, error) {
	if err := f.check(OpThrough, off, int64(len(b))); err != nil {
		n, _ := f.under.WriteThrough(b[:f.fault.shortened(len(b)+1)], off) // it fails anyway, with the injected error
		return n, err
	}
	return f.under.WriteThrough(b, off)
}

// writeShort does as much of a failing write as is to be done.
func (f *faultFile) writeShort(bufs [][]byte, off int64) int {
	left := f.fault.shortened(int(totalLen(bufs)))
	done := 0
	for _, b := range bufs {
		if left == 0 {
			break
		}
		n, err := f.under.WriteAt(b[:min(left, len(b))], off+int64(done))
		done, left = done+n, left-n
		if err != nil {
			break // the write fails anyway, with the injected error
		}
	}
	return done
}

func totalLen(bufs [][]byte) (n int64) {
	for _, b := range bufs {
		n += int64(len(b))
	}
	return n
}

func (f *faultFile) Close() error {
	if err := f.check(OpClose, 0, 0); err != nil {
		_ = f.under.Close() // as after a failing close(2), the file is closed; one error is enough
		return err
	}
	return f.under.Close()
}

func (f *faultFile) Stat() (fs.FileInfo, error) {
	if err := f.check(OpStat, 0, 0); err != nil {
		return nil, err
	}
	return f.under.Stat()
}

func (f *faultFile) Size() (int64, error) {
	if err := f.check(OpStat, 0, 0); err != nil {
		return 0, err
	}
	return f.under.Size()
}

func (f *faultFile) Truncate(size int64) error {
	if err := f.check(OpTruncate, 0, size); err != nil {
		return err
	}
	return f.under.Truncate(size)
}

func (f *faultFile) PunchHole(off, length int64) error {
	if err := f.check(OpPunch, off, length); err != nil {
		return err
	}
	return f.under.PunchHole(off, length)
}

func (f *faultFile) SyncData() error {
	if err := f.check(OpSyncData, 0, 0); err != nil {
		return err
	}
	return f.under.SyncData()
}

func (f *faultFile) Sync() error {
	if err := f.check(OpSync, 0, 0); err != nil {
		return err
	}
	return f.under.Sync()
}

func (f *faultFile) TryLock(exclusive bool) error {
	if err := f.check(OpLock, 0, 0); err != nil {
		return err
	}
	return f.under.TryLock(exclusive)
}

func (f *faultFile) TryLockRecord(exclusive bool) error {
	if err := f.check(OpLock, 0, 0); err != nil {
		return err
	}
	return f.under.TryLockRecord(exclusive)
}

func (f *faultFile) Unlock() error {
	if err := f.check(OpUnlock, 0, 0); err != nil {
		return err
	}
	return f.under.Unlock()
}

func (f *faultFile) Map(length int, opts MapOptions) (Mapping, error) {
	if err := f.check(OpMap, 0, int64(length)); err != nil {
		return nil, err
	}
	under, err := f.under.Map(length, opts)
	if err != nil {
		return nil, err
	}
	return &faultMapping{Mapping: under, file: f}, nil
}

// faultMapping is a mapping of a [Fault].
type faultMapping struct {
	Mapping
	file *faultFile
}

func (m *faultMapping) Lock(n int) error {
	if err := m.file.check(OpMlock, 0, int64(n)); err != nil {
		return err
	}
	return m.Mapping.Lock(n)
}

func (m *faultMapping) Unlock(n int) error {
	if err := m.file.check(OpMunlock, 0, int64(n)); err != nil {
		return err
	}
	return m.Mapping.Unlock(n)
}

func (m *faultMapping) Unmap() error {
	if err := m.file.check(OpUnmap, 0, 0); err != nil {
		return err
	}
	return m.Mapping.Unmap()
}
