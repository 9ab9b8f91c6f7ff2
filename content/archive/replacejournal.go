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

// ReplaceJournal writes another journal, as [JournalReplacer] says. Nobody may go through the old one meanwhile. If it fails
// the store takes no more changes until it is reopened.
func (d *Dir) ReplaceJournal(oldestFirst iter.Seq[Revision]) (backup string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.usable(); err != nil {
		return "", err
	}
	if err := d.flush(); err != nil { // the journal may name nothing that a crash can take away
		return "", err
	}
	head, backup, err := d.replaceJournal(oldestFirst)
	if err != nil {
		d.failed = fmt.Errorf("%w: %w", ErrFailed, err)
		return backup, err
	}
	d.head = head
	return backup, nil
}

// replaceJournal copies the old journal when the new one is whole: an attempt that fails before leaves no copy.
func (d *Dir) replaceJournal(oldestFirst iter.Seq[Revision]) (head segment.RecordID, backup string, err error) {
	path := d.journal.path
	err = writeWhole(d.fs, path+tempSuffix, func(w io.Writer) error {
		head, err = d.writeRevisions(w, oldestFirst)
		return err
	})
	if err != nil {
		return head, "", errors.Join(err, d.fs.Remove(path+tempSuffix))
	}
	if backup, err = d.backUpJournal(); err != nil {
		return head, "", err
	}
	old := d.journal
	d.journal = &logFile{fs: d.fs, path: path}
	if err := old.close(); err != nil { // ahead of the renaming, which Windows would refuse
		return head, backup, err
	}
	err = putInPlace(d.fs, d.path, journalName)
	l, lerr := openLog(d.fs, path, true)
	if lerr == nil {
		d.journal = l
	}
	return head, backup, errors.Join(err, lerr)
}

func (d *Dir) writeRevisions(w io.Writer, oldestFirst iter.Seq[Revision]) (head segment.RecordID, err error) {
	n := nodes{finder: d}
	for r := range oldestFirst {
		if err := n.check(r.ID); err != nil {
			return head, err
		}
		if _, err := w.Write(r.line()); err != nil {
			return head, err
		}
		head = r.ID
	}
	if head == (segment.RecordID{}) {
		return head, errors.New("archive: a journal without revisions")
	}
	return head, nil
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
