// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// names are the files of a file system, by cleaned path.
type names map[string]*inode

func (n names) lookup(name string) (*inode, bool) {
	ino, ok := n[filepath.Clean(name)]
	return ino, ok
}

// inode is a file of a [Crash], with or without a name. Its fields are guarded by the file system's mu.
type inode struct {
	seen    *contents // what reads return
	durable *contents // what survives a power cut in any case
	mode    fs.FileMode
	modTime time.Time
	locks   map[*crashFile]bool // held locks; true: exclusive
}

func newInode(perm fs.FileMode) *inode {
	return &inode{
		seen:    &contents{},
		durable: &contents{},
		mode:    perm.Perm(),
		locks:   map[*crashFile]bool{},
	}
}

// lock gives holder the lock in exchange for the one it has. As with flock, a failed exchange loses that.
func (ino *inode) lock(holder *crashFile, exclusive bool) error {
	delete(ino.locks, holder)
	for _, other := range ino.locks {
		if exclusive || other {
			return ErrLocked
		}
	}
	ino.locks[holder] = exclusive
	return nil
}

func (ino *inode) info(name string) fs.FileInfo {
	return &crashInfo{
		ino:     ino,
		name:    filepath.Base(name),
		size:    ino.seen.size(),
		mode:    ino.mode,
		modTime: ino.modTime,
	}
}

// crashInfo is what Stat found.
type crashInfo struct {
	ino     *inode
	name    string
	size    int64
	mode    fs.FileMode
	modTime time.Time
}

func (i *crashInfo) Name() string       { return i.name }
func (i *crashInfo) Size() int64        { return i.size }
func (i *crashInfo) Mode() fs.FileMode  { return i.mode }
func (i *crashInfo) ModTime() time.Time { return i.modTime }
func (i *crashInfo) IsDir() bool        { return false }
func (i *crashInfo) Sys() any           { return nil }

// contents are the bytes of a file and the mappings that show them.
type contents struct {
	b     []byte
	views []*crashMapping
}

func (c *contents) clone() *contents { return &contents{b: slices.Clone(c.b)} }

func (c *contents) size() int64 { return int64(len(c.b)) }

// write puts p at off, growing the file as needed. Mapped bytes other than these are left alone, not even written with
// what they hold: they may be being read.
func (c *contents) write(off int64, p []byte) {
	if len(p) == 0 {
		return
	}
	c.grow(off + int64(len(p)))
	copy(c.b[off:], p)
	for _, v := range c.views {
		copy(v.from(off), p)
	}
}

// grow makes the file at least size long.
func (c *contents) grow(size int64) {
	if size > c.size() {
		c.resize(size)
	}
}

// resize sets the length. In views, what lies beyond the end is zero already, or made so now.
func (c *contents) resize(size int64) {
	old := c.size()
	if size < old {
		c.zero(size, old-size)
		c.b = c.b[:size]
		return
	}
	c.b = slices.Grow(c.b, int(size-old))[:size]
	clear(c.b[old:])
}

// zero clears n bytes at off, as far as the file has them.
func (c *contents) zero(off, n int64) {
	end := min(off+n, c.size())
	if off >= end {
		return
	}
	clear(c.b[off:end])
	for _, v := range c.views {
		view := v.from(off)
		clear(view[:min(int64(len(view)), end-off)])
	}
}
