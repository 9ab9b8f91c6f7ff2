// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// ErrPowerCut is wrapped by the errors of a [Crash] file system whose power is off.
var ErrPowerCut = errors.New("file: power cut")

// Crash is a file system in memory that can lose power. It is meant for tests: they let [Crash.CutAt] stop a program in
// the middle and look at what [Crash.AfterCut] says may be found then.
//
// It keeps two states, what programs see and what is durable, and between them a log of changes not yet synced. A
// sync of a file makes its contents and length durable, whoever wrote them, but not its name; that takes SyncDir.
// When the power goes, any subset of the log survives, in any combination: a later change without an earlier one, a
// name without contents, a length without the bytes (zeros then), bytes beyond a lost length (which they extend), and
// parts of a write (see [Crash.SetSector]). Changes that survive take effect in the order they were made. Only a
// rename within a directory is always whole; one to another directory may leave the file there, here, in both, or in
// neither. Times of files count as durable at once.
//
// Directories need not be made: every one exists, and a name is in the one that [filepath.Dir] says. After the cut,
// files can still be read, which no program on a dead machine could, but not changed.
//
// Its mappings are plain memory, kept up to date by every write while the file system's lock is held. So the race
// detector, which cannot see what the kernel does to real mappings, reports bytes that are read from a mapping while
// they are written to the file. Bytes beyond the end of the file are zero and do not fault. Unmap returns an error if
// the mapping was written to, and overwrites it, so that uses of it from then on show.
type Crash struct {
	mu      sync.Mutex
	seen    names    // guarded by mu
	durable names    // guarded by mu
	log     []change // not durable yet, oldest first; guarded by mu
	counts  Counts   // guarded by mu
	sector  int      // guarded by mu
	cutAt   int      // cut the power when counts.Ops gets there; 0 never; guarded by mu
	cut     bool     // guarded by mu
	memory  bool     // everything is durable at once: both states share their parts, and the log stays empty
}

// Counts are the calls a [Crash] or a [Counter] has seen; of a Crash up to and including the one that the power cut.
type Counts struct {
	Ops        int // all calls below that change something or make it durable
	Writes     int // WriteAt, WriteVecAt and WriteThrough, one each however many buffers
	Throughs   int // WriteThrough, part of Writes
	WriteBytes int64
	Truncates  int
	Punches    int
	DataSyncs  int // SyncData
	Syncs      int // Sync
	DirSyncs   int // SyncDir
	Creates    int
	Renames    int
	Removes    int
	Reads      int // ReadAt and ReadVecAt; not part of Ops
	ReadBytes  int64
}

// defaultSector is what disks promise to write whole.
const defaultSector = 512

// NewCrash returns an empty file system.
func NewCrash() *Crash {
	return &Crash{seen: names{}, durable: names{}, sector: defaultSector}
}

// NewMemory returns an empty file system for those who want the memory and not the crash: everything is durable at
// once, so that no log grows when nobody syncs.
func NewMemory() *Crash {
	all := names{}
	return &Crash{seen: all, durable: all, sector: defaultSector, memory: true}
}

// SetSector sets the size of the pieces in which writes survive, in bytes: they are torn at its multiples. The default
// is 512; 1 tears anywhere, 0 nowhere.
func (c *Crash) SetSector(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sector = size
}

// CutAt makes the power go at the k-th mutating call from now on: write, truncate, punch, sync, create, rename or
// remove. That call fails, though its effect may be found after the cut like that of any call not synced, and all
// later ones fail without effect. Zero takes an earlier CutAt back.
func (c *Crash) CutAt(k int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cutAt = 0
	if k > 0 {
		c.cutAt = c.counts.Ops + k
	}
}

// Cut makes the power go now.
func (c *Crash) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
}

// IsCut says whether the power is gone.
func (c *Crash) IsCut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cut
}

// Counts returns what has been counted since the file system was made.
func (c *Crash) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}

// OpenFile opens name as [os.OpenFile] does. Creating a file, and emptying one that is not empty, are mutating calls.
func (c *Crash) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ino, err := c.open(name, flag, perm)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &crashFile{disk: c, ino: ino, name: name, flag: flag}, nil
}

func (c *Crash) open(name string, flag int, perm fs.FileMode) (*inode, error) {
	ino, ok := c.seen.lookup(name)
	switch {
	case !ok && flag&os.O_CREATE != 0 && name != "":
		ino = newInode(perm)
		ino.modTime = c.now()
		if c.memory {
			ino.durable = ino.seen
		}
		created := change{kind: named, ino: ino, name: filepath.Clean(name)}
		return ino, c.mutate(&c.counts.Creates, created)
	case !ok:
		return nil, fs.ErrNotExist
	case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, fs.ErrExist
	case flag&os.O_TRUNC != 0 && ino.seen.size() > 0:
		return ino, c.mutate(&c.counts.Truncates, change{kind: resized, ino: ino})
	}
	return ino, nil
}

