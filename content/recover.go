// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
)

// RecoverOptions adjust [RecoverJournal]. The zero value is good.
type RecoverOptions struct {
	// DryRun finds out what would be done, and neither changes nor locks anything.
	DryRun bool
	// Head leaves out all revisions newer than it, if it is not the zero id. So an [AmbiguousError] is answered.
	Head segment.RecordID
	// LockTimeout is how long to wait for another program that has the store open for writing; zero is not at all.
	LockTimeout time.Duration
	// Dropped is told which revisions are left out, and why. It may be nil, as the next two.
	Dropped func(r archive.Revision, reason error)
	// Unreadable is told about segments that cannot be searched.
	Unreadable func(err error)
	// Progress is told how many nodes more were looked at.
	Progress func(nodes int64)
	// Logger is told about archives that had to be scanned.
	Logger *slog.Logger
}

// JournalRecovery is what was recovered.
type JournalRecovery struct {
	Head      archive.Revision // the last line of the journal
	Revisions int              // lines of the journal
	Dropped   int              // revisions that were left out
	Nodes     int64            // that were read to see that the head is whole
	Backup    string           // the file that was the journal; empty if there was none
}

// ErrNoRevision is returned when there is no revision that is whole.
var ErrNoRevision = errors.New("content: no revision is whole")

// AmbiguousError is returned when the newest whole revision may be a part of another one that was never finished: it has no
// checkpoints, and a content that has nothing in common with those before it. Only people can tell.
type AmbiguousError struct {
	Newest archive.Revision
	Older  archive.Revision // the newest one of the others
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("content: the newest revision, %s, has nothing in common with those before it: "+
		"it may be a part of one that was never finished. Which is the head, it or %s?", e.Newest.ID, e.Older.ID)
}

// RecoverJournal writes the journal of a store anew, from the super-roots that are in its archives: it need not be there,
// or may have anything in it. The newest revisions are left out until there is one that is whole, with its checkpoints and
// binaries in the store. Older ones are not looked at. What the old journal names as newer, and is no super-root as far as can
// be read, is reported as left out too.
//
// The store must not be open. Archives without an index are recovered as by [archive.Open].
func RecoverJournal(ctx context.Context, dir string, opts RecoverOptions) (r JournalRecovery, err error) {
	files, err := archive.Open(dir, &archive.Options{
		ReadOnly: opts.DryRun, NoHead: true, LockTimeout: opts.LockTimeout, Logger: opts.Logger,
	})
	if err != nil {
		return r, err
	}
	s := New(files, Options{Progress: opts.Progress})
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.RecoverJournal(ctx, opts)
}

// RecoverJournal is the function of that name for a store that is open, for writing unless it is a dry run, and whose files
// are an [archive.JournalReplacer].
func (s *Store) RecoverJournal(ctx context.Context, opts RecoverOptions) (r JournalRecovery, err error) {
	if opts.Dropped == nil {
		opts.Dropped = func(archive.Revision, error) {}
	}
	if opts.Unreadable == nil {
		opts.Unreadable = func(error) {}
	}
	list, err := s.findRoots(ctx, opts.Unreadable)
	if err != nil {
		return r, err
	}
	rec := &recovery{store: s, opts: opts, roots: list, dropped: map[segment.RecordID]bool{}}
	if err := rec.chooseHead(ctx); err != nil {
		return rec.report, err
	}
	if opts.DryRun {
		return rec.report, nil
	}
	files, ok := s.files.(archive.JournalReplacer)
	if !ok {
		return rec.report, errors.ErrUnsupported
	}
	rec.report.Backup, err = files.ReplaceJournal(rec.roots.all())
	return rec.report, err
}

// recovery is one call of RecoverJournal.
type recovery struct {
	store   *Store
	opts    RecoverOptions
	roots   *roots
	dropped map[segment.RecordID]bool // and told
	report  JournalRecovery
}

var errNewer = errors.New("newer than the head that was asked for")

// chooseHead drops revisions until the last one is the head.
func (rec *recovery) chooseHead(ctx context.Context) error {
	if head := rec.opts.Head; head != (segment.RecordID{}) {
		if !rec.roots.has(head) {
			return fmt.Errorf("content: revision %s: no super-root", head)
		}
		for rec.last().ID != head {
			rec.drop(errNewer)
		}
	}
	v := newVerifier(ctx, rec.store, true)
	err := rec.dropDamaged(&v)
	rec.report.Nodes = v.read.nodes
	if err == nil {
		err = rec.dropUnfound(&v)
	}
	rec.store.opts.Progress(v.nodes % reportEvery)
	if err != nil {
		return err
	}
	if rec.roots.empty() {
		return ErrNoRevision
	}
	rec.report.Head, rec.report.Revisions = rec.last(), rec.roots.len()
	return rec.doubt()
}

