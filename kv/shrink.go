// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// ShrinkOptions adjust [DB.Shrink]. The zero value of every field is its default.
type ShrinkOptions struct {
	// StepBytes is about how many bytes one transaction rewrites, 1 MiB by default. Other writers wait for a step at
	// most, and what a step has rewritten stays when Shrink ends early. In each, some page is not filled: of small
	// steps there are many.
	StepBytes int

	// BytesPerSecond bounds what is written, by pauses between the transactions. No bound when zero; in
	// [Options].AutoShrink zero is [DefaultShrinkRate].
	BytesPerSecond int64

	// ReaderWait is how long to wait for read transactions that keep the pages Shrink has emptied from being reused:
	// those that began before. One second by default; below zero Shrink waits until they or its context end.
	ReaderWait time.Duration

	// PunchHoles gives what stays free in the middle of the file back to the file system at the end, as
	// [DB.PunchHoles] does, where that is possible.
	PunchHoles bool

	// Progress, if not nil, is called after every transaction, by the goroutine that called Shrink. In
	// [Options].AutoShrink it must not close the database.
	Progress func(ShrinkReport)
}

// ShrinkReport says what [DB.Shrink] has done so far.
type ShrinkReport struct {
	Before  int64 // length of the file at the beginning, in bytes
	After   int64 // length of the file now
	Used    int64 // bytes of pages that are in use now, the meta pages among them
	Looked  int64 // bytes of pages that were looked at; the first walk, which does most, looks at all in use
	Steps   int   // transactions that were committed
	Written int64 // bytes of pages that these wrote
	Held    int64 // bytes of pages that open read transactions keep
	Punched int64 // bytes in the middle of the file that were given back
}

const (
	// DefaultShrinkRate is the number of bytes per second that a database writes at most to become smaller by itself.
	DefaultShrinkRate = 4 << 20

	defaultShrinkStep = 1 << 20
	defaultReaderWait = time.Second

	// maxShrinkRounds bounds the walks over the database. The first one does nearly everything; the next ones move what
	// it had to put near the end.
	maxShrinkRounds = 12

	// leastRound is the part of the file that a round has to gain for another one to follow; but the first, which may
	// make the file longer to put leaves together.
	leastRound = 64

	// leastSlide is the part of the file that has to be free to make it worth moving all pages.
	leastSlide = 16
)

// errNoRoom is returned by the commit of a step that would make the file longer than it may become.
var errNoRoom = errors.New("no room to move pages")

// Shrink makes the file of a database that had much deleted from it smaller, by ordinary transactions of bounded size
// while readers and writers go on: it puts sparse leaves together, moves pages from the end of the file into free ones,
// and cuts the file behind the last page in use. It needs no space but that of one step. After a crash at any moment the
// database holds what was committed.
//
// Pages that an open read transaction can see are neither reused nor cut off: long ones make Shrink wait for them
// (ShrinkOptions.ReaderWait) and then end with what it has reached, which is no error; ShrinkReport.Held tells. When ctx
// ends, or the database is closed, its error is returned, and every step so far stays. A second Shrink goes on from
// there. On Windows, which cuts no file that is mapped, Close does that.
//
// Errors: [ErrDatabaseReadOnly], [ErrDatabaseNotOpen], a [*CorruptError], what the system says, [ErrMaxSizeReached] if
// MaxSize leaves no room for the list of free pages that each commit is to store, [errors.ErrUnsupported] of holes. The
// report is valid in any case.
func (db *DB) Shrink(ctx context.Context, o ShrinkOptions) (ShrinkReport, error) {
	s := &shrinker{db: db, o: o}
	if db.readOnly {
		return s.report, ErrDatabaseReadOnly
	}
	err := s.run(ctx)
	s.measure()
	return s.report, err
}

// shrinker is one run of Shrink.
type shrinker struct {
	db      *DB
	o       ShrinkOptions
	step    int    // pages that a transaction rewrites, about
	bound   int    // the same, or less where there is no room for so many
	target  uint64 // pages from here on are to be moved
	slide   bool   // all pages are, as those near the end are too long for what is free between the others
	ceiling uint64 // high water mark up to which merging may make the file longer
	waited  time.Duration
	report  ShrinkReport
}

