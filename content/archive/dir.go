// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/file"
)

// Dir is a store in a directory.
type Dir struct {
	path    string
	opts    Options
	fs      file.FS
	lock    file.File
	version int

	sources atomic.Pointer[[]Archive] // newest first; the slice never changes

	mu      sync.Mutex
	journal *logFile         // guarded by mu
	gc      *logFile         // guarded by mu
	head    segment.RecordID // guarded by mu
	current *Writer          // the first of sources, or nil; guarded by mu
	next    int64            // number of the next archive; guarded by mu
	due     bool             // current is to be closed as soon as it can be; guarded by mu
	closers []func() error   // of what sources lie in; guarded by mu
	dirty   bool             // there is something that is not durable; guarded by mu
	pending Revision         // the head, if it is not in the journal yet; guarded by mu
	failed  error            // guarded by mu
	closed  bool             // guarded by mu

	background sync.WaitGroup
	stop       chan struct{} // closed to end what is in the background
}

// Path is the directory.
func (d *Dir) Path() string { return d.path }

// Version is that of the store.
func (d *Dir) Version() int { return d.version }

// Segment is a view of the bytes of a segment, if it is there. It takes no memory and waits for nobody.
func (d *Dir) Segment(id segment.ID) ([]byte, bool) {
	list := d.sources.Load()
	if list == nil {
		return nil, false
	}
	for _, s := range *list {
		if b, ok := s.Segment(id); ok {
			return b, true
		}
	}
	return nil, false
}

// Archives are those there are, newest first.
func (d *Dir) Archives() []Archive {
	list := d.sources.Load()
	if list == nil {
		return nil
	}
	return slices.Clone(*list)
}

// Head is the newest revision whose segment is there.
func (d *Dir) Head() (segment.RecordID, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.head, d.head != segment.RecordID{}
}

// Journal goes through the revisions there were when it was called, newest first.
func (d *Dir) Journal() iter.Seq2[Revision, error] {
	l, err := d.snapshot(&d.journal)
	if err != nil {
		return func(yield func(Revision, error) bool) { yield(Revision{}, err) }
	}
	return revisions(l)
}

// Collections goes through the garbage collections there were when it was called, newest first.
func (d *Dir) Collections() iter.Seq2[Collection, error] {
	l, err := d.snapshot(&d.gc)
	if err != nil {
		return func(yield func(Collection, error) bool) { yield(Collection{}, err) }
	}
	return collections(l)
}

// snapshot is a log as it is now, to be read.
func (d *Dir) snapshot(l **logFile) (*logFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, ErrClosed
	}
	now := **l
	return &now, nil
}

// usable must be asked ahead of every change, with d.mu held.
func (d *Dir) usable() error {
	switch {
	case d.closed:
		return ErrClosed
	case d.opts.ReadOnly:
		return ErrReadOnly
	}
	return d.failed
}

// Append adds a segment. If it does not fit into the archive, and others there have ids of binaries that are yet to come,
// it is refused with [ErrFull], as the archive would be closed without these: a smaller one that has them may fit.
func (d *Dir) Append(s *segment.Segment) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.usable(); err != nil {
		return err
	}
	err := d.append(s)
	if errors.Is(err, ErrFull) && d.current.Size() > 0 {
		if n := d.current.waits(); n > 0 {
			return fmt.Errorf("%w: %d segments in it wait for ids of binaries", err, n)
		}
		if err = d.roll(); err == nil {
			err = d.append(s)
		}
	}
	if err == nil && (d.due || d.current.Size() >= d.opts.Limit) {
		err = d.rollIfComplete()
	}
	return err
}

func (d *Dir) append(s *segment.Segment) error {
	if d.current == nil {
		if err := d.begin(); err != nil {
			return err
		}
	}
	d.dirty = true
	return d.current.Append(s)
}

// begin begins an archive.
func (d *Dir) begin() error {
	if d.next > math.MaxInt32 {
		return fmt.Errorf("archive: %s: the newest archive has the last number there is", d.path)
	}
	w, err := CreateWriter(d.fs, d.file(Name{int32(d.next), firstLetter}.String()), d.opts.Now)
	if err != nil {
		return err
	}
	d.next++
	w.other = d
	d.current = w
	d.replace(nil, w)
	d.closers = append(d.closers, w.Unmap)
	return nil
}

// replace puts an archive in place of another, or ahead of all.
func (d *Dir) replace(old, by Archive) {
	now := *d.sources.Load()
	if old != nil {
		now = now[1:]
	}
	list := append([]Archive{by}, now...)
	d.sources.Store(&list)
}

// Roll closes the archive that is being written to.
func (d *Dir) Roll() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.usable(); err != nil {
		return err
	}
	return d.rollIfComplete()
}

// rollIfComplete closes the archive unless it has segments with ids of binaries that are yet to come. It is then closed
// when they are there.
func (d *Dir) rollIfComplete() error {
	d.due = d.current != nil && d.current.waits() > 0
	if d.due {
		return nil
	}
	return d.roll()
}

// roll closes the archive and opens it again as one to be read. Views of what was read so far stay valid. If that fails
// nothing can be written any more, as upstream has it: everything can be read on.
func (d *Dir) roll() error {
	w := d.current
	if w == nil || w.Size() == 0 {
		return nil
	}
	w.mapAll()
	d.due = false
	err := d.finish(w)
	if err == nil {
		var r *Reader
		if r, err = OpenReader(d.fs, w.path); err == nil {
			r.other = d
			d.closers = append(d.closers, r.Close)
			d.replace(w, r)
			d.current = nil
			return nil
		}
	}
	d.failed = fmt.Errorf("%w: closing %s: %w", ErrFailed, w.path, err)
	return d.failed
}

// finish closes the archive. Ids that are yet to come will never be in it: only when the store is closed, so that
// the segments with them are as good as lost.
func (d *Dir) finish(w *Writer) error {
	if n := w.waits(); n > 0 {
		d.opts.Logger.Warn("ids of binaries are missing in an archive", "archive", w.name, "segments", n)
	}
	return w.Close()
}

// AddCollection notes a garbage collection.
func (d *Dir) AddCollection(c Collection) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.usable(); err != nil {
		return err
	}
	if err := d.flush(); err != nil { // it may name nothing that a crash can take away
		return err
	}
	return d.gc.add(c.line())
}

// Close makes everything durable, closes the archive that is being written to, and gives the directory back. It returns
// an error if something is not durable, though another call may have said so before.
func (d *Dir) Close() error {
	d.mu.Lock()
	closed := d.closed
	d.closed = true
	d.mu.Unlock()
	if closed {
		return ErrClosed
	}
	close(d.stop)
	d.background.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.closeCurrent()
	switch {
	case d.failed != nil && d.dirty:
		err = errors.Join(d.failed, err)
	case d.failed == nil && err == nil:
		err = d.log() // all segments are durable now
	}
	return errors.Join(err, d.release())
}

func (d *Dir) closeCurrent() error {
	w := d.current
	switch {
	case w == nil:
		return nil
	case d.failed != nil:
		return w.abandon()
	case w.Size() == 0: // its first segment could not be written
		return errors.Join(w.abandon(), d.fs.Remove(w.path))
	}
	return d.finish(w)
}

// release gives back everything; the lock last.
func (d *Dir) release() error {
	d.sources.Store(nil)
	var err error
	for _, c := range d.closers {
		err = errors.Join(err, c())
	}
	d.closers = nil
	for _, l := range []*logFile{d.journal, d.gc} {
		if l != nil {
			err = errors.Join(err, l.close())
		}
	}
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}
