// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/holtdb/holt/content/segment"
)

// Lost is what recovery could not bring back: parts of archives that it has put aside, under names that end in .bak, or was about to. Nobody
// knows what they referred to, so binaries kept outside may be in use though no archive says so. It is empty if there are
// no such files. Segments that an archive has are not lost, nor what a stopped writer had begun to write, if the name of the
// file says that it was one; those that a cleanup would have taken since are, as long as the file is there.
func (d *Dir) Lost() ([]Part, error) {
	if d.sources.Load() == nil {
		return nil, ErrClosed
	}
	files, err := d.fs.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	var lost []Part
	newest := newestNumber(files)
	for _, name := range files {
		stopped := isStopped(name)
		if !isBackup(name) {
			n, ok := d.superseded(name)
			if !ok {
				continue
			}
			stopped = int64(n.Number) == newest
		}
		parts, err := d.lostIn(name, stopped)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a cleanup removes what it has replaced
		}
		if err != nil {
			return nil, err
		}
		lost = append(lost, parts...)
	}
	return lost, nil
}

// superseded says whether an archive does not count as there is one of a higher letter: a recovery that was broken off is
// yet to put it aside.
func (d *Dir) superseded(name string) (Name, bool) {
	n, ok := ParseName(name)
	return n, ok && slices.ContainsFunc(d.Archives(), func(a Archive) bool {
		by, _ := ParseName(a.Name())
		return by.Number == n.Number && by.Letter > n.Letter
	}) && !slices.ContainsFunc(d.Archives(), func(a Archive) bool { return a.Name() == name })
}

// isBackup says whether a file was an archive. There is something between its name and the end if that was taken.
func isBackup(name string) bool {
	base, ok := strings.CutSuffix(name, backupSuffix)
	i := strings.Index(base, archiveSuffix)
	if !ok || i < 0 {
		return false
	}
	_, ok = ParseName(base[:i+len(archiveSuffix)])
	return ok
}

// isStopped says whether the name of a backup tells that its writer was stopped, so that its end is no loss; nor is that of
// a copy that a reader of Oak's makes. Of others nobody knows whether there were newer archives when they were put aside.
func isStopped(name string) bool {
	return strings.Contains(name, archiveSuffix+stoppedSuffix+".") || strings.HasSuffix(name, readerSuffix)
}

func (d *Dir) lostIn(name string, stopped bool) (lost []Part, err error) {
	r, err := mapArchive(d.fs, d.file(name))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.readIndex() != nil {
		r.scan()
	}
	add := func(p Part) {
		if _, ok := d.Segment(p.Segment); !ok || p.Segment == (segment.ID{}) {
			p.File = name
			lost = append(lost, p)
		}
	}
	for e := range r.Entries() {
		s := survivor{r, e}
		if err := s.whole(); err != nil {
			add(s.part(err.Error()))
		}
	}
	parts, _ := r.losses(stopped)
	for _, p := range parts {
		add(p)
	}
	return lost, nil
}
