// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/holtdb/holt/internal/file"
)

// Options adjust [Open]. The zero value is good for writing.
type Options struct {
	// ReadOnly opens a store to be read, beside a program that writes to it perhaps. What is seen is the state at that
	// moment, which must have a head. Nothing is changed or created: where there is no store that is [ErrNoStore].
	ReadOnly bool
	// LockTimeout is how long to wait for another program that has the store open for writing; zero is not at all.
	LockTimeout time.Duration
	// Limit is the length, in bytes, at which an archive is closed and the next one begun: 256 MiB if it is zero, and at
	// most 1 GiB.
	Limit int64
	// FlushEvery has SetHead return before the new head is durable. All that is new is made durable at this interval (Oak's
	// is 5 seconds) and by Flush and Close: segments, then the head. A crash takes away what was set since, and nothing
	// else. Only heads that become durable are in the journal. The first head of a new store is durable at once. Calls may
	// have to wait for a flush that is under way. Zero has SetHead wait until any head is durable.
	FlushEvery time.Duration
	// NoHead opens a store whose journal leads nowhere, which is an error otherwise if there are segments. It is for
	// programs that write another journal: see [Dir.ReplaceJournal]. Where there is no store, none is made.
	NoHead bool
	// Logger is told about recovery, and journals that had to be read further back; nil discards.
	Logger *slog.Logger
	// Now is the clock, for the headers of archives; nil is that of the system.
	Now func() time.Time
	// FS is where the files are; nil is the operating system's. For tests inside this module, which alone can name its type.
	FS file.FS
}

const (
	defaultLimit = 256 << 20
	maxLimit     = 1 << 30

	journalName = "journal.log"
	gcLogName   = "gc.log"
	lockName    = "repo.lock"
)

// Open opens the store in a directory, which is made if need be. A nil opts is the zero value.
//
// Opening for writing replaces archives that were not closed by copies that were, and keeps the originals under names that
// end in .bak. It makes a store of Oak 1.6 one of Oak 1.8, which 1.6 cannot open.
func Open(dir string, opts *Options) (*Dir, error) {
	d := &Dir{path: dir, stop: make(chan struct{})}
	if opts != nil {
		d.opts = *opts
	}
	d.defaults()
	if err := d.open(); err != nil {
		return nil, errors.Join(err, d.release())
	}
	if d.opts.FlushEvery > 0 && !d.opts.ReadOnly {
		d.background.Go(d.keepFlushing)
	}
	return d, nil
}

func (d *Dir) defaults() {
	o := &d.opts
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	o.Limit = min(o.Limit, maxLimit)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if d.fs = o.FS; d.fs == nil {
		d.fs = file.OS
	}
}

// open goes by this order: what was found is trusted after the lock is held; nothing is changed before the manifest was
// looked at; and the journal's end is noted before the archives are listed, so that all segments it leads to are in these,
// whatever another program adds meanwhile.
func (d *Dir) open() error {
	write := !d.opts.ReadOnly
	if !write || d.opts.NoHead {
		if err := d.mustExist(); err != nil {
			return err
		}
	}
	if write {
		if err := d.take(); err != nil {
			return err
		}
	}
	if err := d.openManifest(); err != nil {
		return err
	}
	var err error
	if d.journal, err = openLog(d.fs, d.file(journalName), write); err != nil {
		return err
	}
	if d.gc, err = openLog(d.fs, d.file(gcLogName), write); err != nil {
		return err
	}
	groups, err := d.openArchives()
	if err != nil {
		return err
	}
	if write {
		if groups, err = d.repair(groups); err != nil {
			return err
		}
	}
	for _, g := range groups {
		for _, r := range g.readers {
			d.closers = append(d.closers, r.Close)
		}
	}
	return d.findHead()
}

// mustExist keeps a directory that is none of a store from becoming one, and from being taken for one without content.
func (d *Dir) mustExist() error {
	files, err := d.fs.ReadDir(d.path)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(files, isOfStore) {
		return fmt.Errorf("%w: %s", ErrNoStore, d.path)
	}
	return nil
}

// isOfStore says whether a file tells that its directory is that of a store.
func isOfStore(name string) bool { return isTar(name) || name == manifestName || name == journalName }

// take makes the directory and locks it.
func (d *Dir) take() error {
	if err := d.fs.MkdirAll(d.path, 0o777); err != nil {
		return err
	}
	if _, err := d.fs.Stat(d.file(lockName)); errors.Is(err, fs.ErrNotExist) {
		if err := d.fs.SyncDir(filepath.Dir(d.path)); err != nil { // the directory may be new
			return err
		}
	}
	f, err := d.fs.OpenFile(d.file(lockName), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	d.lock = f
	timeout := max(d.opts.LockTimeout, 1) // zero would wait for ever
	err = file.Lock(context.Background(), recordLocked{f}, true, timeout)
	if errors.Is(err, file.ErrTimeout) {
		return fmt.Errorf("%w: %s", ErrLocked, d.path)
	}
	return err
}

// recordLocked is a file that is locked by the locks of Java.
type recordLocked struct{ file.File }

func (f recordLocked) TryLock(exclusive bool) error { return f.TryLockRecord(exclusive) }

func (d *Dir) openManifest() error {
	files, err := d.fs.ReadDir(d.path)
	if err != nil {
		return err
	}
	m, err := readManifest(d.fs, d.path)
	if err != nil {
		return err
	}
	switch {
	case m == nil && slices.ContainsFunc(files, isTar):
		return &VersionError{d.path, noManifest}
	case m != nil && m.version == newStore, d.opts.ReadOnly:
		d.version = newStore
		if m != nil {
			d.version = m.version
		}
		return nil
	}
	d.version = newStore
	return m.upgrade(d.fs, d.path, d.opts.Now())
}

func (d *Dir) file(name string) string { return filepath.Join(d.path, name) }