// dropDamaged drops revisions until the last one is whole, or none is left.
func (rec *recovery) dropDamaged(v *verifier) error {
	for !rec.roots.empty() {
		reason, err := v.superRoot(rec.last().ID)
		if reason == nil || err != nil {
			return err
		}
		rec.drop(reason)
	}
	return nil
}

var errNoSuperRoot = errors.New("by its properties, its children or its place no super-root")

// dropUnfound tells what the old journal names behind all that is left, and was not found: one whose template cannot be
// read is not told from any other node by then. Of a journal that cannot be read up to there the rest says nothing.
func (rec *recovery) dropUnfound(v *verifier) error {
	for r, err := range rec.store.Journal() {
		if err != nil {
			return nil //nolint:nilerr // the journal need not be good for anything
		}
		if _, ok := rec.store.files.Segment(r.ID.Segment); !ok || rec.dropped[r.ID] {
			continue
		}
		if rec.roots.has(r.ID) {
			return nil
		}
		reason, err := v.superRoot(r.ID)
		if err != nil {
			return err
		}
		if reason == nil {
			reason = errNoSuperRoot
		}
		rec.leaveOut(r, reason)
	}
	return nil
}

func (rec *recovery) last() archive.Revision {
	r, _ := rec.roots.last()
	return r
}

func (rec *recovery) drop(reason error) {
	rec.leaveOut(rec.last(), reason)
	rec.roots.dropLast()
}

func (rec *recovery) leaveOut(r archive.Revision, reason error) {
	rec.dropped[r.ID] = true
	rec.report.Dropped++
	rec.opts.Dropped(r, reason)
}

// superRoot says why a super-root is not whole. Nodes that were found to be whole are not read again.
func (v *verifier) superRoot(id segment.RecordID) (reason, err error) {
	n, err := v.store.Root(id)
	if err != nil {
		return err, nil //nolint:nilerr // that is the reason
	}
	v.found = func(finding error) error { // one is enough
		reason = finding
		return errNotWhole
	}
	v.revision, v.at = id, Visit{nil, 0, n, v.store}
	levels, err := v.node(n)
	switch {
	case errors.Is(err, errNotWhole):
		return reason, nil
	case err == nil && levels == notWhole:
		reason = errNotWhole
	}
	return reason, err
}

var errNotWhole = errors.New("something in it is not whole that was found in a newer one too")

// doubt tells a head without checkpoints from the node of a commit that was broken off, as far as that can be done. Such a
// node is a super-root by all rules, since its parent was not written yet; but what is in it has nothing to do with the
// contents there were: no name of a child or property of root is in one that can be traced back to the oldest.
func (rec *recovery) doubt() error {
	head, checkpoints := rec.roots.last()
	if checkpoints || rec.opts.Head == head.ID {
		return nil
	}
	known := map[string]bool{}
	akin := archive.Revision{}
	for r := range rec.roots.all() {
		names := rec.store.contentNames(r.ID)
		if len(known) > 0 && !slices.ContainsFunc(names, func(name string) bool { return known[name] }) {
			continue
		}
		akin = r
		for _, name := range names {
			if len(known) < mostNames {
				known[name] = true
			}
		}
	}
	if akin.ID != head.ID {
		return &AmbiguousError{head, akin}
	}
	return nil
}

const (
	mostNames = 1 << 14 // that are remembered
	someNames = 64      // of one content
	nameStart = 64      // bytes of one
)

// contentNames is some names of children and properties of the content of a revision.
func (s *Store) contentNames(revision segment.RecordID) []string {
	n, err := s.Find(revision, "root")
	if err != nil {
		return nil
	}
	var names []string
	add := func(kind string, name []byte) { names = append(names, kind+string(name[:min(len(name), nameStart)])) }
	c := n.Children()
	for len(names) < someNames && c.Next() {
		add("/", c.Name)
	}
	p := n.Properties()
	for len(names) < 2*someNames && p.Next() {
		add("@", p.Name)
	}
	return names
}