func (s *shrinker) run(ctx context.Context) (err error) {
	size, err := s.db.length()
	if err != nil {
		return err
	}
	s.report.Before, s.report.After = size, size
	if err := s.db.loadFreelist(ctx); err != nil {
		return err
	}
	s.step = max(cmp.Or(s.o.StepBytes, defaultShrinkStep)/s.db.pageSize, 4)
	s.bound = s.step
	s.o.ReaderWait = cmp.Or(s.o.ReaderWait, defaultReaderWait)
	s.ceiling = s.db.space().hwm + uint64(2*s.step)
	if err := s.rounds(ctx); err != nil {
		return err
	}
	if err := s.lower(ctx); err != nil {
		return err
	}
	if s.o.PunchHoles {
		s.report.Punched, err = s.db.PunchHoles(ctx)
	}
	s.tell()
	return err
}

// rounds walks over the database until there is nothing more to gain.
func (s *shrinker) rounds(ctx context.Context) error {
	for round := range maxShrinkRounds {
		before := s.db.space()
		if s.target = before.compact(); s.slide {
			s.target = 0
		}
		if err := s.walk(ctx); err != nil {
			return err
		}
		if err := s.trim(ctx); err != nil {
			return err
		}
		after := s.db.space()
		if after.hwm <= after.compact() {
			return nil
		}
		gain := int64(before.hwm) - int64(after.hwm) + int64(before.used()) - int64(after.used())
		switch {
		case s.slide:
			s.slide = false // and see what fits now
		case round == 0, gain >= max(int64(before.hwm)/leastRound, 1):
		case s.waitForReaders(ctx):
		case ctx.Err() != nil, after.hwm-after.compact() < after.hwm/leastSlide+s.kept():
			return ctx.Err()
		default:
			s.slide = true
		}
	}
	return nil
}

// walk goes through the whole database once.
func (s *shrinker) walk(ctx context.Context) error {
	for at := (position{}); !at.done; {
		found, err := s.look(ctx, at)
		if err != nil {
			return err
		}
		if len(found.jobs) == 0 {
			at = found.next
			s.passed(found)
			continue
		}
		switch next, err := s.rewrite(ctx, at); {
		case err == nil:
			at, s.waited = next, 0
			s.passed(found)
			s.bound = min(2*s.bound, s.step)
		case !errors.Is(err, errNoRoom) && !errors.Is(err, ErrMaxSizeReached):
			return err
		case s.bound > 1:
			s.bound /= 2
		case s.wait(ctx):
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			at, s.bound = found.next, s.step // nothing to be done about this one
		}
	}
	return nil
}

// passed notes that the walk is beyond what a survey has looked at.
func (s *shrinker) passed(found *survey) {
	s.report.Looked += int64(looksPerPage*s.bound-found.looks) * int64(s.db.pageSize)
	s.tell()
}

// look finds out, without keeping writers out, what there is to do from a place on.
func (s *shrinker) look(ctx context.Context, at position) (found *survey, err error) {
	err = s.db.ViewContext(ctx, func(tx *Tx) error {
		found = s.survey(tx, at)
		return nil
	})
	return found, err
}

// rewrite is one step: it does what there is to do from a place on, and says where to go on.
func (s *shrinker) rewrite(ctx context.Context, at position) (next position, err error) {
	tx, err := s.db.beginWrite(ctx)
	if err != nil {
		return at, err
	}
	err = func() (err error) {
		defer tx.discard()
		defer tx.catch(&err)
		found := s.survey(tx, at)
		next = found.next
		if len(found.jobs) == 0 {
			return nil
		}
		w := tx.w
		w.shrink = shrinkStep{low: true, trims: true, ceiling: w.hwm}
		if found.merges && s.kept() == 0 { // or it would stay longer until readers end
			w.shrink.ceiling = max(s.ceiling, w.hwm)
		}
		tx.rewrite(found.jobs)
		return s.commit(tx)
	}()
	if err != nil {
		return at, err
	}
	if err := s.cutMuch(ctx); err != nil {
		return at, err
	}
	return next, s.pause(ctx, tx)
}

// commit commits a step.
func (s *shrinker) commit(tx *Tx) error {
	if err := tx.commit(); err != nil {
		return err
	}
	s.report.Steps++
	s.report.Written += tx.Stats().PageAlloc
	return nil
}

