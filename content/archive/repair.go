// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/holtdb/holt/content/segment"
)

// repair leaves one archive with an index of each number. Where there is none it is written, from what the scans found.
// What does not count any more is renamed.
func (d *Dir) repair(groups []*group) ([]*group, error) {
	if err := d.removeLeftovers(); err != nil {
		return groups, err
	}
	var whole []*group
	for _, g := range groups {
		kept, err := d.repairGroup(g)
		if err != nil {
			return groups, errors.Join(fmt.Errorf("recovering %s: %w", d.file(g.files[0].file), err), closeAll(groups))
		}
		if kept {
			whole = append(whole, g)
		}
		d.publish(groups) // segments of the others may need what is in it
	}
	d.publish(whole)
	return whole, nil
}

func closeAll(groups []*group) error {
	var err error
	for _, g := range groups {
		err = errors.Join(err, g.close())
	}
	return err
}

func (d *Dir) removeLeftovers() error {
	names, err := d.fs.ReadDir(d.path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if isLeftover(name) {
			if err := d.fs.Remove(d.file(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// repairGroup says whether anything is left of the group.
func (d *Dir) repairGroup(g *group) (bool, error) {
	if !g.broken {
		_, err := d.retire(g, g.readers[0].Name())
		return true, err
	}
	merged := merge(g.readers)
	if _, ok := g.successor(); !ok && len(merged) > 0 { // no name is left: it stays as it is, and is scanned each time
		return true, nil
	}
	_, err := d.renew(g, merged, describeLeniently)
	return len(merged) > 0, err
}

// successor is the name of an archive that counts instead of those of the group.
func (g *group) successor() (Name, bool) {
	last := g.files[len(g.files)-1]
	return Name{last.Number, last.Letter + 1}, last.Letter < lastLetter
}

// renew puts one archive with these segments in place of those of the group, which are renamed; none if there are no
// segments. The group must have a successor if there are.
func (d *Dir) renew(g *group, segments []survivor, describe describer) (backups []string, err error) {
	if len(segments) == 0 {
		if err := g.close(); err != nil {
			return nil, err
		}
		return d.retire(g, "")
	}
	// The copy gets the next letter. So there is no moment at which the store has neither: until the copy is whole it has
	// a name that means nothing, and from then on it is the one that counts.
	name, _ := g.successor()
	if err := d.rewrite(name, segments, describe); err != nil {
		return nil, err
	}
	if err := g.close(); err != nil {
		return nil, err
	}
	if err := d.fs.Rename(d.file(name.String()+tempSuffix), d.file(name.String())); err != nil {
		return nil, err
	}
	if err := d.fs.SyncDir(d.path); err != nil {
		return nil, err
	}
	d.opts.Logger.Warn("recovered an archive", "archive", name.String(), "segments", len(segments))
	if backups, err = d.retire(g, ""); err != nil {
		return nil, err
	}
	r, err := OpenReader(d.fs, d.file(name.String()))
	if err != nil {
		return nil, err
	}
	r.other = d
	*g = group{files: []found{{name, name.String()}}, readers: []*Reader{r}, stopped: g.stopped}
	return backups, nil
}

// survivor is a segment that a scan found.
type survivor struct {
	reader *Reader
	entry  Entry
}

// merge puts together what scans of archives of one number found, which are given newest first. The bytes of a segment are
// those of the newest archive, its place that in the oldest.
func merge(readers []*Reader) []survivor {
	var list []survivor
	known := map[segment.ID]int{}
	for _, r := range slices.Backward(readers) {
		for e := range r.Entries() {
			if at, ok := known[e.ID]; ok {
				list[at] = survivor{r, e}
				continue
			}
			known[e.ID] = len(list)
			list = append(list, survivor{r, e})
		}
	}
	return list
}

// describer finds what an archive records about a segment.
type describer func(s *segment.Segment) (described, error)

// rewrite writes an archive of segments, under a name that is not yet its own. A segment that cannot be understood may be
// one of a later version: its archive is left alone.
func (d *Dir) rewrite(name Name, segments []survivor, describe describer) error {
	w, err := CreateWriter(d.fs, d.file(name.String()+tempSuffix), d.opts.Now)
	if err != nil {
		return err
	}
	w.name = name.String()
	for _, s := range segments {
		if err := w.copy(s, describe); err != nil {
			return errors.Join(err, w.abandon(), w.Unmap())
		}
	}
	return errors.Join(w.Close(), w.Unmap())
}

func (w *Writer) copy(s survivor, describe describer) error {
	parsed, err := s.reader.parse(s.entry)
	if err != nil {
		return err
	}
	about, err := describe(parsed)
	if err != nil {
		return s.reader.corrupt(s.entry, err)
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	return w.append(appending{waiting: waiting{parsed, &about}})
}

// retire renames archives that do not count, all but one, and returns the names they have then. Empty files are removed.
func (d *Dir) retire(g *group, but string) (backups []string, err error) {
	changed := false
	for _, f := range g.files {
		if f.file == but {
			continue
		}
		changed = true
		backup, err := d.putAside(f.file, g.stopped || unfinishedCopy(f, but))
		if err != nil {
			return backups, err
		}
		if backup != "" {
			backups = append(backups, backup)
		}
	}
	if !changed {
		return nil, nil
	}
	return backups, d.fs.SyncDir(d.path)
}

// unfinishedCopy says whether a file has a higher letter than the one that counts, of which it would have become a copy.
func unfinishedCopy(f found, counts string) bool {
	n, ok := ParseName(counts)
	return ok && f.Letter > n.Letter
}

// putAside returns the new name, or none if the file was empty. The name tells if the writer may have been stopped:
// later, when there are newer archives, nobody could know.
func (d *Dir) putAside(name string, stopped bool) (backup string, err error) {
	info, err := d.fs.Stat(d.file(name))
	if err != nil {
		return "", err
	}
	if info.Size() == 0 {
		return "", d.fs.Remove(d.file(name))
	}
	kept := name
	if stopped {
		kept += stoppedSuffix
	}
	backup = kept + backupSuffix
	for i := 2; ; i++ {
		_, err := d.fs.Stat(d.file(backup))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", err
		}
		backup = fmt.Sprintf("%s.%d%s", kept, i, backupSuffix)
	}
	return backup, d.fs.Rename(d.file(name), d.file(backup))
}
