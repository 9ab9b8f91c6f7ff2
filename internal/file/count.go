// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"io/fs"
	"os"
	"sync"
)

// Counter is a file system that counts the calls that it hands on to the one below. Those that fail count too. What is
// read through mappings does not show.
type Counter struct {
	FS

	mu     sync.Mutex
	counts Counts // guarded by mu
}

// NewCounter wraps a file system.
func NewCounter(under FS) *Counter { return &Counter{FS: under} }

// Counts returns what has been counted so far.
func (c *Counter) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}

// Minus is what was counted since before.
func (c Counts) Minus(before Counts) Counts {
	return Counts{
		Ops: c.Ops - before.Ops, Writes: c.Writes - before.Writes, WriteBytes: c.WriteBytes - before.WriteBytes,
		Throughs:  c.Throughs - before.Throughs,
		Truncates: c.Truncates - before.Truncates, Punches: c.Punches - before.Punches,
		DataSyncs: c.DataSyncs - before.DataSyncs, Syncs: c.Syncs - before.Syncs, DirSyncs: c.DirSyncs - before.DirSyncs,
		Creates: c.Creates - before.Creates, Renames: c.Renames - before.Renames, Removes: c.Removes - before.Removes,
		Reads: c.Reads - before.Reads, ReadBytes: c.ReadBytes - before.ReadBytes,
	}
}

// note counts a call.
func (c *Counter) note(count func(n *Counts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	count(&c.counts)
}

// OpenFile opens a file whose calls are counted. It counts as a creation if there was none.
func (c *Counter) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if flag&os.O_CREATE != 0 {
		if _, err := c.Stat(name); err != nil {
			c.note(func(n *Counts) { n.Ops++; n.Creates++ })
		}
	}
	f, err := c.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &countedFile{f, c}, nil
}

// Rename moves a file.
func (c *Counter) Rename(oldName, newName string) error {
	c.note(func(n *Counts) { n.Ops++; n.Renames++ })
	return c.FS.Rename(oldName, newName)
}

// Remove removes a file.
func (c *Counter) Remove(name string) error {
	c.note(func(n *Counts) { n.Ops++; n.Removes++ })
	return c.FS.Remove(name)
}

// SyncDir makes the names of a directory durable.
func (c *Counter) SyncDir(dir string) error {
	c.note(func(n *Counts) { n.Ops++; n.DirSyncs++ })
	return c.FS.SyncDir(dir)
}

// countedFile is an open file of a [Counter].
type countedFile struct {
	File
	counter *Counter
}

func (f *countedFile) read(bytes int) {
	f.counter.note(func(n *Counts) { n.Reads++; n.ReadBytes += int64(bytes) })
}

func (f *countedFile) wrote(bytes int) {
	f.counter.note(func(n *Counts) { n.Ops++; n.Writes++; n.WriteBytes += int64(bytes) })
}

func (f *countedFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	f.read(n)
	return n, err
}

func (f *countedFile) ReadVecAt(bufs [][]byte, off int64) (int, error) {
	n, err := f.File.ReadVecAt(bufs, off)
	f.read(n)
	return n, err
}

func (f *countedFile) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(b, off)
	f.wrote(n)
	return n, err
}

func (f *countedFile) WriteVecAt(bufs [][]byte, off int64) (int, error) {
	n, err := f.File.WriteVecAt(bufs, off)
	f.wrote(n)
	return n, err
}

func (f *countedFile) WriteThrough(b []byte, off int64) (int, error) {
	n, err := f.File.WriteThrough(b, off)
	f.wrote(n)
	f.counter.note(func(n *Counts) { n.Throughs++ })
	return n, err
}

func (f *countedFile) Truncate(size int64) error {
	f.counter.note(func(n *Counts) { n.Ops++; n.Truncates++ })
	return f.File.Truncate(size)
}

func (f *countedFile) PunchHole(off, length int64) error {
	f.counter.note(func(n *Counts) { n.Ops++; n.Punches++ })
	return f.File.PunchHole(off, length)
}

func (f *countedFile) SyncData() error {
	f.counter.note(func(n *Counts) { n.Ops++; n.DataSyncs++ })
	return f.File.SyncData()
}

func (f *countedFile) Sync() error {
	f.counter.note(func(n *Counts) { n.Ops++; n.Syncs++ })
	return f.File.Sync()
}