// pause keeps to the number of bytes that may be written per second.
func (s *shrinker) pause(ctx context.Context, tx *Tx) error {
	rate := s.o.BytesPerSecond
	if rate <= 0 {
		return ctx.Err()
	}
	return sleep(ctx, time.Duration(float64(tx.Stats().PageAlloc)/float64(rate)*float64(time.Second)), s.db.quit)
}

// readerPoll is how often to look whether readers have ended.
const readerPoll = 10 * time.Millisecond

// wait waits for a while if readers keep pages. It returns false if they do not, or if that has lasted long enough.
func (s *shrinker) wait(ctx context.Context) bool {
	if kept, released := s.db.kept(); kept+released == 0 && s.db.oldest() >= s.db.lowered.Load() {
		return false
	}
	if s.o.ReaderWait >= 0 && s.waited >= s.o.ReaderWait {
		return false
	}
	s.waited += readerPoll
	return sleep(ctx, readerPoll, nil) == nil // Close is noticed by what comes next
}

// waitForReaders waits until half of the pages that readers keep can be reused, which is worth another walk, or as long
// as it may. It returns false if none can, or when the database is being closed, which what comes next notices.
func (s *shrinker) waitForReaders(ctx context.Context) bool {
	for {
		select {
		case <-s.db.quit:
			return false
		default:
		}
		kept, released := s.db.kept()
		if released > 0 && released >= kept {
			return true
		}
		if !s.wait(ctx) {
			return released > 0 && ctx.Err() == nil
		}
	}
}

// kept is the number of pages that open readers keep.
func (s *shrinker) kept() uint64 {
	kept, _ := s.db.kept()
	return uint64(kept)
}

// sleep returns the error of ctx if that ends before, and [ErrDatabaseNotOpen] if quit does.
func sleep(ctx context.Context, d time.Duration, quit <-chan struct{}) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-quit:
		return ErrDatabaseNotOpen
	case <-ctx.Done():
		return ctx.Err()
	}
}

// measure brings the report up to date, unless the database is closed or nobody knows what is free.
func (s *shrinker) measure() {
	now := s.db.space()
	if now.hwm == 0 || !s.db.freelist.isLoaded() {
		return
	}
	if size, err := s.db.length(); err == nil {
		s.report.After = size
	}
	s.report.Used = int64(now.used()+2) * int64(s.db.pageSize)
	s.report.Held = int64(s.kept()) * int64(s.db.pageSize)
}

// tell shows the report.
func (s *shrinker) tell() {
	s.measure()
	if s.o.Progress != nil {
		s.o.Progress(s.report)
	}
}

// space is how many pages there are.
type space struct {
	hwm  uint64
	free uint64 // of which nothing uses, or only readers of older snapshots
}

func (s space) used() uint64 { return s.hwm - min(s.free+2, s.hwm) }

// compact is a high water mark with which the file is small enough: some pages stay free, as moving the last ones would
// mean to rewrite each of them many times over.
func (s space) compact() uint64 { return 2 + s.used() + s.used()/64 }

// space is that after the last write transaction.
func (db *DB) space() (s space) {
	now := db.snap.Load()
	if now == nil {
		return s
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	return space{hwm: now.meta.HWM, free: uint64(db.counts.free + db.counts.pending)}
}

// length is that of the file, in bytes.
func (db *DB) length() (int64, error) {
	if db.snap.Load() == nil {
		return 0, ErrDatabaseNotOpen
	}
	size, err := db.file.Size()
	if err != nil && db.snap.Load() == nil { // closed meanwhile
		return 0, ErrDatabaseNotOpen
	}
	return size, err
}

// kept are the numbers of pages that only readers of older snapshots can see: those that open ones keep, and those
// whose readers have ended, which the next write transaction makes free.
func (db *DB) kept() (kept, released int) {
	now := db.snap.Load()
	if now == nil {
		return 0, 0
	}
	return db.freelist.keptBy(db.seen(now, nil))
}

// keptBy counts the pages that one of the readers can see, and those that none can any more.
func (f *freelist) keptBy(readers []uint64) (kept, released int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for first, runs := range f.pinned {
		_, open := slices.BinarySearch(readers, first)
		for _, r := range runs {
			seen := open
			if !open {
				_, seen = r.seenBy(readers)
			}
			if seen {
				kept += int(r.n)
			} else {
				released += int(r.n)
			}
		}
	}
	return kept, released
}
