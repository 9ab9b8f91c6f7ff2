// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/holtdb/holt/content/segment"
)

// journalBackup, and three digits, is the name of a copy of a journal.
const (
	journalBackup     = journalName + ".bak."
	mostJournalBackup = 999
)

// ReplaceJournal writes another journal, as [JournalReplacer] says. Nobody may go through the old one meanwhile. The iterator
// runs with the store locked. If it fails once the old journal is closed the store takes no more changes until it is reopened.
func (d *Dir) ReplaceJournal(oldestFirst iter.Seq[Revision]) (backup string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.usable(); err != nil {
		return "", err
	}
	if err := d.flush(); err != nil { // the journal may name nothing that a crash can take away
		return "", err
	}
	head, backup, err := d.prepareJournal(oldestFirst)
	if err != nil {
		return "", errors.Join(err, d.fs.Remove(d.journal.path+tempSuffix))
	}
	if err := d.swapJournal(); err != nil {
		d.failed = fmt.Errorf("%w: %w", ErrFailed, err)
		return backup, err
	}
	d.head = head
	return backup, nil
}

// prepareJournal leaves the journal as it is. It copies it when the new one is whole: an attempt that fails before leaves no
// copy.
func (d *Dir) prepareJournal(oldestFirst iter.Seq[Revision]) (head segment.RecordID, backup string, err error) {
	err = writeWhole(d.fs, d.journal.path+tempSuffix, func(w io.Writer) error {
		head, err = checkRevisions(d, oldestFirst, func(r Revision) error {
			_, err := w.Write(r.line())
			return err
		})
		return err
	})
	if err == nil {
		backup, err = d.backUpJournal()
	}
	return head, backup, err
}

// swapJournal puts the new journal in the place of the old one.
func (d *Dir) swapJournal() error {
	old, path := d.journal, d.journal.path
	d.journal = &logFile{fs: d.fs, path: path}
	if err := old.close(); err != nil { // ahead of the renaming, which Windows would refuse
		return err
	}
	err := putInPlace(d.fs, d.path, journalName)
	l, lerr := openLog(d.fs, path, true)
	if lerr == nil {
		d.journal = l
	}
	return errors.Join(err, lerr)
}

// backUpJournal copies the journal, if there is anything in it. It is not renamed, as there would be none for a moment.
func (d *Dir) backUpJournal() (name string, err error) {
	if d.journal.end == 0 {
		return "", nil
	}
	for i := range mostJournalBackup + 1 {
		name = fmt.Sprintf("%s%03d", journalBackup, i)
		_, err := d.fs.Stat(d.file(name))
		if errors.Is(err, fs.ErrNotExist) {
			return name, replaceFile(d.fs, d.path, name, func(w io.Writer) error {
				_, err := io.Copy(w, io.NewSectionReader(d.journal.file, 0, d.journal.end))
				return err
			})
		}
		if err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("archive: %s: all %d names of copies are taken", d.file(journalName), mostJournalBackup+1)
}

// checkRevisions goes through what is to be a journal. The last one is the head.
func checkRevisions(f finder, oldestFirst iter.Seq[Revision], do func(Revision) error) (head segment.RecordID, err error) {
	n := nodes{finder: f}
	for r := range oldestFirst {
		if err := n.check(r.ID); err != nil {
			return head, err
		}
		if err := do(r); err != nil {
			return head, err
		}
		head = r.ID
	}
	if head == (segment.RecordID{}) {
		return head, errors.New("archive: a journal without revisions")
	}
	return head, nil
}