// Stat describes name.
func (c *Crash) Stat(name string) (fs.FileInfo, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ino, ok := c.seen.lookup(name)
	if !ok {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return ino.info(name), nil
}

// SameFile compares what Stat returned.
func (c *Crash) SameFile(a, b fs.FileInfo) bool {
	x, xok := a.(*crashInfo)
	y, yok := b.(*crashInfo)
	return xok && yok && x.ino == y.ino
}

// Rename moves a file.
func (c *Crash) Rename(oldName, newName string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.rename(filepath.Clean(oldName), filepath.Clean(newName)); err != nil {
		return &os.LinkError{Op: "rename", Old: oldName, New: newName, Err: err}
	}
	return nil
}

func (c *Crash) rename(oldName, newName string) error {
	ino, ok := c.seen.lookup(oldName)
	switch {
	case !ok:
		return fs.ErrNotExist
	case oldName == newName:
		return nil
	case filepath.Dir(oldName) != filepath.Dir(newName):
		return c.mutate(&c.counts.Renames, change{kind: named, ino: ino, name: newName}, change{kind: named, gone: oldName})
	}
	return c.mutate(&c.counts.Renames, change{kind: named, ino: ino, name: newName, gone: oldName})
}

// Chtimes sets the time when a file was last modified. It is not counted, as there is nothing of it that a cut could
// take.
func (c *Crash) Chtimes(name string, modified time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ino, ok := c.seen.lookup(name)
	switch {
	case c.cut:
		return &fs.PathError{Op: "chtimes", Path: name, Err: ErrPowerCut}
	case !ok:
		return &fs.PathError{Op: "chtimes", Path: name, Err: fs.ErrNotExist}
	}
	ino.modTime = modified
	return nil
}

// Remove removes a name; open files keep what they have.
func (c *Crash) Remove(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.seen.lookup(name)
	err := fs.ErrNotExist
	if ok {
		err = c.mutate(&c.counts.Removes, change{kind: named, gone: filepath.Clean(name)})
	}
	if err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

// SyncDir makes durable which names dir has.
func (c *Crash) SyncDir(dir string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.mutate(&c.counts.DirSyncs)
	if err != nil {
		return &fs.PathError{Op: "sync", Path: dir, Err: err}
	}
	dir = filepath.Clean(dir)
	c.settle(func(ch change) bool { return ch.kind == named && ch.dir() == dir })
	return nil
}

// ReadDir returns the names of the files in dir.
func (c *Crash) ReadDir(dir string) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	dir = filepath.Clean(dir)
	var list []string
	for name := range c.seen {
		if filepath.Dir(name) == dir {
			list = append(list, filepath.Base(name))
		}
	}
	slices.Sort(list)
	return list, nil
}

// Subdirs returns the names of the directories in dir that there are files in, or below.
func (c *Crash) Subdirs(dir string) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	dir = filepath.Clean(dir)
	var list []string
	for name := range c.seen {
		for sub := filepath.Dir(name); filepath.Dir(sub) != sub; sub = filepath.Dir(sub) {
			if filepath.Dir(sub) == dir {
				list = append(list, filepath.Base(sub))
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// MkdirAll does nothing: every directory exists.
func (c *Crash) MkdirAll(string, fs.FileMode) error { return nil }

// mutate counts a call and makes its changes, unless the power is gone or goes now. In the latter case the changes are
// logged all the same: they were on their way to the disk.
func (c *Crash) mutate(counter *int, changes ...change) error {
	if c.cut {
		return ErrPowerCut
	}
	*counter++
	c.counts.Ops++
	for _, ch := range changes {
		c.counts.WriteBytes += int64(len(ch.data))
	}
	c.cut = c.counts.Ops == c.cutAt
	if !c.memory {
		c.log = append(c.log, changes...)
	}
	if c.cut {
		return ErrPowerCut
	}
	now := c.now()
	for _, ch := range changes {
		ch.apply(c.seen, func(ino *inode) *contents { return ino.seen })
		if ch.kind != named {
			ch.ino.modTime = now
		}
	}
	return nil
}

// now makes time stamps that are the same in every run.
func (c *Crash) now() time.Time { return time.Unix(int64(c.counts.Ops), 0) }

// settleWrite makes durable the last change of the log, a write, with the length that it needs. Lengths that were set
// before it and holes are durable then, too, with all that was before them: a file system keeps those in order.
func (c *Crash) settleWrite(ino *inode) {
	if len(c.log) == 0 {
		return // everything is durable at once
	}
	ordered := -1
	for i, ch := range c.log {
		if ch.ino == ino && (ch.kind == resized || ch.kind == punched) {
			ordered = i
		}
	}
	at := -1
	c.settle(func(ch change) bool {
		at++
		return at <= ordered && ch.kind != named && ch.ino == ino
	})
	last := c.log[len(c.log)-1]
	var rest []change
	for _, ch := range c.log[:len(c.log)-1] {
		if ch.kind == written && ch.ino == ino {
			rest = append(rest, ch.outside(last.off, last.off+int64(len(last.data)))...)
		} else {
			rest = append(rest, ch)
		}
	}
	c.log = rest
	ino.durable.write(last.off, last.data)
}

// settle makes the logged changes that match durable.
func (c *Crash) settle(match func(change) bool) {
	rest := c.log[:0]
	for _, ch := range c.log {
		if match(ch) {
			ch.apply(c.durable, func(ino *inode) *contents { return ino.durable })
		} else {
			rest = append(rest, ch)
		}
	}
	clear(c.log[len(rest):])
	c.log = rest
}
